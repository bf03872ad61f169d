//===-- TileDynamicDim.cpp - static functions for tiles of a dynamic dim --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Remarks.h"
#include "passes/host/Passes.h"
#include "passes/host/TileLoop.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTTILEDYNAMICDIM
#include "passes/host/Passes.h.inc"

namespace {

constexpr StringLiteral kPass = "host-tile-dynamic-dim";

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Finds the dim of each value of a function that grows with the dynamic one, and proves
/// that its tiles can be computed one by one.
class TiledValues {
public:
  /// `count` is the placeholder for the dynamic dim.
  TiledValues(func::FuncOp function, StringRef name, int64_t count)
      : function(function), name(name), count(count) {}

  /// Fails after a remark at what cannot be computed in tiles.
  LogicalResult run() {
    for (BlockArgument argument : function.getArguments()) {
      if (!isa<RankedTensorType>(argument.getType()))
        return missed(argument.getLoc(), "an input is no tensor of known rank");
      if (failed(set(argument, findGrowing(argument.getType()))))
        return missed(argument.getLoc(), "an input has it in two dims");
    }
    for (Operation &op : function.front().without_terminator())
      if (failed(infer(&op)))
        return failure();
    Operation *end = function.front().getTerminator();
    if (end->getNumOperands() == 0)
      return missed(end->getLoc(), "there are no results");
    for (Value result : end->getOperands())
      if (lookup(result) < 0)
        return missed(result.getLoc(), "a result of the model does not grow with it");
    return success();
  }

  /// Returns the tiled dim; -1 for none.
  int64_t lookup(Value value) const { return dims.lookup_or(value, -1); }

private:
  LogicalResult missed(Location loc, const Twine &why) {
    remarkMissed(kPass, loc, "NotTiled")
        << remark::add("not tiled along dynamic dim '{0}': {1}", name.str(), why.str());
    return failure();
  }

