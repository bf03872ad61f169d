//===-- CallOps.cpp - graph ops in place of a host call -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/expand/CallOps.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"

using namespace mlir;

namespace atc::host {

RankedTensorType staticFloats(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  const bool isKnown = type && type.hasStaticShape() && type.getNumElements() > 0 &&
                       (type.getElementType().isF32() || type.getElementType().isF16());
  return isKnown ? type : RankedTensorType();
}

StringRef textOf(graph::HostCallOp call, StringRef name, StringRef fallback) {
  auto text = call.getParameters().getAs<StringAttr>(name);
  return text ? text.getValue() : fallback;
}

bool isStatic(graph::HostCallOp call, bool emptyInputs) {
  RankedTensorType first =
      call.getInputs().empty() ? RankedTensorType() : staticFloats(call.getInputs()[0]);
  auto fits = [&](Value value, bool mayBeEmpty = false) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && (mayBeEmpty || type.getNumElements() > 0) &&
           (!isa<FloatType>(type.getElementType()) ||
            type.getElementType() == first.getElementType());
  };
  return first &&
         llvm::all_of(call.getInputs(), [&](Value input) { return fits(input, emptyInputs); }) &&
         llvm::all_of(call.getResults(),
                      [&](OpResult result) { return result.use_empty() || fits(result); });
}

unsigned expandCalls(func::FuncOp function, StringRef pass, ArrayRef<StringLiteral> kernels,
                     StringRef made, function_ref<StringRef(graph::HostCallOp)> expand,
                     bool emptyInputs) {
  const graph::HostNodes hostNodes(function);
  SmallVector<graph::HostCallOp> calls;
  function.walk([&](graph::HostCallOp call) {
    if (llvm::is_contained(kernels, call.getKernel()) && !hostNodes.contains(call))
      calls.push_back(call);
  });
  unsigned expanded = 0;
  for (graph::HostCallOp call : calls) {
    const StringRef why =
        isStatic(call, emptyInputs) ? expand(call) : "its shapes or elements have no ops";
    if (!why.empty()) {
      remarkMissed(pass, call.getLoc(), "Kept")
          << remark::add("{0} stays a call of a host kernel: {1}", call.getKernel(), why);
      continue;
    }
    remarkPassed(pass, call.getLoc(), "Expanded")
        << remark::add("{0} becomes {1}", call.getKernel(), made);
    call.erase();
    ++expanded;
  }
  return expanded;
}

CallOps::CallOps(graph::HostCallOp call)
    : call(call), builder(call), loc(graph::derivedLoc(call.getLoc(), "part")) {}

Value CallOps::add(Value a, Value b) { return graph::AddOp::create(builder, loc, a, b); }
Value CallOps::sub(Value a, Value b) { return graph::SubOp::create(builder, loc, a, b); }
Value CallOps::mul(Value a, Value b) { return graph::MulOp::create(builder, loc, a, b); }
Value CallOps::product(Value a, Value b) { return graph::MatMulOp::create(builder, loc, a, b); }
Value CallOps::smaller(Value a, Value b) { return graph::MinOp::create(builder, loc, a, b); }
Value CallOps::larger(Value a, Value b) { return graph::MaxOp::create(builder, loc, a, b); }
Value CallOps::isGreater(Value a, Value b) {
  return graph::CompareOp::create(builder, loc, a, b, graph::ComparePredicate::Gt);
}
Value CallOps::where(Value condition, Value a, Value b) {
  return graph::WhereOp::create(builder, loc, condition, a, b);
}
Value CallOps::meanOfRows(Value x) {
  return graph::ReduceOp::create(builder, loc, x, graph::ReduceKind::Mean,
                                 ArrayRef<int64_t>{graph::getTensorType(x).getRank() - 1},
                                 /*keepdims=*/true);
}
Value CallOps::softmax(Value x) {
  return graph::SoftmaxOp::create(builder, loc, x, graph::getTensorType(x).getRank() - 1);
}
Value CallOps::tanh(Value x) { return graph::TanhOp::create(builder, loc, x); }
Value CallOps::sigmoid(Value x) { return graph::SigmoidOp::create(builder, loc, x); }
Value CallOps::relu(Value x) { return graph::ReluOp::create(builder, loc, x); }
Value CallOps::gelu(Value x, bool approximate) {
  return graph::GeluOp::create(builder, loc, x, approximate);
}
Value CallOps::inverseRoot(Value x) { return graph::RsqrtOp::create(builder, loc, x); }

Value CallOps::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, graph::getTensorType(x).getElementType());
  return type == x.getType() ? x : graph::ReshapeOp::create(builder, loc, type, x).getResult();
}
Value CallOps::transpose(Value x, ArrayRef<int64_t> permutation) {
  return graph::TransposeOp::create(builder, loc, x, permutation);
}
Value CallOps::slice(Value x, int64_t dim, int64_t start, int64_t size) {
  RankedTensorType type = graph::getTensorType(x);
  if (start == 0 && size == type.getDimSize(dim))
    return x;
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()), steps(type.getRank(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return graph::SliceOp::create(builder, loc, x, starts, sizes, steps);
}
Value CallOps::concat(ArrayRef<Value> parts, int64_t dim) {
  return parts.size() == 1
             ? parts.front()
             : graph::ConcatOp::create(builder, loc, ValueRange(parts), dim).getResult();
}

Value CallOps::gather(Value x, Value indices) {
  return graph::GatherOp::create(builder, loc, x, indices, /*axis=*/0);
}

Value CallOps::number(double value, Value like) {
  return constant({}, graph::getTensorType(like).getElementType(), value);
}
Value CallOps::constant(ArrayRef<int64_t> shape, Type element, ArrayRef<double> values) {
  auto type = RankedTensorType::get(shape, element);
  if (isa<FloatType>(element))
    return graph::createConstant(builder, loc, type, values);
  const unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> integers;
  for (double value : values)
    integers.emplace_back(width, uint64_t(int64_t(value)), /*isSigned=*/true,
                          /*implicitTrunc=*/true);
  return graph::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, integers));
}

void CallOps::replace(unsigned result, Value value) {
  if (result >= call.getNumResults() || call.getResult(result).use_empty())
    return;
  if (Operation *op = value.getDefiningOp(); op && !isa<graph::ConstantOp>(op))
    op->setLoc(call.getLoc());
  call.getResult(result).replaceAllUsesWith(value);
}

} // namespace atc::host
