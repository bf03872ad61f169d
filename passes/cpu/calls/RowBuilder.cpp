//===-- RowBuilder.cpp - loops with dims that are known at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/RowBuilder.h"

#include "dialects/graph/ops/HostOps.h"
#include "kernels/core/GeneratedCode.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime-lite/abi/HostKernel.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kMaxRank = host::kMaxRank;

unsigned countPorts(graph::HostCallOp call) {
  return call.inputsByPosition().size() + call->getNumResults();
}

} // namespace

SmallVector<Type> RowBuilder::bufferTypes(graph::HostCallOp call) {
  Builder builder(call.getContext());
  SmallVector<Type> types = {MemRefType::get(
      {countPorts(call) * kMaxRank + int64_t(kernels::kErrorWords)}, builder.getI64Type())};
  auto add = [&](Value value) {
    // A port without a value is a null pointer, which nothing reads.
    Type element = value ? getElementTypeOrSelf(value) : Type(builder.getIntegerType(8));
    types.push_back(MemRefType::get({1}, element));
  };
  for (Value input : call.inputsByPosition())
    add(input);
  for (Value result : call.getResults())
    add(result);
  return types;
}

RowBuilder::RowBuilder(func::FuncOp function, graph::HostCallOp call, ArrayRef<int64_t> inputRanks,
                       ArrayRef<int64_t> outputRanks)
    : ImplicitLocOpBuilder(UnknownLoc::get(call.getContext()), function.getContext()) {
  Block &block = function.getBody().front();
  setInsertionPointToStart(&block);
  table = block.getArgument(0);
  end = block.getArguments().back();
  begin = block.getArgument(block.getNumArguments() - 2);
  errorAt = countPorts(call) * kMaxRank;
  unsigned number = 0;
  for (auto [input, rank] : llvm::zip(call.inputsByPosition(), inputRanks)) {
    inputs.push_back(input ? makePort(block.getArgument(1 + number), table, number, rank) : Port());
    ++number;
  }
  for (auto [result, rank] : llvm::zip(call.getResults(), outputRanks)) {
    outputs.push_back(
        result.use_empty() ? Port() : makePort(block.getArgument(1 + number), table, number, rank));
    ++number;
  }
}

Port RowBuilder::makePort(Value buffer, Value table, unsigned number, int64_t rank) {
  Port port;
  for (int64_t d = 0; d < rank; ++d) {
    Value dim = memref::LoadOp::create(*this, table, index(number * kMaxRank + d));
    port.dims.push_back(arith::IndexCastOp::create(*this, getIndexType(), dim));
  }
  port.strides.resize(rank);
  Value step = index(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    port.strides[d] = step;
    step = mul(step, port.dims[d]);
  }
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  port.isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  port.element = element;
  Value source = buffer;
  if (!element.isSignlessIntOrFloat()) {
    port.element = getIntegerType(element.getIntOrFloatBitWidth());
    source = UnrealizedConversionCastOp::create(*this, MemRefType::get({1}, port.element), buffer)
                 .getResult(0);
  }
  auto type = MemRefType::get({ShapedType::kDynamic}, port.element);
  port.flat = memref::ReinterpretCastOp::create(*this, type, source, OpFoldResult(getIndexAttr(0)),
                                                ArrayRef<OpFoldResult>{step},
                                                ArrayRef<OpFoldResult>{getIndexAttr(1)});
  return port;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value RowBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

static std::optional<int64_t> known(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantIndexOp>();
  return constant ? std::optional<int64_t>(constant.value()) : std::nullopt;
}

Value RowBuilder::add(Value a, Value b) {
  if (known(a) == 0)
    return b;
  return known(b) == 0 ? a : arith::AddIOp::create(*this, a, b).getResult();
}
Value RowBuilder::sub(Value a, Value b) {
  return known(b) == 0 ? a : arith::SubIOp::create(*this, a, b).getResult();
}
Value RowBuilder::mul(Value a, Value b) {
  if (known(a) == 1)
    return b;
  return known(b) == 1 ? a : arith::MulIOp::create(*this, a, b).getResult();
}
Value RowBuilder::div(Value a, Value b) { return arith::DivUIOp::create(*this, a, b); }
Value RowBuilder::rem(Value a, Value b) { return arith::RemUIOp::create(*this, a, b); }
Value RowBuilder::min(Value a, Value b) { return arith::MinSIOp::create(*this, a, b); }
Value RowBuilder::max(Value a, Value b) { return arith::MaxSIOp::create(*this, a, b); }
Value RowBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}
Value RowBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}

Value RowBuilder::product(ArrayRef<Value> dims) {
  Value result = index(1);
  for (Value dim : dims)
    result = mul(result, dim);
  return result;
}