  /// Returns the dims that grow.
  SmallVector<int64_t> findGrowing(Type type) const {
    SmallVector<int64_t> growing;
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape()))
      if (size > 0 && size % count == 0)
        growing.push_back(dim);
    return growing;
  }

  LogicalResult set(Value value, ArrayRef<int64_t> growing) {
    if (growing.size() > 1)
      return failure();
    if (!growing.empty())
      dims[value] = growing.front();
    return success();
  }

  /// Infers the dim of calls that compute each index of it alone, and for which there are ops once
  /// the sizes are known.
  LogicalResult inferCall(graph::HostCallOp call) {
    const StringRef kernel = call.getKernel();
    auto noRule = [&] { return missed(call.getLoc(), "there is no rule for a call of " + kernel); };
    int64_t dim = -1;
    const SmallVector<Value> inputs = call.inputsByPosition();
    for (auto [index, input] : llvm::enumerate(inputs)) {
      const int64_t own = input ? lookup(input) : -1;
      if (!input || own < 0)
        continue;
      const bool agrees = kernel == "TopK" ? index == 0 : own == 0;
      // Of a mask with fewer dims than the scores, the first one is not the batch.
      const bool isLowMask = kernel == "Attention" && index == 3 && shapeOf(input).size() != 4;
      if (!agrees || isLowMask)
        return noRule();
      dim = own;
    }
    auto grows = [&](std::initializer_list<size_t> indices) {
      return llvm::all_of(indices, [&](size_t index) {
        return index < inputs.size() && inputs[index] && lookup(inputs[index]) == dim;
      });
    };
    bool isKnown = dim >= 0;
    if (kernel == "TopK") {
      auto axis = call.getParameters().getAs<DenseI64ArrayAttr>("axis");
      const int64_t rank = inputs[0] ? int64_t(shapeOf(inputs[0]).size()) : 0;
      const int64_t sorted = axis && axis.size() == 1 ? axis[0] : -1;
      isKnown &= (sorted < 0 ? sorted + rank : sorted) != dim;
    } else if (kernel == "GridSample") {
      isKnown &= grows({0, 1});
    } else if (kernel == "Attention") {
      isKnown &= grows({0, 1, 2}) && inputs.size() < 7;
      for (size_t past : {4, 5})
        isKnown &= past >= inputs.size() || !inputs[past] || grows({past});
    } else if (kernel == "RotaryEmbedding") {
      isKnown &= grows({0}) && inputs.size() < 4;
    } else {
      isKnown = false;
    }
    if (!isKnown)
      return noRule();
    for (Value result : call.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.hasStaticShape() || findGrowing(type) != SmallVector<int64_t>{dim})
        return noRule();
      dims[result] = dim;
    }
    return success();
  }

  LogicalResult infer(Operation *op) {
    if (auto call = dyn_cast<graph::HostCallOp>(op))
      return inferCall(call);
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return missed(op->getLoc(), "there is no rule for " + op->getName().getStringRef());
    Value result = op->getResult(0);
    const SmallVector<int64_t> growing = findGrowing(result.getType());
    if (isa<graph::ConstantOp>(op))
      return inferConstant(cast<graph::ConstantOp>(op), growing);
    SmallVector<int64_t> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value value) { return lookup(value); });
    const bool isTiled = llvm::any_of(operands, [](int64_t dim) { return dim >= 0; });
    auto rule = dyn_cast<graph::TiledDimOpInterface>(op);
    if (!rule)
      return missed(op->getLoc(), "there is no rule for " + op->getName().getStringRef());
    if (!isTiled && growing.empty())
      return success();
    std::string reason;
    FailureOr<int64_t> dim = rule.inferTiledDim(operands, count, reason);
    if (failed(dim))
      return missed(op->getLoc(), op->getName().getStringRef() + " " + reason);
    // Whatever else grows does so in a way that the rule knows nothing about.
    if (growing.size() != 1 || growing.front() != *dim)
      return missed(op->getLoc(), "another dim of the result grows with it");
    dims[result] = *dim;
    return success();
  }

  /// Reports whether a small constant holds a multiple of the placeholder, or the inverse of one,
  /// as an importer computes them from dims.
  bool holdsSize(ElementsAttr value) const {
    if (auto integers = dyn_cast<DenseIntElementsAttr>(value))
      return llvm::any_of(integers.getValues<APInt>(), [&](const APInt &element) {
        return element.getBitWidth() >= 32 && !element.isZero() &&
               element.getSExtValue() % count == 0;
      });
    auto floats = dyn_cast<DenseFPElementsAttr>(value);
    if (!floats || floats.getElementType().getIntOrFloatBitWidth() < 32)
      return false;
    auto isMultiple = [&](double number) {
      return number != 0 && std::abs(number) < 1e15 && std::fmod(number, count) == 0;
    };
    return llvm::any_of(floats.getValues<APFloat>(), [&](const APFloat &element) {
      const double number = element.convertToDouble(), inverse = std::round(1 / number);
      return isMultiple(number) || (isMultiple(inverse) && std::abs(inverse * number - 1) < 1e-6);
    });
  }

  LogicalResult inferConstant(graph::ConstantOp constant, ArrayRef<int64_t> growing) {
    if (holdsSize(constant.getValue()))
      return missed(constant.getLoc(), "a constant is computed from its size");
    if (growing.empty())
      return success();
    if (growing.size() > 1 || !graph::hasEqualShares(constant.getValue(), growing.front(), count))
      return missed(constant.getLoc(), "a constant differs along it");
    dims[constant.getResult()] = growing.front();
    return success();
  }

  func::FuncOp function;
  StringRef name;
  int64_t count;
  DenseMap<Value, int64_t> dims;
};

/// Makes the functions of the tiles, and turns @main into the loop over them.
class TileBuilder {
public:
  TileBuilder(func::FuncOp main, const TiledValues &tiled, int64_t count)
      : main(main), module(main->getParentOfType<ModuleOp>()), tiled(tiled), count(count) {}

