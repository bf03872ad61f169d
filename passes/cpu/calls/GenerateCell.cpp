//===-- GenerateCell.cpp - code of recurrent cells ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host kernel goes through the steps and multiplies; the code computes what follows from the
// gates, in one pass whatever the activation functions (kernels/core/GeneratedCode.h).

#include "passes/cpu/calls/GenerateCell.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "kernels/core/GeneratedCode.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/cpu/calls/ElementCalls.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/RecurrentSteps.h"

using namespace mlir;

namespace atc::cpu {

namespace {

using Cell = host::Recurrence::Cell;

/// Builds a formula on elements as graph ops, on whose arguments stand buffers of the code.
class Formula {
public:
  Formula(const host::Recurrence &recurrence, Type element)
      : r(recurrence), builder(element.getContext()), loc(builder.getUnknownLoc()),
        type(RankedTensorType::get({kernels::kCellUnits}, element)) {
    builder.setInsertionPointToEnd(&ops);
  }

  /// Returns the element of buffer `number`.
  Value read(unsigned number) {
    auto [found, isNew] = arguments.try_emplace(number);
    if (isNew) {
      found->second = ops.addArgument(type, loc);
      buffers.push_back(number);
    }
    return found->second;
  }
  /// Builds the map that stores `result` in buffer `number` of a function.
  void store(OpBuilder &at, func::FuncOp function, Value result, unsigned number) {
    SmallVector<Value> inputs;
    for (unsigned buffer : buffers)
      inputs.push_back(function.getArgument(buffer));
    buildMap(at, ops, result, inputs, function.getArgument(number));
  }

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...).getResult();
  }
  Value number(double value) {
    return graph::createConstant(builder, loc, RankedTensorType::get({}, type.getElementType()),
                                 value);
  }
  Value add(Value a, Value b) { return create<graph::AddOp>(a, b); }
  Value sub(Value a, Value b) { return create<graph::SubOp>(a, b); }
  Value mul(Value a, Value b) { return create<graph::MulOp>(a, b); }

  /// Returns a gate as its function receives it.
  Value clipped(Value gate) {
    if (r.clip <= 0)
      return gate;
    return create<graph::ClipOp>(type, gate, builder.getF64FloatAttr(-r.clip),
                                 builder.getF64FloatAttr(r.clip));
  }
  Value apply(Value x, unsigned function) { return r.functions[function].apply(builder, loc, x); }
  Value activate(Value gate, unsigned function) { return apply(clipped(gate), function); }

  /// Returns function `first` of a gate times function `second` of `y`.
  Value activatedProduct(Value gate, unsigned first, Value y, unsigned second) {
    const bool isDefault = r.functions[first].kind == host::CellFunction::Sigmoid &&
                           r.functions[second].kind == host::CellFunction::Tanh;
    if (!isDefault || !type.getElementType().isF32())
      return mul(activate(gate, first), apply(y, second));
    return sigmoidTimesTanh(clipped(gate), y);
  }

private:
  /// Returns sigmoid(x) * tanh(y) with a single division, as kernels/core/VectorMath.h has it.
  Value sigmoidTimesTanh(Value x, Value y) {
    Value square = mul(y, y);
    Value isNear = create<graph::CompareOp>(square, number(0.5), graph::ComparePredicate::Lt);
    // Beyond 20 the hyperbolic tangent is 1.
    Value twice = create<graph::ClipOp>(type, add(y, y), builder.getF64FloatAttr(-40),
                                        builder.getF64FloatAttr(40));
    Value power = create<graph::ExpOp>(twice);
    auto next = [&](Value sum, double coefficient) {
      return add(number(coefficient), mul(square, sum));
    };
    Value above = mul(y, next(next(number(21), 1260), 10395));
    Value below = next(next(add(number(210), square), 4725), 10395);
    above = create<graph::WhereOp>(isNear, above, sub(power, number(1)));
    below = create<graph::WhereOp>(isNear, below, add(power, number(1)));
    Value left = add(number(1), create<graph::ExpOp>(create<graph::NegOp>(x)));
    return create<graph::DivOp>(above, mul(below, left));
  }

  const host::Recurrence &r;
  Block ops;
  OpBuilder builder;
  Location loc;
  RankedTensorType type;
  llvm::SmallDenseMap<unsigned, Value> arguments; ///< by the number of the buffer
  SmallVector<unsigned> buffers;                  ///< of the arguments in their order
};

