//===-- Placeholder.cpp - a number that stands for a dynamic dim ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Placeholder.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "frontends/Tensors.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace atc {

void forEachStored(StringRef raw, unsigned width, llvm::function_ref<void(int64_t)> visit) {
  for (; raw.size() >= width; raw = raw.drop_front(width))
    visit(width == 8 ? llvm::support::endian::read64le(raw.data())
                     : static_cast<int32_t>(llvm::support::endian::read32le(raw.data())));
}

/// Constants of more elements are no positions.
constexpr int64_t maxPositions = 1 << 24;

int64_t
choosePlaceholder(llvm::function_ref<void(llvm::function_ref<void(int64_t)>)> forEachNumber) {
  // Large enough that products of other sizes are no multiples by chance, small enough for a
  // constant with this many rows.
  SmallVector<int64_t> primes = {10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079};
  forEachNumber([&](int64_t number) {
    if (number != 0)
      llvm::erase_if(primes, [&](int64_t prime) { return number % prime == 0; });
  });
  return primes.empty() ? 0 : primes.front();
}

OwningOpRef<ModuleOp> importTiles(MLIRContext &context, const DynamicDim &dim,
                                  llvm::function_ref<FailureOr<OwningOpRef<ModuleOp>>()> import,
                                  llvm::function_ref<bool(ModuleOp)> makeTiles,
                                  const Diagnostics &trial) {
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
  FailureOr<OwningOpRef<ModuleOp>> module = import();
  if (failed(module)) {
    auto isError = [](const CodedMessage &message) { return message.isError; };
    if (auto error = llvm::find_if(trial.all(), isError); error != trial.all().end())
      remark::missed(UnknownLoc::get(&context),
                     remark::RemarkOpts::name("NotTiled").category("host-tile-dynamic-dim"))
          << remark::add("not tiled along dynamic dim '{0}': {1}", dim.name, error->text);
    return {};
  }
  Builder builder(&context);
  (**module)->setAttr(graph::kDynamicDimAttr, builder.getStringAttr(dim.name));
  (**module)->setAttr(graph::kDynamicDimSizeAttr, builder.getI64IntegerAttr(dim.size));
  if (makeTiles(**module))
    return std::move(*module);
  // The constants are read once more for the dynamic graph.
  (*module)->getBody()->clear();
  graph::releaseUnusedConstants(**module);
  return {};
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  ElementsAttr attr;
  if (!value || !matchPattern(value, m_Constant(&attr)) ||
      !isa<IntegerType>(attr.getElementType()) || attr.getNumElements() > maxSizes)
    return std::nullopt;
  return readInts(attr);
}

unsigned PlaceholderRules::numGrowing(Value value) const {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type ? llvm::count_if(type.getShape(), [&](int64_t dim) { return isMultiple(dim); }) : 0;
}

/// Returns the largest integer of the type of `value`.
static double maxSizeOf(Value value) {
  const unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return static_cast<double>(width > 32 ? INT64_MAX : INT32_MAX);
}

