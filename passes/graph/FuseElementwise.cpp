//===-- FuseElementwise.cpp - elementwise ops become fused maps -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Recomputed.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/DeepHash.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFUSEELEMENTWISE
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

ArrayRef<int64_t> getShape(Value value) { return getTensorType(value).getShape(); }

/// Returns true when the inputs alone broadcast to `shape`.
bool determineShape(ValueRange inputs, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  for (Value input : inputs) {
    auto both = broadcastShapes(result, getShape(input));
    if (!both)
      return false;
    result = *both;
  }
  return !inputs.empty() && ArrayRef<int64_t>(result) == shape;
}

/// The one element of a constant, as a constant of the scalar type.
TypedAttr getScalarAttr(Value value) {
  auto constant = dyn_cast_or_null<DenseElementsAttr>(getConstant(value));
  if (!constant || constant.empty() || (constant.getNumElements() != 1 && !constant.isSplat()))
    return {};
  Type type = getScalarType(constant.getElementType());
  if (isa<FloatType>(type))
    return FloatAttr::get(type, *constant.value_begin<APFloat>());
  if (isa<IntegerType>(type))
    return IntegerAttr::get(type, *constant.value_begin<APInt>());
  return {};
}

/// Builds a map: gathers inputs (equal ones once) and makes the body's arguments.
class MapBuilder {
public:
  MapBuilder(OpBuilder &builder, Location loc, RankedTensorType type)
      : body(builder), loc(loc), type(type), block(new Block) {
    body.setInsertionPointToEnd(block.get());
  }

  /// The body's argument for `input`.
  Value addInput(Value input) {
    auto [position, isNew] = positions.try_emplace(input, inputs.size());
    if (isNew) {
      inputs.push_back(input);
      block->addArgument(getScalarType(getTensorType(input).getElementType()), input.getLoc());
    }
    return block->getArgument(position->second);
  }

  Value addConstant(TypedAttr value) { return arith::ConstantOp::create(body, loc, value); }

  /// Copies the body of a map for `arguments` and returns its result.
  Value addBody(MapOp map, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(map.getBody().getArguments(), arguments);
    for (Operation &op : map.getBody().front().without_terminator())
      body.clone(op, mapping);
    return mapping.lookupOrDefault(getYield(map).getValue());
  }

  OpBuilder &getBody() { return body; }

  MapOp finish(OpBuilder &builder, Value result) {
    YieldOp::create(body, loc, result);
    removeDeadArguments();
    auto map = MapOp::create(builder, loc, type, inputs);
    map.getBody().push_back(block.release());
    return map;
  }

  static YieldOp getYield(MapOp map) {
    return cast<YieldOp>(map.getBody().front().getTerminator());
  }

private:
  /// Removes unused inputs, unless they determine the shape of the result.
  void removeDeadArguments() {
    for (unsigned i = inputs.size(); i-- > 0;) {
      if (!block->getArgument(i).use_empty())
        continue;
      SmallVector<Value> others(inputs);
      others.erase(others.begin() + i);
      if (!determineShape(others, type.getShape()))
        continue;
      inputs = others;
      block->eraseArgument(i);
    }
  }

  OpBuilder body;
  Location loc;
  RankedTensorType type;
  std::unique_ptr<Block> block;
  SmallVector<Value> inputs;
  llvm::DenseMap<Value, unsigned> positions;
};

struct FuseElementwise : atc::graph::impl::GraphFuseElementwiseBase<FuseElementwise> {
  using GraphFuseElementwiseBase::GraphFuseElementwiseBase;

  void runOnOperation() override {
    // A scalar formula has few ops, so that small functions have a bounded amount of code.
    constexpr unsigned opsPerFormula = 16;
    unsigned numOps = 0;
    getOperation().walk([&](Operation *op) { numOps += isa<ElementwiseOpInterface, MapOp>(op); });
    OwningOpRef<func::FuncOp> unfused;
    if (numOps > maxCode / opsPerFormula)
      unfused = cast<func::FuncOp>(getOperation()->clone());
    convertAll(/*inlineConstants=*/true);
    fuseAll();
    if (!unfused || countCode() <= maxCode)
      return;
    atc::remarkMissed(getArgument(), getOperation().getLoc(), "TooMuchCode") << remark::add(
        "the fused maps have more than {0} ops: constants stay operands, so that maps "
        "are shared, or maps stay single",
        maxCode.getValue());
    // Constants as operands make maps equal that differ in nothing else.
    OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>(unfused.get()->clone());
    getOperation().getBody().takeBody(copy->getBody());
    convertAll(/*inlineConstants=*/false);
    fuseAll();
    if (countCode() <= maxCode)
      return;
    getOperation().getBody().takeBody(unfused->getBody());
    convertAll(/*inlineConstants=*/false);
  }

  void convertAll(bool inlineConstants) {
    SmallVector<ElementwiseOpInterface> ops;
    getOperation().walk([&](ElementwiseOpInterface op) { ops.push_back(op); });
    for (ElementwiseOpInterface op : ops)
      convertToMap(op, inlineConstants);
  }

