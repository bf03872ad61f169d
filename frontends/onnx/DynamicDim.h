//===-- DynamicDim.h - the dynamic dim of an ONNX model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H
#define OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H

#include <onnx/onnx_pb.h>
#include <optional>

#include "frontends/Placeholder.h"

namespace atc::onnx_import {

/// Returns the dynamic dim of the inputs of `graph` under `given` (--input_shape), and a
/// placeholder for it. Nothing where there is none, more than one, or an input of unknown
/// rank. Dims are one where they have one name; a dim without a name is one of its own.
std::optional<DynamicDim> findDynamicDim(const onnx::GraphProto &graph, const InputShapes &given);

/// Returns what the rules for placeholders have to know of a node; it refers to both arguments.
SizeNode sizeNodeOf(const onnx::NodeProto &node, llvm::ArrayRef<mlir::Value> inputs);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_DYNAMICDIM_H
