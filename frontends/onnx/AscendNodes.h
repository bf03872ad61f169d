//===-- AscendNodes.h - quantized models of the Ascend toolchain ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_ASCENDNODES_H
#define OPENATC_FRONTENDS_ONNX_ASCENDNODES_H

#include <onnx/onnx_pb.h>

#include "support/Diagnostics.h"

namespace atc::onnx_import {

/// Replaces AscendQuant, AscendAntiQuant, AscendDequant and AscendWeightQuant by QuantizeLinear and
/// DequantizeLinear, so that the importer handles one form of quantized models only. Reports all
/// errors and returns false where there are some.
bool expandAscendNodes(onnx::GraphProto &graph, Diagnostics &diagnostics);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_ASCENDNODES_H
