//===-- InferenceGraph.h - a graph of training becomes one of inference ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TRAINING_INFERENCEGRAPH_H
#define OPENATC_DRIVER_TRAINING_INFERENCEGRAPH_H

#include "llvm/ADT/StringRef.h"

namespace onnx {
class GraphProto;
} // namespace onnx

namespace atc::driver {

/// Makes dropouts pass their input on and batch norms use their running statistics, and removes the
/// output `ownLoss` (empty: none) with the nodes and inputs that only it needs.
void makeInferenceGraph(onnx::GraphProto &graph, llvm::StringRef ownLoss);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TRAINING_INFERENCEGRAPH_H
