//===-- Reference.h - the reference values of a model's tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_REFERENCE_H
#define OPENATC_TOOLS_OMRUN_REFERENCE_H

#include "openatc/om.hpp"
#include "support/Interruption.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atc::tools {

/// A folder of .npy files, one per tensor. It is removed at the end if it was created here.
class Reference {
public:
  Reference() = default;
  Reference(const Reference &) = delete;
  Reference &operator=(const Reference &) = delete;
  ~Reference();

  /// Uses an existing folder, or runs a model file on the same inputs in the reference interpreter,
  /// which knows files and zeros, but no values of --random (`isRandom`).
  /// On failure returns false and sets `error` to one line with an error code, or leaves it empty
  /// where the interpreter has printed the error.
  bool open(const std::string &path, const std::string &input, bool isRandom,
            const std::vector<om::Tensor> &inputs, std::string &error);

  /// Reads the values of a tensor of an .om file. Where the reference has f32 for a tensor of f16
  /// or bf16, `tensor` becomes one of f32. Returns an empty buffer when there are none of its name,
  /// type and dims (ignoring dims of 1); then `error` is set if there is a file that cannot be
  /// read.
  om::Buffer read(om::Tensor &tensor, std::string &error) const;

  /// Returns the dims of the tensor of exactly this name; nothing where there is none.
  std::optional<std::vector<int64_t>> dimsOf(const std::string &tensor) const;

  /// Returns what rounding costs in a launch of an NPU, of the range of the reference: that of
  /// 8-bit integers where the reference has such tensors besides its inputs, because a launch of
  /// several layers keeps them to itself, else that of f16.
  double toleranceOnNpu() const { return hasBytes ? 0.03 : 0.01; }

private:
  bool findBytes(const std::vector<om::Tensor> &inputs) const;
  bool interpret(const std::string &model, const std::string &input,
                 const std::vector<om::Tensor> &inputs, std::string &error);
  void readManifest();
  std::string fileOf(const std::string &tensor) const;

  std::string folder;
  std::unique_ptr<CleanupOnSignal> temporary; ///< while the folder is owned
  std::map<std::string, std::string> files;   ///< contents of manifest.json
  bool hasBytes = false;                      ///< a tensor that is no input has 8-bit integers
};

} // namespace atc::tools

#endif