  /// Returns a function like @main for `size` indices of the dynamic dim.
  func::FuncOp makeTile(int64_t size) {
    auto tile =
        func::FuncOp::create(main.getLoc(), "tile_" + std::to_string(size), main.getFunctionType());
    module.push_back(tile);
    tile.setPrivate();
    tile->setAttr(kPartAttr, UnitAttr::get(module.getContext()));
    // The names of the tensors.
    if (ArrayAttr attributes = main.getArgAttrsAttr())
      tile.setArgAttrsAttr(attributes);
    if (ArrayAttr attributes = main.getResAttrsAttr())
      tile.setResAttrsAttr(attributes);
    IRMapping mapping;
    main.getBody().cloneInto(&tile.getBody(), mapping);
    for (BlockArgument argument : main.getArguments())
      resize(argument, mapping.lookup(argument), size);
    for (Operation &op : main.front().without_terminator()) {
      for (Value result : op.getResults())
        resize(result, mapping.lookup(result), size);
      Value result = op.getResult(0), copy = mapping.lookup(result);
      const int64_t dim = tiled.lookup(result);
      if (dim < 0 || isa<graph::HostCallOp>(op))
        continue;
      if (auto constant = copy.getDefiningOp<graph::ConstantOp>())
        constant.setValueAttr(takeShares(constant.getValue(), dim, size));
      else
        cast<graph::TiledDimOpInterface>(copy.getDefiningOp())
            .setTiledSize(dim, cast<RankedTensorType>(copy.getType()).getDimSize(dim));
    }
    Block &body = tile.front();
    tile.setFunctionType(FunctionType::get(module.getContext(), body.getArgumentTypes(),
                                           body.getTerminator()->getOperandTypes()));
    return tile;
  }

  /// Replaces the body of @main by a call of the loop over `tiles`.
  void makeLoop(ArrayRef<func::FuncOp> tiles, ArrayRef<int64_t> sizes) {
    Operation *end = main.front().getTerminator();
    SmallVector<int64_t> inputDims =
        llvm::map_to_vector(main.getArguments(), [&](Value value) { return tiled.lookup(value); });
    SmallVector<int64_t> outputDims =
        llvm::map_to_vector(end->getOperands(), [&](Value value) { return tiled.lookup(value); });
    SmallVector<Type> inputTypes =
        llvm::map_to_vector(main.getArguments(), [&](Value value) { return dynamicType(value); });
    SmallVector<Type> outputTypes =
        llvm::map_to_vector(end->getOperands(), [&](Value value) { return dynamicType(value); });

    auto type = FunctionType::get(module.getContext(), inputTypes, outputTypes);
    func::FuncOp loop =
        makeTileLoop(module, main.getLoc(), "tiles", type, tiles, sizes, inputDims, outputDims);

    SmallVector<Location> locations =
        llvm::map_to_vector(main.getArguments(), [](Value value) { return value.getLoc(); });
    main.getBody().getBlocks().clear();
    main.setFunctionType(type);
    Block *body = &main.getBody().emplaceBlock();
    body->addArguments(inputTypes, locations);
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    auto call = func::CallOp::create(builder, main.getLoc(), loop, body->getArguments());
    func::ReturnOp::create(builder, main.getLoc(), call.getResults());
  }

private:
  RankedTensorType withSize(Value value, int64_t size) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (const int64_t dim = tiled.lookup(value); dim >= 0)
      shape[dim] = ShapedType::isDynamic(size) ? size : shape[dim] / count * size;
    return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  }
  Type dynamicType(Value value) const { return withSize(value, ShapedType::kDynamic); }
  void resize(Value value, Value copy, int64_t size) const { copy.setType(withSize(value, size)); }

  /// Returns the first `size` shares, which are as any others.
  ElementsAttr takeShares(ElementsAttr value, int64_t dim, int64_t size) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = shape[dim] / count * size;
    auto taken = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
    if (auto splat = dyn_cast<SplatElementsAttr>(value))
      return splat.resizeSplat(taken);
    auto bytes = graph::ConstantBytes::get(value);
    assert(succeeded(bytes) && "the constant has been read before");
    ArrayRef<char> all = bytes->expanded();
    int64_t blocks = 1;
    for (int64_t length : type.getShape().take_front(dim))
      blocks *= length;
    const size_t block = all.size() / blocks, kept = block / count * size;
    std::vector<char> data;
    for (int64_t i = 0; i < blocks; ++i)
      llvm::append_range(data, all.slice(i * block, kept));
    return graph::makeConstant(taken, std::move(data), "tile");
  }

  func::FuncOp main;
  ModuleOp module;
  const TiledValues &tiled;
  int64_t count;
};

