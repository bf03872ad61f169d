//===-- LayerTensors.h - tensors between the layers of a run ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_LAYERTENSORS_H
#define OPENATC_TOOLS_OMRUN_LAYERTENSORS_H

#include "openatc/om.hpp"

#include <functional>
#include <string>
#include <vector>

namespace atc::tools {

/// A tensor right after the launch that has written it.
struct WrittenTensor {
  uint32_t index, launch;
  om::Tensor tensor;
  const void *data;
};

/// Runs the model once and calls `visit` for each tensor that a launch has written, before its
/// memory is used again. Returns false with lines with codes in `errorLines`.
bool visitTensors(const om::Model &model, om::Session &session,
                  const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                  const std::function<void(const WrittenTensor &)> &visit,
                  std::vector<std::string> &errorLines);

/// A tensor that an NPU has written with elements that are no numbers of f16.
struct Overflow {
  std::string tensor, layer;
  uint32_t launch;
  uint64_t elements, of; ///< that are infinite or NaN
  bool isJoined;         ///< the launch has left tensors of several layers
};

/// Finds where a run leaves the range of f16 first: tensors with infinite elements or NaN that an
/// NPU has made of operands without any. Returns false with lines with codes in
/// `errorLines`.
bool findOverflows(const om::Model &model, om::Session &session,
                   const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                   std::vector<Overflow> &found, std::vector<std::string> &errorLines);

/// Prints what findOverflows has found, as text or JSON, with what to do. Returns whether it is
/// nothing.
bool printOverflows(const std::vector<Overflow> &found, bool asJson);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_LAYERTENSORS_H