  void fuseAll() {
    readByMaps.clear();
    float32Nodes.emplace(getOperation());
    // In program order: a producer is complete before its consumers take it in.
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps)
      while (fuseOneProducer(map)) {
      }
  }

  /// Number of ops of all maps, of equal ones once, and one more per map: its loop is code, too.
  unsigned countCode() {
    llvm::DenseSet<size_t> known;
    unsigned count = 0;
    getOperation().walk([&](MapOp map) {
      auto hashType = [](Value value) { return hash_value(value.getType()); };
      if (known.insert(size_t(deepHash(map, hashType))).second)
        count += 1 + countOps(map);
    });
    return count;
  }

  /// Marks the map for an op that computes its value again, so that it is not taken for the first.
  static void keepRecomputed(Operation *op, MapOp map) {
    if (Attribute mark = op->getDiscardableAttr(kRecomputedAttr))
      map->setDiscardableAttr(kRecomputedAttr, mark);
  }

  /// Replaces an elementwise op by a map, unless its types do not allow it.
  void convertToMap(ElementwiseOpInterface op, bool inlineConstants) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.getElementType().isIntOrFloat())
      return;
    SmallVector<Value> tensors;
    for (Value operand : op->getOperands())
      if (!getScalarAttr(operand))
        tensors.push_back(operand);
    // A constant that determines the shape of the result remains an input.
    inlineConstants = inlineConstants && determineShape(tensors, type.getShape());

    OpBuilder builder(op);
    MapBuilder map(builder, op->getLoc(), type);
    SmallVector<Value> arguments;
    for (Value operand : op->getOperands()) {
      TypedAttr scalar = inlineConstants ? getScalarAttr(operand) : TypedAttr();
      arguments.push_back(scalar ? map.addConstant(scalar) : map.addInput(operand));
    }
    Value result = op.buildScalar(map.getBody(), op->getLoc(), arguments);
    MapOp created = map.finish(builder, result);
    keepRecomputed(op, created);
    op->replaceAllUsesWith(created);
    op->erase();
    ++numMaps;
  }

  /// Returns whether a map has only a few operations, which cost no more than reading its value
  /// again.
  bool isCheap(MapOp map) const {
    for (Operation &op : map.getBody().front().without_terminator())
      if (isa<math::MathDialect>(op.getDialect()) ||
          isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp,
              arith::RemUIOp>(op))
        return false;
    return countOps(map) <= maxCheapOps;
  }

  static unsigned countOps(MapOp map) {
    return llvm::count_if(map.getBody().front().without_terminator(),
                          [](Operation &op) { return !isa<arith::ConstantOp>(op); });
  }

  /// Returns whether only maps read `map`, which does not change while maps are fused.
  bool isReadByMaps(MapOp map) {
    auto [known, isNew] = readByMaps.try_emplace(map, false);
    if (isNew)
      known->second =
          llvm::all_of(map->getUsers(), [](Operation *user) { return isa<MapOp>(user); });
    return known->second;
  }

  static bool readsSums(MapOp map) {
    return llvm::any_of(map.getInputs(), [](Value input) {
      return isa_and_nonnull<IntegerConvOp, IntegerFullyConnectedOp>(input.getDefiningOp());
    });
  }

  /// Returns whether `consumer` should compute the value of `producer` itself.
  bool shouldFuse(MapOp producer, MapOp consumer) {
    if (!float32Nodes->mayJoin(producer, consumer))
      return false;
    bool isOnlyUser =
        llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; });
    bool sameShape = producer.getType().getShape() == consumer.getType().getShape();
    if (!(isOnlyUser && sameShape) && !(isCheap(producer) && isReadByMaps(producer)))
      return false;
    if (countOps(producer) + countOps(consumer) > maxOps)
      return false;
    // A map is fused with at most one integer contraction: another one's accumulators would be read
    // in 32 bits instead of its stored integers in 8.
    if (readsSums(producer) && readsSums(consumer))
      return false;
    // With layouts chosen, all values of one map must be stored alike.
    if (producer.getType().getEncoding() != consumer.getType().getEncoding() ||
        producer->getBlock() != consumer->getBlock())
      return false;
    llvm::SmallSetVector<Value, 8> inputs;
    for (MapOp map : {producer, consumer})
      inputs.insert(map.getInputs().begin(), map.getInputs().end());
    inputs.remove(producer.getResult());
    return inputs.size() <= maxInputs && determineShape(inputs.getArrayRef(), getShape(consumer));
  }

  /// Fuses the first producer that may be; true when there was one. `consumer`
  /// becomes the fused map.
  bool fuseOneProducer(MapOp &consumer) {
    for (Value input : consumer.getInputs()) {
      auto producer = input.getDefiningOp<MapOp>();
      if (!producer || !shouldFuse(producer, consumer))
        continue;
      consumer = fuse(producer, consumer);
      return true;
    }
    return false;
  }

  MapOp fuse(MapOp producer, MapOp consumer) {
    OpBuilder builder(consumer);
    MapBuilder map(builder, consumer.getLoc(), consumer.getType());
    SmallVector<Value> arguments;
    Value produced;
    for (Value input : consumer.getInputs()) {
      if (input != producer.getResult()) {
        arguments.push_back(map.addInput(input));
        continue;
      }
      if (!produced) {
        SmallVector<Value> producerArguments = llvm::map_to_vector(
            producer.getInputs(), [&](Value value) { return map.addInput(value); });
        produced = map.addBody(producer, producerArguments);
      }
      arguments.push_back(produced);
    }
    Value result = map.addBody(consumer, arguments);
    atc::remarkPassed(getArgument(), consumer.getLoc(), "Fused")
        << remark::add("the kernel computes an input of its own: {0} operations",
                       countOps(producer) + countOps(consumer));
    MapOp fused = map.finish(builder, result);
    keepRecomputed(consumer, fused);
    consumer->replaceAllUsesWith(fused);
    erase(consumer);
    if (producer->use_empty())
      erase(producer);
    ++numFused;
    return fused;
  }

  void erase(MapOp map) {
    readByMaps.erase(map);
    map->erase();
  }

  llvm::DenseMap<Operation *, bool> readByMaps;
  std::optional<Float32Nodes> float32Nodes;
};

} // namespace