/// Returns the number of buffers of a cell.
unsigned countBuffers(const host::Recurrence &r, bool hasPeepholes) {
  switch (r.cell) {
  case Cell::Rnn:
    return 2;
  case Cell::Gru:
    return r.linearBeforeReset ? 6 : 4;
  case Cell::Lstm:
    return hasPeepholes ? 9 : 6;
  }
  llvm_unreachable("all cells return");
}

/// Builds the two maps of an LSTM: the cell's state, and from it the next state.
void buildLstm(OpBuilder &builder, func::FuncOp function, const host::Recurrence &r, Type element,
               bool hasPeepholes) {
  enum { In, Out, Forget, Fresh, FirstPeephole };
  const unsigned memory = hasPeepholes ? FirstPeephole + 3 : FirstPeephole;
  auto gate = [&](Formula &f, unsigned number, unsigned peephole) {
    Value value = f.read(number);
    return hasPeepholes ? f.add(value, f.mul(f.read(FirstPeephole + peephole), f.read(memory)))
                        : value;
  };
  {
    Formula f(r, element);
    Value in = gate(f, In, 0), fresh = f.clipped(f.read(Fresh)), added, forget;
    if (r.inputForget) {
      Value open = f.activate(in, 0);
      added = f.mul(open, f.apply(fresh, 1));
      forget = f.sub(f.number(1), open);
    } else {
      added = f.activatedProduct(in, 0, fresh, 1);
      forget = f.activate(gate(f, Forget, 2), 0);
    }
    f.store(builder, function, f.add(f.mul(forget, f.read(memory)), added), memory);
  }
  Formula f(r, element);
  // `clip` limits gates and not the state, as ONNX Runtime has it.
  Value next = f.activatedProduct(gate(f, Out, 1), 0, f.read(memory), 2);
  f.store(builder, function, next, memory + 1);
}

void buildGru(OpBuilder &builder, func::FuncOp function, const host::Recurrence &r, Type element) {
  Formula f(r, element);
  unsigned number = 0;
  Value update = f.activate(f.read(number++), 0), fresh;
  if (r.linearBeforeReset) {
    Value reset = f.activate(f.read(number++), 0), data = f.read(number++);
    fresh = f.add(data, f.mul(reset, f.read(number++)));
  } else {
    fresh = f.read(number++);
  }
  fresh = f.activate(fresh, 1);
  Value kept = f.mul(update, f.read(number++));
  f.store(builder, function, f.add(f.mul(f.sub(f.number(1), update), fresh), kept), number);
}

} // namespace

bool generateCell(graph::HostCallOp call, CallFunctions &functions) {
  host::Recurrence r;
  if (!host::Recurrence::isKernel(call.getKernel()) || !r.readCell(call).empty() ||
      !host::hasInputs(call, 3))
    return false;
  // One code is for both directions.
  for (int64_t i = r.functionsPerDirection; i < int64_t(r.functions.size()); ++i) {
    const host::CellFunction &own = r.functions[i];
    const host::CellFunction &first = r.functions[i - r.functionsPerDirection];
    if (own.kind != first.kind || own.alpha != first.alpha || own.beta != first.beta)
      return false;
  }
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(call.getInputs()[0]));
  // The hyperbolic tangent of f64 has no code; the host kernel has its own.
  if (!element || element.isF64())
    return false;
  OpBuilder builder(call.getContext());
  if (element.getWidth() < 32)
    element = builder.getF32Type();
  const bool hasPeepholes = host::inputsOf(call, 8)[7] != nullptr;
  const unsigned count = countBuffers(r, hasPeepholes);
  assert(count <= kernels::kCellBuffers && "the kernel has room for all buffers");
  func::FuncOp function =
      functions.make(SmallVector<Type>(count, MemRefType::get({kernels::kCellUnits}, element)));
  setAliasing(function, count);
  builder.setInsertionPointToStart(&function.getBody().front());
  if (r.cell == Cell::Lstm) {
    buildLstm(builder, function, r, element, hasPeepholes);
  } else if (r.cell == Cell::Gru) {
    buildGru(builder, function, r, element);
  } else {
    Formula f(r, element);
    f.store(builder, function, f.activate(f.read(0), 0), 1);
  }
  functions.add(function, call.getKernel().lower(), call);
  return true;
}

} // namespace atc::cpu
