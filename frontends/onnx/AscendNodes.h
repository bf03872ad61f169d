//===-- AscendNodes.h - quantized models of the Ascend toolchain ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_ASCENDNODES_H
#define OPENATC_FRONTENDS_ONNX_ASCENDNODES_H

#include <onnx/onnx_pb.h>

#include "support/Diagnostics.h"

namespace atc::onnx_import {

/// Makes QuantizeLinear and DequantizeLinear of AscendQuant, AscendAntiQuant,
/// AscendDequant and AscendWeightQuant, so that both forms of a quantized model are
/// one from here on. All faults are told; false then.
bool expandAscendNodes(onnx::GraphProto &graph, Diagnostics &diagnostics);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_ASCENDNODES_H
