//===-- TestModel.h - a small model with real kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_TESTMODEL_H
#define OPENATC_TEST_RUNTIME_TESTMODEL_H

#include "backends/om/OmWriter.h"
#include "test/runtime-lite/KernelImage.h"

#include <string>
#include <vector>

/// x[64,48] -> y = x * scale + bias -> "sums"[64]; and the first 60 elements of
/// y, as [1,5,3,4], through a padded blocked tensor to "picked/relu".
struct TestModel {
  explicit TestModel(const KernelImage &image);

  static constexpr int rows = 64, columns = 48, picked = 60;
  /// Tensor indices.
  enum { X, Sums, Picked, Y, Packed, Scale };

  /// The answers for an input.
  void expect(const float *x, std::vector<float> &sums, std::vector<float> &picks) const;

  std::vector<float> scale, bias;
  atc::om::OmModel model;
};

/// counts[tasks] u32 in the output is what `count_tasks` makes of it, in
/// `launches` launches that each have `tasks` tasks.
atc::om::OmModel countingModel(const KernelImage &image, uint64_t tasks, unsigned launches,
                               uint64_t cost);

/// A path in the test's own folder, removed by whoever runs the tests next.
std::string scratchPath(const std::string &name);

/// Writes the model and returns the file's path; fails the test if it cannot.
std::string writeModel(const atc::om::OmModel &model, const std::string &name);

/// 64-byte aligned bytes.
struct AlignedBytes {
  explicit AlignedBytes(const std::vector<char> &from) : AlignedBytes(from.data(), from.size()) {}
  AlignedBytes(const char *from, size_t size);
  ~AlignedBytes();
  AlignedBytes(const AlignedBytes &) = delete;
  AlignedBytes &operator=(const AlignedBytes &) = delete;
  char *data;
  size_t size;
};

#endif
