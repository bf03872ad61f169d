//===-- LayerTrace.h - the results of layers of a run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_LAYERTRACE_H
#define OPENATC_SUPPORT_LAYERTRACE_H

#include "openatc/om.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace atc {

/// A dense copy of what a launch or the call of a host kernel has written.
struct LayerResult {
  om::Tensor tensor;
  om::Buffer data;
  std::string kernel;
  uint32_t launch; ///< the number of launches for an output of the model
  bool npu = false;
};

/// Collects the results of the layers of one run on values of a model with dynamic shapes,
/// recurrence or control flow. A loop over tiles has one result per tensor; of other loops the
/// first iteration counts. Values that are no dense tensors of numbers, and the steps that a node
/// consists of, are only counted.
class LayerTrace {
public:
  /// Returns the dims of a tensor that is wanted, in which its tiles are put together; nothing for
  /// others.
  using DimsOf = std::function<std::optional<std::vector<int64_t>>(const std::string &name)>;

  /// The model, the session and what `dimsOf` refers to must outlive the trace.
  LayerTrace(const om::Model &model, om::Session &session, DimsOf dimsOf);

  /// Runs the model, once, and returns its outputs; none on failure, with `error`.
  std::vector<om::Value> run(const std::vector<om::Value> &inputs, om::Error &error);

  /// The results in the order in which they were computed, the model's outputs last.
  std::vector<LayerResult> results;
  /// The number of tensors that are not wanted or have no such form.
  size_t unknown = 0;

private:
  void observe(uint32_t launch);
  void observeCall(uint32_t index, const om::Launch &launch);
  void observeTensor(uint32_t index, const om::Launch &launch, uint32_t written, int64_t begin,
                     int64_t size);
  void addValue(const std::string &name, const om::Value &value, const std::string &kernel,
                uint32_t index);
  void addTile(const om::Tensor &tile, const om::Buffer &data, const LayerResult &head,
               const std::vector<int64_t> &dims, int64_t begin, int64_t size);

  const om::Model &model;
  om::Session &session;
  const DimsOf dimsOf;
  std::map<std::string, uint32_t> lastCalls; ///< the last call of a host kernel for each tensor
  std::set<uint32_t> seen;                   ///< launches and calls
  std::map<std::string, size_t> wholeOf;     ///< results that are made of tiles
  std::vector<uint64_t> copied;              ///< elements of each result
};

} // namespace atc

#endif // OPENATC_SUPPORT_LAYERTRACE_H
