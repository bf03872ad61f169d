//===-- ExpandDropout.cpp - dropouts by masks from counters ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace atc::train {
#define GEN_PASS_DEF_TRAINEXPANDDROPOUT
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;
using graph::ComparePredicate;

namespace {

/// Arithmetic on tensors of ui32, modulo 2^32.
class Words {
public:
  explicit Words(const GraphMath &g)
      : g(g), type(IntegerType::get(g.builder.getContext(), 32, IntegerType::Unsigned)) {}

  Value constant(ArrayRef<int64_t> shape, ArrayRef<uint32_t> values) const {
    auto numbers = llvm::map_to_vector(
        values, [&](uint32_t value) -> Attribute { return IntegerAttr::get(type, value); });
    return g.make<graph::ConstantOp>(
        cast<ElementsAttr>(DenseElementsAttr::get(RankedTensorType::get(shape, type), numbers)));
  }
  Value scalar(uint32_t value) const { return constant({}, {value}); }
  Value bitXor(Value a, Value b) const { return g.make<graph::XorOp>(a, b); }
  Value fromFloat(Value value) const { return g.cast(value, type); }

  /// Returns a bijective hash: each bit of the value changes each bit of the result with a
  /// probability near one half. The constants are those of the hash "lowbias32" by C. Wellons.
  Value mix(Value value) const {
    for (auto [shift, factor] : {std::pair(16u, 0x21f0aaadu), std::pair(15u, 0xd35a2d97u)})
      value = g.mul(xorShift(value, shift), scalar(factor));
    return xorShift(value, 15);
  }

private:
  Value xorShift(Value value, unsigned bits) const {
    return bitXor(value, g.div(value, scalar(uint32_t(1) << bits)));
  }

  const GraphMath &g;
  const Type type;
};

class ExpandDropout : public train::impl::TrainExpandDropoutBase<ExpandDropout> {
public:
  using TrainExpandDropoutBase::TrainExpandDropoutBase;
  void runOnOperation() override;

private:
  Value makeKey(const GraphMath &g);
  bool expand(graph::HostCallOp call, unsigned number);

  Value key; ///< of the run: a ui32 of rank 0
};

/// Returns the one float or bool of a constant of any storage; nothing for others.
std::optional<double> numberOf(Value value) {
  auto constant = value ? value.getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  if (!constant || typeOf(value).getNumElements() != 1)
    return std::nullopt;
  auto bytes = graph::ConstantBytes::get(constant.getValue());
  const Type element = typeOf(value).getElementType();
  if (failed(bytes))
    return std::nullopt;
  if (element.isF32())
    return bytes->as<float>()[0];
  if (element.isF64())
    return bytes->as<double>()[0];
  if (element.isInteger(1))
    return bytes->as<int8_t>()[0];
  return std::nullopt;
}

/// Adds the state of the random numbers and returns the key of the run.
Value ExpandDropout::makeKey(const GraphMath &g) {
  func::FuncOp main = getOperation();
  auto type = RankedTensorType::get({3}, g.builder.getF32Type());
  Value state = appendArgument(main, type, kRandom.str());
  const std::string next = kRandom.str() + ".next";
  Words words(g);
  Value mixed = words.scalar(0);
  for (int64_t part = 0; part < 3; ++part) {
    Value number = g.reshape(g.slice(state, {part}, {1}, {1}), {});
    mixed = words.mix(words.bitXor(mixed, words.fromFloat(number)));
  }
  Value one = g.floats(state, {3}, {0, 0, 1});
  // An f32 counts to 2^24; then the masks begin again.
  Value counted = g.add(state, one);
  Value isBelow = g.compare(counted, ComparePredicate::Lt, 16777216.0);
  appendResult(main, g.select(isBelow, counted, g.scalar(counted, 0)), next);
  main.setArgAttr(*findArgument(main, kRandom), kStatisticAttr, g.builder.getStringAttr(next));
  return mixed;
}

/// Returns the numbers of the elements of a tensor, modulo 2^32.
Value positionsOf(const GraphMath &g, const Words &words, ArrayRef<int64_t> shape) {
  // A vector per dim, which broadcast: the map that adds them reads no large constant.
  Value positions;
  uint32_t stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()); dim-- > 0;) {
    SmallVector<int64_t> along(shape.size() - dim, 1);
    along[0] = shape[dim];
    SmallVector<uint32_t> values;
    for (int64_t index = 0; index < shape[dim]; ++index)
      values.push_back(static_cast<uint32_t>(index) * stride);
    stride *= static_cast<uint32_t>(shape[dim]);
    Value part = words.constant(along, values);
    positions = positions ? g.add(positions, part) : part;
  }
  return positions ? positions : words.scalar(0);
}

bool ExpandDropout::expand(graph::HostCallOp call, unsigned number) {
  SmallVector<Value> inputs = call.inputsByPosition();
  auto type = dyn_cast<RankedTensorType>(inputs[0].getType());
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return true; // Without a gradient, which train-differentiate reports.
  const std::optional<double> mode =
      inputs.size() > 2 ? numberOf(inputs[2]) : std::optional<double>(0);
  const std::optional<double> ratio =
      inputs.size() > 1 && inputs[1] ? numberOf(inputs[1]) : std::optional<double>(0.5);
  if (!mode || !ratio)
    return true;
  if (!(*ratio >= 0 && *ratio < 1)) {
    call.emitError() << "E15006: the ratio of a dropout is " << *ratio
                     << ", but it must be at least 0 and less than 1: elements are dropped with "
                        "this probability";
    return false;
  }
  OpBuilder builder(call);
  GraphMath g(builder, derivedName(call.getLoc(), "mask"));
  Words words(g);
  Value result = inputs[0], keep;
  if (!drop || *mode == 0 || *ratio == 0) {
    keep = g.splat(RankedTensorType::get(type.getShape(), builder.getI1Type()), 1);
  } else {
    Value own = words.mix(words.bitXor(key, words.scalar(number * 0x9e3779b9u + 1)));
    Value positions = positionsOf(g, words, type.getShape());
    // Masks of two keys must not be shifted copies of each other: the key is used on both sides of
    // a hash.
    Value hash = words.mix(g.add(words.mix(words.bitXor(positions, own)), own));
    const auto threshold = static_cast<uint32_t>(std::min(std::ldexp(*ratio, 32), 4294967295.0));
    keep = g.compare(hash, ComparePredicate::Ge, words.scalar(threshold));
    GraphMath at(builder, call.getLoc());
    result = at.keepWhere(keep, at.mul(inputs[0], 1 / (1 - *ratio)));
  }
  call.getResult(0).replaceAllUsesWith(result);
  if (call.getNumResults() > 1)
    call.getResult(1).replaceAllUsesWith(keep);
  call.erase();
  ++numExpanded;
  return true;
}

void ExpandDropout::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!llvm::hasSingleElement(main.getBody()))
    return;
  SmallVector<graph::HostCallOp> calls;
  for (auto call : main.getOps<graph::HostCallOp>())
    if (call.getKernel() == "Dropout")
      calls.push_back(call);
  if (calls.empty())
    return;
  OpBuilder builder(&main.front(), main.front().begin());
  GraphMath g(builder, NameLoc::get(builder.getStringAttr(kRandom)));
  if (drop)
    key = makeKey(g);
  bool done = true;
  for (auto [number, call] : llvm::enumerate(calls))
    done &= expand(call, number);
  if (!done)
    signalPassFailure();
}

} // namespace
