//===-- ControlFlow.h - operators with graphs inside ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H
#define OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H

#include <onnx/onnx_pb.h>

#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

class GraphImporter;

using ControlFlowBuilder = void (*)(GraphImporter &, onnx::NodeProto &);

/// What imports If, Loop, Scan and SequenceMap; null for other operators.
ControlFlowBuilder findControlFlow(llvm::StringRef op);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_CONTROLFLOW_H