/// Returns why inputs that hold sizes stand where they lose their meaning; empty where they do not.
std::string PlaceholderRules::whyNoSize(const SizeNode &node) const {
  const StringRef op = node.kind;
  const ArrayRef<Value> inputs = node.inputs;
  auto isSize = [&](size_t index) {
    return index < inputs.size() && sizes.contains(inputs[index]);
  };
  auto onlyAt = [&](std::initializer_list<size_t> allowed) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (isSize(i) && !llvm::is_contained(allowed, i))
        return false;
    return true;
  };
  const bool isKnown =
      llvm::StringSwitch<bool>(op)
          .Cases({"Concat", "Mul", "Div", "Equal"}, true)
          .Cases({"Shape", "Size"}, true) // They read no elements.
          .Cases({"Gather", "Squeeze", "Unsqueeze", "Cast", "Identity", "Split"}, onlyAt({0}))
          .Case("Reshape", onlyAt({0, 1}))
          .Case("Slice", onlyAt({0, 2}))
          .Case("ConvBackpropInput", onlyAt({0}))
          .Case("ConstantOfShape", onlyAt({0}))
          .Cases({"Expand", "Tile"}, onlyAt({1}))
          .Case("Where", onlyAt({1, 2}))
          .Case("Resize", onlyAt({3}))
          .Case("ReduceProd", onlyAt({0}))
          .Case("Range", onlyAt({1}))
          .Default(false);
  if (!isKnown)
    return "computes with the size of a dynamic dim";
  auto fits = [&](double number) { return number >= 0 && number <= maxSizeOf(inputs[0]); };
  const std::string tooLarge = "multiplies the size of a dynamic dim beyond its type";
  // Counts that a step or a start other than these would round or shorten.
  if (op == "Range")
    return inputs.size() == 3 && constantInts(inputs[0]) == SmallVector<int64_t>{0} &&
                   constantInts(inputs[2]) == SmallVector<int64_t>{1}
               ? ""
               : "counts to the size of a dynamic dim from or by another number";
  if (op == "ReduceProd") {
    auto numbers = constantInts(inputs[0]);
    const bool isOne = numbers && llvm::count_if(*numbers, [&](int64_t number) {
                                    return isMultiple(number);
                                  }) == 1;
    if (!isOne)
      return "multiplies the size of a dynamic dim by itself";
    double product = 1;
    for (int64_t number : *numbers) {
      if (!fits(number))
        return tooLarge;
      product *= number;
    }
    return fits(product) ? "" : tooLarge;
  }
  if (op == "ConvBackpropInput") {
    // The first size is the batch of the gradient, which is the last input.
    auto numbers = constantInts(inputs[0]);
    auto type = dyn_cast<RankedTensorType>(inputs.back() ? inputs.back().getType() : Type());
    const bool isBatch = numbers && type && type.getRank() > 0 &&
                         numbers->size() == static_cast<size_t>(type.getRank()) &&
                         numbers->front() == type.getDimSize(0) &&
                         llvm::none_of(llvm::drop_begin(*numbers),
                                       [&](int64_t number) { return isMultiple(number); });
    return isBatch ? "" : "computes with the size of a dynamic dim";
  }
  if (op != "Mul" && op != "Div" && op != "Equal")
    return "";
  // Element by element where there are as many, else one against all.
  auto lhs = constantInts(inputs[0]), rhs = constantInts(inputs[1]);
  if (!lhs || !rhs || lhs->empty() || rhs->empty())
    return "computes with the size of a dynamic dim";
  const size_t count = std::max(lhs->size(), rhs->size());
  if ((lhs->size() != count && lhs->size() != 1) || (rhs->size() != count && rhs->size() != 1))
    return "computes with the size of a dynamic dim";
  for (size_t i = 0; i < count; ++i) {
    const int64_t a = (*lhs)[lhs->size() == 1 ? 0 : i], b = (*rhs)[rhs->size() == 1 ? 0 : i];
    const bool first = isMultiple(a), second = isMultiple(b);
    if (!first && !second)
      continue;
    if (op == "Mul" && first && second)
      return "multiplies the size of a dynamic dim by itself";
    if (op == "Mul" && !fits(static_cast<double>(a) * static_cast<double>(b)))
      return tooLarge;
    if (op == "Div" && (second || b <= 0 || a % b != 0 || !isMultiple(a / b)))
      return "divides the size of a dynamic dim with a remainder";
    // A size is never negative.
    if (op == "Equal" && (first ? b : a) >= 0)
      return "compares the size of a dynamic dim";
  }
  return "";
}

