//===-- TrainingGraph.h - an ONNX graph whose weights are inputs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_TRAININGGRAPH_H
#define OPENATC_FRONTENDS_ONNX_TRAININGGRAPH_H

#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

#include "frontends/onnx/OnnxImport.h"

namespace atc::onnx_import {

/// An initializer that has become an input.
struct TrainingInput {
  onnx::TensorProto tensor;
  std::string next; ///< the output with its next value; empty for a parameter, which is trained
};

/// Makes the weights of a graph inputs and lets its batch norms compute with the statistics of
/// their batch, with the next running statistics as outputs. Dropouts become those of inference.
/// Returns the initializers that are inputs now; nothing, after an error, where a name of `options`
/// matches none.
std::optional<std::vector<TrainingInput>>
makeTrainingGraph(onnx::GraphProto &graph, const TrainingImport &options, Diagnostics &diagnostics);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_TRAININGGRAPH_H