Value RowBuilder::offset(const Port &port, ArrayRef<Value> indices) {
  Value result = index(0);
  for (auto [position, stride] : llvm::zip_equal(indices, port.strides))
    result = add(result, mul(position, stride));
  return result;
}

Indices RowBuilder::split(Value linear, ArrayRef<Value> dims) {
  Indices indices(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    if (d == 0) {
      indices[d] = linear;
      break;
    }
    indices[d] = rem(linear, dims[d]);
    linear = div(linear, dims[d]);
  }
  return indices;
}

Value RowBuilder::checked(Value position, Value dim, bool wraps) {
  using arith::CmpIPredicate;
  Value counted = position;
  if (wraps)
    counted = select(compare(CmpIPredicate::slt, position, index(0)), add(position, dim), position);
  Value isBad = compare(CmpIPredicate::uge, counted, dim);
  ifThen(isBad, [&] { storeError(position, dim, kernels::kIndexError); });
  return select(isBad, index(0), counted);
}

Value RowBuilder::checkedClass(Value target, Value count) {
  Value isBad = compare(arith::CmpIPredicate::uge, target, count);
  ifThen(isBad, [&] { storeError(target, count, kernels::kClassError); });
  return select(isBad, index(0), target);
}

void RowBuilder::storeError(Value first, Value second, int64_t kind) {
  auto write = [&](unsigned word, Value value) {
    Value stored = arith::IndexCastOp::create(*this, getI64Type(), value);
    memref::StoreOp::create(*this, stored, table, index(errorAt + word));
  };
  write(0, first);
  write(1, second);
  write(2, index(kind));
}

void RowBuilder::requireEqual(ArrayRef<Value> a, ArrayRef<Value> b) {
  for (auto [own, dim] : llvm::zip_equal(a, b)) {
    Value isBad = compare(arith::CmpIPredicate::ne, own, dim);
    ifThen(isBad, [&] { storeError(own, dim, kernels::kBroadcastError); });
    end = select(isBad, begin, end);
  }
}

void RowBuilder::requireBroadcast(const Port &port, ArrayRef<Value> dims) {
  using arith::CmpIPredicate;
  for (auto [own, dim] : llvm::zip_equal(port.dims, dims)) {
    Value differs = compare(CmpIPredicate::ne, own, dim);
    Value isBad = arith::AndIOp::create(*this, differs, compare(CmpIPredicate::ne, own, index(1)));
    ifThen(isBad, [&] { storeError(own, dim, kernels::kBroadcastError); });
    end = select(isBad, begin, end);
  }
}

