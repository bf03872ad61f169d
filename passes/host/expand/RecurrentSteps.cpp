//===-- RecurrentSteps.cpp - one step of an RNN, GRU or LSTM --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/expand/RecurrentSteps.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {

using graph::HostCallOp;

//===----------------------------------------------------------------------===//
// Activation functions
//===----------------------------------------------------------------------===//

std::optional<CellFunction> CellFunction::named(StringRef name) {
#define CELL_FUNCTION(Name, TakesAlpha, TakesBeta, Alpha, Beta)                                    \
  if (name.equals_insensitive(#Name))                                                              \
    return CellFunction{Name, TakesAlpha, TakesBeta, Alpha, Beta};
#include "kernels/core/CellFunctions.def"
  return std::nullopt;
}

Value CellFunction::apply(OpBuilder &builder, Location loc, Value x) const {
  auto scaled = [&](Value value, double factor) -> Value {
    auto type = RankedTensorType::get({}, graph::getTensorType(value).getElementType());
    return graph::MulOp::create(builder, loc, value,
                                graph::createConstant(builder, loc, type, factor));
  };
  auto parameter = [&](double value) { return builder.getF64FloatAttr(value); };
  Type type = x.getType();
  switch (kind) {
  case Relu:
    return graph::ReluOp::create(builder, loc, x);
  case Tanh:
    return graph::TanhOp::create(builder, loc, x);
  case Sigmoid:
    return graph::SigmoidOp::create(builder, loc, x);
  case Affine: {
    auto scalar = RankedTensorType::get({}, graph::getTensorType(x).getElementType());
    return graph::AddOp::create(builder, loc, scaled(x, alpha),
                                graph::createConstant(builder, loc, scalar, beta));
  }
  case LeakyRelu:
    return graph::LeakyReluOp::create(builder, loc, type, x, parameter(alpha));
  case ThresholdedRelu:
    return graph::ThresholdedReluOp::create(builder, loc, type, x, parameter(alpha));
  case ScaledTanh:
    return scaled(graph::TanhOp::create(builder, loc, scaled(x, beta)), alpha);
  case HardSigmoid:
    return graph::HardSigmoidOp::create(builder, loc, type, x, parameter(alpha), parameter(beta));
  case Elu:
    return graph::EluOp::create(builder, loc, type, x, parameter(alpha));
  case Softsign:
    return graph::SoftsignOp::create(builder, loc, x);
  case Softplus:
    return graph::SoftplusOp::create(builder, loc, x);
  }
  assert(false && "all kinds return");
  return x;
}

//===----------------------------------------------------------------------===//
// Reading a call
//===----------------------------------------------------------------------===//

bool Recurrence::isKernel(StringRef kernel) {
  return kernel == "RNN" || kernel == "GRU" || kernel == "LSTM";
}

std::string Recurrence::readFunctions(HostCallOp call) {
  auto names = call.getParameters().getAs<ArrayAttr>("activations");
  auto single = call.getParameters().getAs<StringAttr>("activations");
  auto numbers = [&](StringRef name) {
    auto list = call.getParameters().getAs<DenseF64ArrayAttr>(name);
    return list ? list.asArrayRef() : ArrayRef<double>();
  };
  ArrayRef<double> alphas = numbers("activation_alpha"), betas = numbers("activation_beta");
  const int64_t count = functionsPerDirection * directions;
  if (names && int64_t(names.size()) != count)
    return "it has another number of activations";
  for (int64_t i = 0; i < count; ++i) {
    std::optional<CellFunction> function;
    if (names || single) {
      auto name = names ? dyn_cast<StringAttr>(names[i]) : single;
      function = name ? CellFunction::named(name.getValue()) : std::nullopt;
    } else {
      const bool isGate = i % functionsPerDirection == 0 && cell != Cell::Rnn;
      function = CellFunction::named(isGate ? "Sigmoid" : "Tanh");
    }
    if (!function)
      return "one of its activations is unknown";
    if (function->hasAlpha && !alphas.empty())
      function->alpha = alphas.consume_front();
    if (function->hasBeta && !betas.empty())
      function->beta = betas.consume_front();
    functions.push_back(*function);
  }
  return "";
}

std::string Recurrence::readConstants() {
  auto hasShape = [&](ElementsAttr constant, ArrayRef<int64_t> shape) {
    return constant && constant.getShapedType().getShape() == shape &&
           succeeded(graph::ConstantBytes::get(constant));
  };
  inputWeights = graph::getConstant(inputs[1]);
  stateWeights = graph::getConstant(inputs[2]);
  if (!hasShape(inputWeights, {directions, gates * hidden, features}) ||
      !hasShape(stateWeights, {directions, gates * hidden, hidden}))
    return "its weights are no constants";
  auto read = [&](unsigned input, int64_t count, SmallVector<double> &values) {
    if (!inputs[input])
      return true;
    std::optional<SmallVector<double>> found = graph::getVectorConstant(inputs[input]);
    if (!found || int64_t(found->size()) != directions * count)
      return false;
    values = std::move(*found);
    return true;
  };
  if (!read(3, 2 * gates * hidden, bias) || !read(7, 3 * hidden, peepholes))
    return "its biases or peepholes are no constants";
  if (!inputs[4])
    return "";
  RankedTensorType type = graph::getTensorType(inputs[4]);
  if (type.getShape() != ArrayRef<int64_t>{batch} || !isa<IntegerType>(type.getElementType()))
    return "the lengths of its sequences have another shape or type";
  if (graph::getScalarConstant(inputs[4]) != double(steps))
    lengths = inputs[4];
  return "";
}

std::string Recurrence::readCell(HostCallOp call) {
  cell = call.getKernel() == "RNN" ? Cell::Rnn : call.getKernel() == "GRU" ? Cell::Gru : Cell::Lstm;
  gates = cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 3 : 4;
  functionsPerDirection = std::min<int64_t>(gates, 3) - (cell == Cell::Gru);
  batchFirst = integerOf(call, "layout", 0) != 0;
  inputForget = integerOf(call, "input_forget", 0) != 0;
  linearBeforeReset = integerOf(call, "linear_before_reset", 0) != 0;
  clip = numberOf(call, "clip", 0);
  auto direction = call.getParameters().getAs<StringAttr>("direction");
  backwardOnly = direction && direction.getValue() == "reverse";
  directions = direction && direction.getValue() == "bidirectional" ? 2 : 1;
  return readFunctions(call);
}

std::string Recurrence::read(HostCallOp call, int64_t maxSteps) {
  if (std::string why = readCell(call); !why.empty())
    return why;
  inputs = inputsOf(call, 8);
  for (unsigned i = 0; i < 8; ++i) {
    if (i < 3 && !inputs[i])
      return "an input is missing";
    auto type = inputs[i] ? dyn_cast<RankedTensorType>(inputs[i].getType()) : RankedTensorType();
    if (inputs[i] && (!type || !type.hasStaticShape()))
      return "the shape of an input is not known";
  }
  if (call.getParameters().contains("packed"))
    return "its weights are in the order of the host kernel";
  RankedTensorType x = graph::getTensorType(inputs[0]), r = graph::getTensorType(inputs[2]);
  if (x.getRank() != 3 || r.getRank() != 3)
    return "its inputs have other ranks";
  if (!x.getElementType().isF32() && !x.getElementType().isF16())
    return "its elements are no f32 or f16";
  steps = x.getDimSize(batchFirst);
  batch = x.getDimSize(!batchFirst);
  features = x.getDimSize(2);
  hidden = r.getDimSize(2);
  if (steps * directions > maxSteps)
    return "it has " + std::to_string(steps * directions) + " steps, more than " +
           std::to_string(maxSteps);
  if (steps == 0 || batch == 0 || features == 0 || hidden == 0)
    return "it has no elements";
  if (std::string why = readConstants(); !why.empty())
    return why;
  // The types of the results are those that the steps have.
  SmallVector<int64_t> all{steps, directions, batch, hidden}, state{directions, batch, hidden};
  if (batchFirst) {
    all = {batch, steps, directions, hidden};
    state = {batch, directions, hidden};
  }
  for (unsigned i : {5u, 6u})
    if (inputs[i] && graph::getTensorType(inputs[i]).getShape() != ArrayRef(state))
      return "its initial states have other shapes";
  for (unsigned i = 0; i < call.getNumResults(); ++i)
    if (call.getResult(i).getType() !=
        Type(RankedTensorType::get(i == 0 ? all : state, x.getElementType())))
      return "the shape of a result is not known";
  return "";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

StepBuilder::StepBuilder(OpBuilder &builder, Location loc, const Recurrence &recurrence,
                         int64_t direction)
    : builder(builder), loc(loc), r(recurrence), direction(direction),
      element(graph::getTensorType(recurrence.inputs[0]).getElementType()) {
  Value x = r.inputs[0];
  if (r.batchFirst)
    x = graph::TransposeOp::create(builder, loc, x, ArrayRef<int64_t>{1, 0, 2});
  auto rows = RankedTensorType::get({r.steps * r.batch, r.features}, element);
  x = graph::ReshapeOp::create(builder, loc, rows, x);
  // Where the reset gate scales the product of the state, its bias is scaled, too.
  const bool isApart = r.cell == Recurrence::Cell::Gru && r.linearBeforeReset;
  data = product(x, weights(r.inputWeights, 0, r.gates),
                 biasOf(0, r.gates, /*ofData=*/true, /*ofState=*/!isApart));
  if (isApart)
    stateBias = biasOf(0, r.gates, /*ofData=*/false, /*ofState=*/true);
  const bool isSplit = r.cell == Recurrence::Cell::Gru && !r.linearBeforeReset;
  stateFilter = weights(r.stateWeights, 0, isSplit ? 2 : r.gates);
  if (isSplit)
    lastFilter = weights(r.stateWeights, 2, 1);
  if (!r.peepholes.empty())
    for (int64_t gate = 0; gate < 3; ++gate)
      peepholes.push_back(peephole(gate));
}

std::pair<Value, Value> StepBuilder::advance(int64_t time, Value h, Value c) {
  Value now = graph::SliceOp::create(builder, loc, data, ArrayRef<int64_t>{time * r.batch, 0},
                                     ArrayRef<int64_t>{r.batch, r.gates * r.hidden},
                                     ArrayRef<int64_t>{1, 1});
  switch (r.cell) {
  case Recurrence::Cell::Rnn:
    return {advanceRnn(now, h), Value()};
  case Recurrence::Cell::Gru:
    return {advanceGru(now, h), Value()};
  case Recurrence::Cell::Lstm:
    return advanceLstm(now, h, c);
  }
  return {};
}

Value StepBuilder::advanceRnn(Value now, Value h) {
  return activate(h ? add(product(h, stateFilter), now) : now, 0);
}

Value StepBuilder::advanceGru(Value now, Value h) {
  Value state, update, reset, fresh;
  if (r.linearBeforeReset) {
    // Zeros times the weights leave the bias.
    state = h ? product(h, stateFilter, stateBias) : Value();
    auto stateOf = [&](int64_t index) -> Value {
      return state ? gate(state, index) : biasOf(index, 1, /*ofData=*/false, /*ofState=*/true);
    };
    update = activate(add(gate(now, 0), stateOf(0)), 0);
    reset = activate(add(gate(now, 1), stateOf(1)), 0);
    fresh = activate(add(gate(now, 2), mul(reset, stateOf(2))), 1);
  } else {
    state = h ? add(product(h, stateFilter), gate(now, 0, 2)) : now;
    update = activate(gate(state, 0), 0);
    fresh = gate(now, 2);
    if (h) {
      reset = activate(gate(state, 1), 0);
      fresh = add(product(mul(reset, h), lastFilter), fresh);
    }
    fresh = activate(fresh, 1);
  }
  return add(mul(oneMinus(update), fresh), mul(update, h));
}

std::pair<Value, Value> StepBuilder::advanceLstm(Value now, Value h, Value c) {
  Value all = h ? add(product(h, stateFilter), now) : now;
  auto wide = [&](Value state) { return joinsStates() ? twice(state) : state; };
  Value in = wide(gate(all, 0)), out = wide(gate(all, 1)), forget = wide(gate(all, 2));
  c = wide(c);
  if (!peepholes.empty()) {
    in = add(in, mul(peepholes[0], c));
    forget = add(forget, mul(peepholes[2], c));
  }
  in = activate(in, 0);
  forget = r.inputForget ? oneMinus(in) : activate(forget, 0);
  Value next = add(mul(in, activate(wide(gate(all, 3)), 1)), mul(forget, c));
  if (!peepholes.empty())
    out = add(out, mul(peepholes[1], next));
  Value output = mul(activate(out, 0), apply(next, 2));
  if (!joinsStates())
    return {output, next};
  joined = join(next, output);
  auto part = [&](int64_t index) {
    Value state =
        graph::SliceOp::create(builder, loc, joined, ArrayRef<int64_t>{index, 0, 0},
                               ArrayRef<int64_t>{1, r.batch, r.hidden}, ArrayRef<int64_t>{1, 1, 1});
    auto type = RankedTensorType::get({r.batch, r.hidden}, element);
    return graph::ReshapeOp::create(builder, loc, type, state).getResult();
  };
  return {part(1), part(0)};
}

bool StepBuilder::joinsStates() const {
  constexpr int64_t kMaxElements = 8192;
  if (r.cell != Recurrence::Cell::Lstm || r.lengths || r.batch * r.hidden > kMaxElements)
    return false;
  // Zero times the other state must be zero: both are finite.
  auto isBounded = [](const CellFunction &function) {
    return function.kind == CellFunction::Tanh || function.kind == CellFunction::Sigmoid ||
           function.kind == CellFunction::HardSigmoid || function.kind == CellFunction::Softsign;
  };
  return llvm::all_of(r.functions, isBounded) &&
         (!r.inputs[6] || r.inputs[6].getDefiningOp<graph::ConstantOp>());
}

Value StepBuilder::twice(Value state) {
  if (!state)
    return {};
  auto type = RankedTensorType::get({1, r.batch, r.hidden}, element);
  Value zeros = graph::createConstant(builder, loc, RankedTensorType::get({2, 1, 1}, element), 0.0);
  return add(graph::ReshapeOp::create(builder, loc, type, state), zeros);
}

Value StepBuilder::join(Value first, Value second) {
  auto mask = [&](double a, double b) {
    return graph::createConstant(builder, loc, RankedTensorType::get({2, 1, 1}, element),
                                 ArrayRef<double>{a, b});
  };
  return add(mul(mask(1, 0), first), mul(mask(0, 1), second));
}

Value StepBuilder::weights(ElementsAttr all, int64_t first, int64_t count) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(all);
  assert(succeeded(bytes) && "read() has looked");
  ArrayRef<char> from = bytes->expanded();
  const int64_t depth = all.getShapedType().getShape().back();
  const int64_t row = depth * graph::getElementBytes(element);
  from = from.slice((direction * r.gates + first) * r.hidden * row, count * r.hidden * row);
  auto type = RankedTensorType::get({count * r.hidden, depth}, element);
  return graph::ConstantOp::create(
      builder, loc,
      graph::makeConstant(type, std::vector<char>(from.begin(), from.end()), "gates"));
}

Value StepBuilder::biasOf(int64_t first, int64_t count, bool ofData, bool ofState) {
  if (r.bias.empty())
    return {};
  const int64_t width = r.gates * r.hidden;
  const double *own = r.bias.data() + direction * 2 * width + first * r.hidden;
  SmallVector<double> values;
  for (int64_t i = 0; i < count * r.hidden; ++i)
    values.push_back((ofData ? own[i] : 0) + (ofState ? own[width + i] : 0));
  return graph::createConstant(builder, loc, RankedTensorType::get(count * r.hidden, element),
                               values);
}

Value StepBuilder::peephole(int64_t gate) {
  ArrayRef<double> own = ArrayRef(r.peepholes).slice((direction * 3 + gate) * r.hidden, r.hidden);
  return graph::createConstant(builder, loc, RankedTensorType::get({1, r.hidden}, element), own);
}

Value StepBuilder::product(Value x, Value filter, Value bias) {
  return graph::FullyConnectedOp::create(builder, loc, x, filter, bias, graph::ActivationAttr());
}

Value StepBuilder::gate(Value all, int64_t first, int64_t count) {
  return graph::SliceOp::create(builder, loc, all, ArrayRef<int64_t>{0, first * r.hidden},
                                ArrayRef<int64_t>{r.batch, count * r.hidden},
                                ArrayRef<int64_t>{1, 1});
}

Value StepBuilder::activate(Value x, int64_t function) {
  if (r.clip > 0)
    x = graph::ClipOp::create(builder, loc, x.getType(), x, builder.getF64FloatAttr(-r.clip),
                              builder.getF64FloatAttr(r.clip));
  return apply(x, function);
}

Value StepBuilder::apply(Value x, int64_t function) {
  return r.functions[direction * r.functionsPerDirection + function].apply(builder, loc, x);
}

Value StepBuilder::add(Value a, Value b) {
  return !a ? b : !b ? a : Value(graph::AddOp::create(builder, loc, a, b));
}

Value StepBuilder::mul(Value a, Value b) {
  return a && b ? Value(graph::MulOp::create(builder, loc, a, b)) : Value();
}

Value StepBuilder::oneMinus(Value a) {
  auto scalar = RankedTensorType::get({}, element);
  return graph::SubOp::create(builder, loc, graph::createConstant(builder, loc, scalar, 1.0), a);
}

} // namespace atc::host
