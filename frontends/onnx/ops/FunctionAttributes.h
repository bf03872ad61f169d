//===-- FunctionAttributes.h - attributes of calls in bodies --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONATTRIBUTES_H
#define OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONATTRIBUTES_H

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "llvm/ADT/ArrayRef.h"

namespace atc::onnx_import {

/// Fields that the protobuf classes of older IR versions do not know by name: the defaults of
/// attributes (FunctionProto.attribute_proto), and the overloads of calls and functions.
constexpr int kDefaultAttributesField = 11, kCallOverloadField = 8, kFunctionOverloadField = 13;

/// Returns the attributes of a function that have defaults.
std::vector<onnx::AttributeProto> defaultsOf(const onnx::FunctionProto &function);

/// Return which one of several functions of a name a node calls, or a function is: the field
/// `overload`, which the protobuf classes of older IR versions do not know either.
std::string overloadOf(const onnx::NodeProto &node);
std::string overloadOf(const onnx::FunctionProto &function);

/// Puts the values of a call's attributes where the body of a function refers to them. An attribute
/// that the call lacks has its default, and is left out where there is none.
void bindAttributes(onnx::NodeProto &inner, const onnx::NodeProto &call,
                    llvm::ArrayRef<onnx::AttributeProto> defaults);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONATTRIBUTES_H
