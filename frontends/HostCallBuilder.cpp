//===-- HostCallBuilder.cpp - makes calls of host kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/HostCallBuilder.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/HostTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc {

SmallVector<Value> HostCallBuilder::call(const graph::HostCall &call, std::string &error) {
  MLIRContext *context = builder.getContext();
  if (auto folded = graph::foldHostCall(call, context); succeeded(folded)) {
    SmallVector<Value> values;
    for (ElementsAttr value : *folded)
      values.push_back(value ? graph::ConstantOp::create(builder, location, value) : Value());
    return values;
  }
  FailureOr<SmallVector<Type>> results = types == HostTypes::Probed
                                             ? probeHostCall(call, context, error)
                                             : graph::inferHostCall(call, context, error);
  if (failed(results) && mayDefer) {
    const std::string reason = error;
    results = graph::inferHostCallByRules(call, context, error);
    if (succeeded(results) && !mayDefer(reason))
      return {};
  }
  if (failed(results))
    return {};
  SmallVector<Value> operands;
  SmallVector<int32_t> positions;
  bool leavesOut = false;
  for (auto [i, input] : llvm::enumerate(call.inputs)) {
    leavesOut |= !input && i + 1 < call.inputs.size();
    if (!input)
      continue;
    operands.push_back(input);
    positions.push_back(i);
  }
  auto op = graph::HostCallOp::create(
      builder, location, *results, builder.getStringAttr(call.kernel), operands,
      leavesOut ? builder.getDenseI32ArrayAttr(positions) : DenseI32ArrayAttr(), call.parameters);
  return SmallVector<Value>(op.getResults());
}

Value HostCallBuilder::call(StringRef kernel, ArrayRef<Value> inputs,
                            ArrayRef<NamedAttribute> parameters) {
  // A preceding call failed.
  if (llvm::is_contained(inputs, Value()))
    return {};
  std::string error;
  SmallVector<Value> results =
      call({kernel, SmallVector<Value>(inputs), builder.getDictionaryAttr(parameters)}, error);
  if (results.empty() && firstError.empty())
    firstError = error;
  return results.empty() ? Value() : results.front();
}

Value HostCallBuilder::constantOf(ElementsAttr value) {
  return graph::ConstantOp::create(builder, location, value);
}

Value HostCallBuilder::constant(ArrayRef<int64_t> values, bool scalar) {
  SmallVector<int64_t> shape;
  if (!scalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return constantOf(graph::makeConstant(type, values));
}

NamedAttribute HostCallBuilder::ints(StringRef name, ArrayRef<int64_t> values) {
  return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
}

NamedAttribute HostCallBuilder::floats(StringRef name, ArrayRef<double> values) {
  return builder.getNamedAttr(name, DenseF64ArrayAttr::get(builder.getContext(), values));
}

NamedAttribute HostCallBuilder::text(StringRef name, StringRef value) {
  return builder.getNamedAttr(name, builder.getStringAttr(value));
}

Value HostCallBuilder::cast(Value value, Type element) {
  if (!value || getElementTypeOrSelf(value) == element)
    return value;
  return call("Cast", {value}, {ints("to", {graph::dtypeOf(element)})});
}

} // namespace atc
