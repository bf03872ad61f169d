//===-- ControlFlow.h - operators with graphs inside ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H
#define OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H

#include <onnx/onnx_pb.h>

namespace atc::onnx_import {

class GraphImporter;

using ControlFlowBuilder = void (*)(GraphImporter &, onnx::NodeProto &);

/// Returns the function that imports If, Loop, Scan, SequenceMap or FlexAttention; null for other
/// operators.
ControlFlowBuilder findControlFlow(const onnx::NodeProto &node);

/// Imports a FlexAttention node.
void importFlexAttention(GraphImporter &importer, onnx::NodeProto &node);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H