Indices RowBuilder::broadcastSteps(const Port &port) {
  Indices steps;
  for (auto [dim, stride] : llvm::zip_equal(port.dims, port.strides))
    steps.push_back(select(compare(arith::CmpIPredicate::eq, dim, index(1)), index(0), stride));
  return steps;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value RowBuilder::load(const Port &port, Value at) {
  if (width == 1)
    return memref::LoadOp::create(*this, port.flat, at);
  return vector::LoadOp::create(*this, VectorType::get({width}, port.element), port.flat, at);
}

void RowBuilder::store(const Port &port, Value value, Value at) {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(*this, value, port.flat, at);
  else
    memref::StoreOp::create(*this, value, port.flat, at);
}

Value RowBuilder::loadIndex(const Port &port, Value at) {
  return arith::IndexCastOp::create(*this, getIndexType(), load(port, at));
}

Type RowBuilder::computeType(Type element) {
  auto number = dyn_cast<FloatType>(getElementTypeOrSelf(element));
  if (!number || number.getWidth() >= 32)
    return element;
  Type single = Float32Type::get(element.getContext());
  auto vector = dyn_cast<VectorType>(element);
  return vector ? vector.clone(single) : single;
}

Value RowBuilder::widen(Value value) {
  Type wide = computeType(value.getType());
  return wide == value.getType() ? value : arith::ExtFOp::create(*this, wide, value).getResult();
}

Value RowBuilder::narrow(Value value, const Port &port) {
  if (getElementTypeOrSelf(value) == port.element)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type type = vector ? Type(vector.clone(port.element)) : port.element;
  return arith::TruncFOp::create(*this, type, value);
}

Value RowBuilder::constant(Type type, double value) {
  if (auto floats = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(*this, getFloatAttr(floats, value));
  if (isa<IndexType>(type))
    return index(int64_t(value));
  return arith::ConstantOp::create(*this, getIntegerAttr(type, int64_t(value)));
}

Value RowBuilder::addF(Value a, Value b) { return arith::AddFOp::create(*this, a, b); }
Value RowBuilder::subF(Value a, Value b) { return arith::SubFOp::create(*this, a, b); }
Value RowBuilder::mulF(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
Value RowBuilder::divF(Value a, Value b) { return arith::DivFOp::create(*this, a, b); }
Value RowBuilder::floorF(Value a) { return math::FloorOp::create(*this, a); }
Value RowBuilder::compareF(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}
Value RowBuilder::smallerF(Value a, Value b) {
  return select(compareF(arith::CmpFPredicate::OLT, b, a), b, a);
}
Value RowBuilder::largerF(Value a, Value b) {
  return select(compareF(arith::CmpFPredicate::OGT, b, a), b, a);
}

Value RowBuilder::extremeF(Value a, Value b, bool isGreatest) {
  // Which of two zeros it is would take further instructions.
  constexpr auto anyZero = arith::FastMathFlags::nsz;
  if (isGreatest)
    return arith::MaximumFOp::create(*this, a, b, anyZero);
  return arith::MinimumFOp::create(*this, a, b, anyZero);
}

Value RowBuilder::maximumOfNumbers(Value a, Value b) {
  constexpr auto numbers = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  return arith::MaximumFOp::create(*this, a, b, numbers);
}

Value RowBuilder::toFloat(Type type, Value index) {
  return arith::SIToFPOp::create(
      *this, type, arith::IndexCastOp::create(*this, getI64Type(), index).getResult());
}

Value RowBuilder::toIndex(Value number) {
  Value integer = arith::FPToSIOp::create(*this, getI64Type(), number);
  return arith::IndexCastOp::create(*this, getIndexType(), integer);
}

Value RowBuilder::convertF(Type type, Value number) {
  const unsigned from = number.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return number;
  if (from < to)
    return arith::ExtFOp::create(*this, type, number);
  return arith::TruncFOp::create(*this, type, number);
}

Port RowBuilder::scratch(Type element, int64_t count) {
  Port port;
  port.element = element;
  port.flat = memref::AllocaOp::create(*this, MemRefType::get({count}, element));
  return port;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void RowBuilder::loop(Value from, Value to, Body body) {
  auto loop = scf::ForOp::create(*this, from, to, index(1));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Indices RowBuilder::fold(Value count, ValueRange initial, Fold body) {
  return fold(index(0), count, index(1), initial, body);
}

Indices RowBuilder::fold(Value from, Value to, Value step, ValueRange initial, Fold body) {
  auto loop = scf::ForOp::create(*this, from, to, step, initial);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Indices next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop without carried values has its end already.
  if (!next.empty())
    scf::YieldOp::create(*this, next);
  return Indices(loop.getResults());
}

void RowBuilder::ifThen(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

void RowBuilder::ifElse(Value condition, function_ref<void()> then,
                        function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&branch.getThenRegion().front());
  then();
  setInsertionPointToStart(&branch.getElseRegion().front());
  otherwise();
}

void RowBuilder::forEachRow(function_ref<void(ArrayRef<Value>, Value, Value)> body) {
  const Port &port = out();
  if (port.rank() == 0)
    return loop(begin, end, [&](Value task) {
      currentRow = task;
      body({}, task, index(1));
    });
  // The indices count up like digits: divisions would cost more than short rows.
  const int64_t inRow = std::min(rowDims, port.rank());
  ArrayRef<Value> dims = ArrayRef(port.dims).drop_back(inRow);
  Value length = product(ArrayRef(port.dims).take_back(inRow));
  auto rows = scf::ForOp::create(*this, begin, end, index(1), split(begin, dims));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(rows.getBody());
  Indices indices(rows.getRegionIterArgs());
  currentRow = rows.getInductionVar();
  body(indices, mul(rows.getInductionVar(), length), length);
  Indices next(indices);
  Value carry;
  for (size_t d = dims.size(); d-- > 0;) {
    Value step = carry ? select(carry, index(1), index(0)) : index(1);
    Value up = add(indices[d], step);
    carry = compare(arith::CmpIPredicate::eq, up, dims[d]);
    next[d] = d == 0 ? up : select(carry, index(0), up);
  }
  // A loop without carried values has its end already.
  if (!next.empty())
    scf::YieldOp::create(*this, next);
}

void RowBuilder::copyRow(const Port &to, Value row, Value length, const Port &from, Value base,
                         Value step) {
  loop(length, [&](Value j) { store(to, load(from, add(base, mul(j, step))), add(row, j)); });
}

void RowBuilder::nest(ArrayRef<Value> dims, function_ref<void(ArrayRef<Value>)> body) {
  Indices indices;
  auto descend = [&](auto &&self, size_t d) -> void {
    if (d == dims.size())
      return body(indices);
    loop(dims[d], [&](Value i) {
      indices.push_back(i);
      self(self, d + 1);
      indices.pop_back();
    });
  };
  descend(descend, 0);
}

} // namespace atc::cpu