/// Returns the sizes of tiles for a function, falling, the last one 1. Tiles are as large as it
/// takes to use weights for enough rows, and to do enough work for each launch.
SmallVector<int64_t> chooseSizes(func::FuncOp main, int64_t count) {
  constexpr double enoughRows = 16, enoughWork = 1 << 18;
  constexpr int64_t rowsTile = 32, maxTile = 4096, step = 8;
  // For one index of the dim: multiplications with weights, those of them whose weights meet few
  // rows, and all elements computed.
  double products = 0, fewRows = 0, elements = 0;
  main.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || isa<graph::ConstantOp>(op))
      return;
    ArrayRef<int64_t> result = shapeOf(op->getResult(0));
    double size = 1.0 / count;
    for (int64_t dim : result)
      size *= dim;
    elements += size;
    if (!op->hasTrait<graph::IsContraction>())
      return;
    auto weights = op->getOperand(1).getDefiningOp<graph::ConstantOp>();
    const int64_t channels = isa<graph::ConvOp, graph::ConvTransposeOp>(op)
                                 ? result[1]
                                 : (result.empty() ? 1 : result.back());
    if (!weights || channels == 0)
      return;
    const double rows = size / channels;
    const double work = rows * weights.getValue().getNumElements();
    products += work;
    fewRows += rows < enoughRows ? work : 0;
  });
  int64_t largest = fewRows > 0.25 * products ? rowsTile : 1;
  while (largest < maxTile && largest * (products + elements) < enoughWork)
    largest *= 2;
  SmallVector<int64_t> sizes;
  for (; largest > 1; largest /= step)
    sizes.push_back(largest);
  sizes.push_back(1);
  return sizes;
}

struct TileDynamicDim : impl::HostTileDynamicDimBase<TileDynamicDim> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto name = module->getAttrOfType<StringAttr>(graph::kDynamicDimAttr);
    auto count = module->getAttrOfType<IntegerAttr>(graph::kDynamicDimSizeAttr);
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!name || !count || count.getInt() < 2 || !main || main.isExternal() ||
        !main.getBody().hasOneBlock())
      return;
    TiledValues tiled(main, name, count.getInt());
    if (failed(tiled.run()))
      return;
    SmallVector<int64_t> chosen(sizes.begin(), sizes.end());
    if (chosen.empty())
      chosen = chooseSizes(main, count.getInt());
    chosen = orderTileSizes(chosen);
    remarkPassed(kPass, main.getLoc(), "Tiled") << remark::add(
        "the model runs in tiles of {0} along dynamic dim '{1}'",
        llvm::join(llvm::map_range(chosen, [](int64_t size) { return std::to_string(size); }),
                   ", "),
        name.str());
    TileBuilder builder(main, tiled, count.getInt());
    SmallVector<func::FuncOp> tiles;
    for (int64_t size : chosen)
      tiles.push_back(builder.makeTile(size));
    builder.makeLoop(tiles, chosen);
    module->removeAttr(graph::kDynamicDimAttr);
    module->removeAttr(graph::kDynamicDimSizeAttr);
    numTiles += tiles.size();
  }
};

} // namespace
} // namespace atc::host
