//===-- KnownFunctions.h - operators that are formulas of standard ones ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H
#define OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H

#include <string>

#include <onnx/onnx_pb.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

/// An operator that is imported as a function of standard operators.
struct KnownFunction {
  llvm::StringLiteral domain; ///< empty for operators that were once tried in the standard domain,
                              ///< or that the Ascend toolchain adds to it
  llvm::StringLiteral op;
  llvm::StringLiteral attributes; ///< that the function reads, separated by spaces
  /// Returns the function that stands for a node; with a `problem` where there is none.
  onnx::FunctionProto (*make)(const onnx::NodeProto &node, std::string &problem);
};

/// Returns all of them, by domain and name.
llvm::ArrayRef<KnownFunction> knownFunctions();

/// Returns the one of a node's operator; null where there is none.
const KnownFunction *findKnownFunction(const onnx::NodeProto &node);

/// Returns the function for a node of the operator. `problem` says why there is none.
onnx::FunctionProto makeFunction(const KnownFunction &known, const onnx::NodeProto &node,
                                 std::string &problem);

/// Mixtures of experts, also of integers, and products with weights of 4 bits by a table.
onnx::FunctionProto mixtureOfExperts(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto mixtureOfIntegers(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto productOfTable(const onnx::NodeProto &node, std::string &problem);

/// Other operators of com.microsoft, by their names there.
onnx::FunctionProto convTransposeWithPads(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto cropAndResize(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto decoderAttention(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto maskedMaxPool(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto multimodalRotaryEmbedding(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto ngramRepeatBlock(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto scaledSilu(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto sparseAttention(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto unfoldTensor(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto wordEmbedding(const onnx::NodeProto &node, std::string &problem);

/// Operators that the Ascend toolchain adds, by their names there.
onnx::FunctionProto batchMultiClassNms(const onnx::NodeProto &node, std::string &problem);

/// Operators of com.microsoft into which nodes are fused, by their names there.
onnx::FunctionProto biasAdd(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto biasGelu(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto fastGelu(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto gatedAdd(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto gatedPositionBias(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto gemmFastGelu(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto groupNorm(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto inverseRealTransform(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto nhwcConv(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto quickGelu(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto realTransform(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto relativePositionBias(const onnx::NodeProto &node, std::string &problem);
onnx::FunctionProto skipGroupNorm(const onnx::NodeProto &node, std::string &problem);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H