Value PlaceholderRules::foldPositions(const SizeNode &node, Value value) const {
  auto isKnown = [&](Value input) { return input && positions.contains(input); };
  if (!value || matchPattern(value, m_Constant()) || llvm::none_of(node.inputs, isKnown))
    return value;
  std::function<Value(Value)> fold = [&](Value value) -> Value {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Operation *op = value.getDefiningOp();
    if (matchPattern(value, m_Constant()))
      return value;
    if (!op || !type || !type.hasStaticShape() || type.getNumElements() > maxPositions ||
        op->getNumResults() != 1 || op->hasTrait<graph::RunsOnHost>())
      return {};
    SmallVector<graph::Tensor> tensors;
    for (Value operand : op->getOperands()) {
      ElementsAttr attr;
      if (Value known = fold(operand))
        matchPattern(known, m_Constant(&attr));
      FailureOr<graph::Tensor> tensor = failure();
      if (attr)
        tensor = graph::Tensor::fromAttribute(attr);
      if (failed(tensor))
        return {};
      tensors.push_back(std::move(*tensor));
    }
    auto pointers = llvm::map_to_vector(tensors, [](const graph::Tensor &t) { return &t; });
    SmallVector<graph::Tensor, 1> results;
    std::string error;
    if (failed(graph::evaluate(op, pointers, results, &error)))
      return {};
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    return graph::ConstantOp::create(builder, op->getLoc(),
                                     std::move(results[0]).toAttribute(type, "positions"));
  };
  Value folded = fold(value);
  return folded ? folded : value;
}

/// Returns whether share n of `value` along `dim` is the first one and n steps, none of which is
/// computed from the size: 0, 1, 2 ... and what linear arithmetic makes of it.
bool PlaceholderRules::hasEqualSteps(ElementsAttr value, int64_t dim) const {
  if (!isa<IntegerType>(value.getElementType()) || value.getNumElements() > maxPositions)
    return false;
  const ArrayRef<int64_t> shape = value.getShapedType().getShape();
  const int64_t block = ShapedType::getNumElements(shape.drop_front(dim)), share = block / size;
  const SmallVector<int64_t> numbers = readInts(value);
  for (size_t begin = 0; begin < numbers.size(); begin += block)
    for (int64_t i = 0; i < share; ++i) {
      const int64_t *first = &numbers[begin + i], step = first[share] - first[0];
      if (isMultiple(first[0]) || isMultiple(step))
        return false;
      for (int64_t n = 2; n < size; ++n)
        if (first[n * share] != first[0] + n * step)
          return false;
    }
  return true;
}

/// Returns why inputs with positions stand where they lose their meaning for some size; empty where
/// they do not.
std::string PlaceholderRules::whyNoPosition(const SizeNode &node) const {
  const StringRef op = node.kind;
  if (op == "Shape" || op == "Size")
    return "";
  const bool isLinear =
      llvm::StringSwitch<bool>(op)
          .Cases({"Add", "Sub", "Mul", "Unsqueeze", "Squeeze", "Reshape", "Flatten"}, true)
          .Cases({"Expand", "Cast", "Identity", "Concat", "Max", "Min"}, true)
          .Default(false);
  for (auto [index, input] : llvm::enumerate(node.inputs)) {
    if (!input)
      continue;
    if (shapesOnly.contains(input))
      return "reads a constant that differs along a dynamic dim";
    // A table has no rows for some sizes.
    const bool isIndex =
        index == 1 && (op == "Gather" || op == "GatherND") && grows(node.inputs[0]);
    if (positions.contains(input) && !isLinear && !isIndex)
      return "computes with positions in a dynamic dim";
  }
  return "";
}

