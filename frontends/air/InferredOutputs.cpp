//===-- InferredOutputs.cpp - the dims of results that nobody states ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/InferredOutputs.h"

#include "frontends/air/AirOps.h"
#include "frontends/onnx/OnnxModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <onnx/onnx_pb.h>

using namespace mlir;

namespace atc::air {

/// Returns AscendCL's number of an element type; nullopt where it has none.
static std::optional<int> typeOf(Type type) {
  if (type.isF32())
    return 0;
  if (type.isF16())
    return 1;
  if (type.isBF16())
    return 27;
  if (type.isF64())
    return 11;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 12;
  case 8:
    return isUnsigned ? 4 : 2;
  case 16:
    return isUnsigned ? 7 : 6;
  case 32:
    return isUnsigned ? 8 : 3;
  case 64:
    return isUnsigned ? 10 : 9;
  default:
    return std::nullopt;
  }
}

int resultType(const SingleOp &op, size_t index) {
  constexpr int kFloat = 0, kInt8 = 2, kInt32 = 3, kUInt8 = 4;
  const StringRef type = op.type;
  if (type == "Cast")
    for (const SingleOpAttribute &attribute : op.attributes)
      if (attribute.name == "dst_type" && attribute.value.is_number_integer())
        return attribute.value.get<int>();
  if ((type.starts_with("ArgMax") || type.starts_with("ArgMin")) && index == 0)
    return kInt32;
  if (type.starts_with("TopK") && index == 1)
    return kInt32;
  if (type == "AscendQuant")
    return kInt8;
  if (type == "AscendDequant" || type == "AscendAntiQuant" || op.inputs.empty())
    return kFloat;
  const int first = op.inputs[0].type;
  const bool isProduct = is_contained(
      {"Conv2D", "DepthwiseConv2D", "MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2"}, type);
  return isProduct && (first == kInt8 || first == kUInt8) ? kInt32 : first;
}

/// Sets the type of the tensor "x<i>" in a model of one operator: `size` stands for dims of any
/// size.
static void setDims(onnx::GraphProto &part, ArrayRef<SingleOpTensor> inputs, int64_t size) {
  for (onnx::ValueInfoProto &input : *part.mutable_input()) {
    unsigned number = 0;
    if (StringRef(input.name()).drop_front().getAsInteger(10, number) || number >= inputs.size())
      continue;
    onnx::TensorShapeProto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (int64_t dim : inputs[number].dims)
      shape.add_dim()->set_dim_value(dim < 0 ? size : dim);
  }
}

/// Sets the outputs of an operator to what the importer infers for its model with `size` in the
/// place of dims of any size. Returns false after an error.
static bool inferFor(int64_t size, const std::string &bytes, SingleOp &op, MLIRContext &context,
                     Diagnostics &diagnostics) {
  onnx::ModelProto part;
  if (!part.ParseFromString(bytes)) {
    diagnostics.error("E14001", "it cannot be converted");
    return false;
  }
  setDims(*part.mutable_graph(), op.inputs, size);
  // Outputs are described by nothing, so that nothing contradicts what is inferred.
  for (onnx::ValueInfoProto &output : *part.mutable_graph()->mutable_output())
    output.clear_type();
  Diagnostics ofOp;
  FailureOr<OwningOpRef<ModuleOp>> module =
      importOnnxModel(part, op.name, OnnxImportOptions{}, context, ofOp);
  if (failed(module)) {
    for (const CodedMessage &error : ofOp.all())
      diagnostics.error("E14001", error.text);
    return false;
  }
  for (func::FuncOp function : (*module)->getOps<func::FuncOp>()) {
    if (function.getSymName() != "main")
      continue;
    for (auto [type, output] : llvm::zip(function.getResultTypes(), op.outputs)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return diagnostics.error("E14001", "the rank of its result is not known"), false;
      output.dims.clear();
      for (int64_t dim : tensor.getShape())
        output.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
      output.type = typeOf(tensor.getElementType()).value_or(output.type);
    }
  }
  return true;
}

std::optional<std::string> inferOutputs(SingleOp &op, MLIRContext &context,
                                        Diagnostics &diagnostics) {
  if (!inferMovedShape(op)) {
    if (readsOutputShape(op.type)) {
      diagnostics.error(
          "E14001",
          "the dims of its result do not follow from constants; state them, or give the values "
          "that they follow from as a constant");
      return std::nullopt;
    }
    for (SingleOpTensor &output : op.outputs)
      output.dims.clear();
  }
  std::optional<std::string> bytes = makeSingleOpModel(op, diagnostics);
  // Dims that follow the size of a dynamic dim differ between two sizes, which are large enough
  // for windows and have many divisors.
  constexpr int64_t sizes[] = {240, 720};
  if (!bytes || !inferFor(sizes[0], *bytes, op, context, diagnostics))
    return std::nullopt;
  if (llvm::none_of(op.inputs, [](const auto &input) { return isDynamic(input.dims); }))
    return bytes;
  SingleOp other = op;
  if (!inferFor(sizes[1], *bytes, other, context, diagnostics))
    return std::nullopt;
  for (auto [output, changed] : llvm::zip(op.outputs, other.outputs)) {
    if (output.dims.size() != changed.dims.size()) {
      diagnostics.error("E14001", "the rank of its result is not known");
      return std::nullopt;
    }
    for (auto [dim, same] : llvm::zip(output.dims, changed.dims))
      if (dim != same)
        dim = -1;
  }
  return bytes;
}

} // namespace atc::air