std::string PlaceholderRules::whyRefused(const SizeNode &node) const {
  const ArrayRef<Value> inputs = node.inputs;
  if (std::string why = whyNoPosition(node); !why.empty())
    return why;
  if (llvm::any_of(inputs, [&](Value input) { return input && sizes.contains(input); }))
    if (std::string why = whyNoSize(node); !why.empty())
      return why;
  const bool hasEnds = node.kind == "Slice" && inputs.size() > 2 && sizes.contains(inputs[2]);
  if (inputs.empty() || (!grows(inputs[0]) && !hasEnds))
    return "";
  // Operators that depend on whether a dim is 1, or on which of two sizes is smaller.
  auto type = cast<RankedTensorType>(inputs[0].getType());
  if (node.kind == "Squeeze" && !node.parameter("axes", 1))
    return "drops the dynamic dim where its size is 1";
  if (node.kind == "Slice") {
    auto starts = node.parameter("starts", 1), ends = node.parameter("ends", 2),
         axes = node.parameter("axes", 3), steps = node.parameter("steps", 4);
    if (!starts || !ends)
      return "slices at bounds that are computed";
    for (size_t i = 0; i < starts->size(); ++i) {
      const bool complete = i < ends->size() && (!axes || i < axes->size());
      int64_t axis = !complete ? -1 : axes ? (*axes)[i] : static_cast<int64_t>(i);
      axis += axis < 0 ? type.getRank() : 0;
      if (!complete || axis < 0 || axis >= type.getRank())
        return "has starts, ends and axes that do not fit";
      // Exporters write the largest integer for "to the end", or compute the size of the dim.
      const int64_t size = type.getDimSize(axis), end = (*ends)[i];
      const bool isWhole = (*starts)[i] == 0 &&
                           (end >= INT32_MAX || (hasEnds && isMultiple(end) && end == size)) &&
                           (!steps || (i < steps->size() && (*steps)[i] == 1));
      if ((isMultiple(size) || (hasEnds && isMultiple(end))) && !isWhole)
        return "takes some of the elements of a dynamic dim";
    }
  }
  return "";
}

std::string PlaceholderRules::whyUnsound(const SizeNode &node, ArrayRef<Value> outputs) {
  const ArrayRef<Value> inputs = node.inputs;
  const bool isShape = node.kind == "Shape" || node.kind == "Size";
  const bool hasSizes =
      isShape || llvm::any_of(inputs, [&](Value input) { return input && sizes.contains(input); });
  // Of a value that has lost a dynamic dim, any dim may depend on it in any way.
  const bool isDerived =
      llvm::any_of(inputs, [&](Value input) { return input && derived.contains(input); });
  unsigned maxGrowing = 0;
  for (Value input : inputs)
    maxGrowing = std::max(maxGrowing, numGrowing(input));
  auto isGrowingConstant = [&](Value value) {
    return value && grows(value) && matchPattern(value, m_Constant());
  };
  const bool fromGrowing = llvm::any_of(inputs, isGrowingConstant);
  const bool hasPositions =
      llvm::any_of(inputs, [&](Value input) { return positions.contains(input); });
  for (Value output : outputs) {
    ElementsAttr attr;
    if (!output)
      continue;
    if (!matchPattern(output, m_Constant(&attr))) {
      if (isDerived || numGrowing(output) < maxGrowing)
        derived.insert(output);
      continue;
    }
    if (isDerived)
      return "computes a constant from a dim that depends on a dynamic one";
    if (grows(output)) {
      // Which of two numbers is larger depends on the position.
      if (hasPositions && (node.kind == "Max" || node.kind == "Min")) {
        shapesOnly.insert(output);
        continue;
      }
      for (auto [dim, length] : llvm::enumerate(attr.getShapedType().getShape())) {
        if (!isMultiple(length) || graph::hasEqualShares(attr, dim, size))
          continue;
        if ((!hasPositions && node.kind != "Range") || !hasEqualSteps(attr, dim))
          return "makes a constant that differs along a dynamic dim";
        positions.insert(output);
      }
      continue;
    }
    if (fromGrowing && !isShape)
      return "computes a constant from all indices of a dynamic dim";
    if (!hasSizes)
      continue;
    auto numbers = constantInts(output);
    // Sizes are lost in narrow integers.
    const bool isNarrow = attr.getElementType().getIntOrFloatBitWidth() < 32;
    if (!numbers || (isNarrow && node.kind != "Equal"))
      return "computes with the size of a dynamic dim";
    if (node.kind == "Size" && maxGrowing > 0 && !isMultiple(numbers->front()))
      return "counts more elements than its type can hold";
    if (llvm::any_of(*numbers, [&](int64_t number) { return isMultiple(number); }))
      sizes.insert(output);
  }
  return "";
}

} // namespace atc
