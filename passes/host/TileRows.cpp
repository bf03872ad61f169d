//===-- TileRows.cpp - static functions for rows of host calls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/host/Passes.h"

#include "dialects/graph/HostCalls.h"
#include "mlir/IR/IRMapping.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/RowKernels.h"
#include "passes/host/TileLoop.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTTILEROWS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Holds calls whose rows are those of one value, the seed.
struct TiledRows {
  Value seed;
  int64_t width = 0; ///< of the seed's rows
  SmallVector<HostCallOp> calls;
  int64_t weights = 0; ///< elements of constant matrices
};

class RowTiler {
public:
  RowTiler(ModuleOp module, Block &block, ArrayRef<int64_t> sizes, unsigned &numRegions)
      : module(module), block(block), sizes(sizes), numRegions(numRegions) {}

  void run() {
    findWidths();
    for (HostCallOp call : block.getOps<HostCallOp>())
      join(call);
    for (auto &[seed, region] : regions)
      if (region.weights >= kMinRowWeights)
        replace(region);
  }

private:
  static int64_t staticWidth(Value value) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    const bool isKnown = type && type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1);
    return isKnown ? type.getDimSize(type.getRank() - 1) : 0;
  }

  int64_t widthOf(Value value) const {
    const int64_t known = value ? widths.lookup(value) : 0;
    return known ? known : staticWidth(value);
  }

  /// Finds the widths of rows as far as calls state them: those of their results, and those that
  /// they require of their operands.
  void findWidths() {
    for (HostCallOp call : block.getOps<HostCallOp>()) {
      const SmallVector<Value> inputs = call.inputsByPosition();
      for (auto [index, input] : llvm::enumerate(inputs))
        if (const int64_t width = requiredRowWidth(call, index); width && !widthOf(input))
          widths[input] = width;
    }
    for (HostCallOp call : block.getOps<HostCallOp>()) {
      if (call->getNumResults() == 0 || widthOf(call.getResult(0)))
        continue;
      SmallVector<int64_t> own =
          llvm::map_to_vector(call.inputsByPosition(), [&](Value input) { return widthOf(input); });
      if (const int64_t width = rowWidthOf(call, own))
        widths[call.getResult(0)] = width;
    }
  }

  /// Returns the region whose rows are those of all operands that are not constant; null where
  /// there is none. An operand that no region computes becomes the seed of a new region.
  TiledRows *findRegion(ArrayRef<Value> operands) {
    Value seed;
    for (Value operand : operands) {
      if (!operand || graph::isConstant(operand))
        continue;
      Value own = seeds.lookup(operand);
      own = own ? own : operand;
      if (seed && own != seed)
        return nullptr;
      seed = own;
    }
    if (!seed || !isF32(seed) || !widthOf(seed) || graph::isPlainTensor(seed))
      return nullptr;
    TiledRows &region = regions[seed];
    region.seed = seed;
    region.width = widthOf(seed);
    return &region;
  }

  /// Adds a call to the region of its operands if it computes row by row, which shows in whether
  /// graph ops for one row can be built; these are erased again.
  void join(HostCallOp call) {
    const SmallVector<Value> inputs = call.inputsByPosition();
    if (call->getNumResults() == 0 || !isF32(call.getResult(0)))
      return;
    TiledRows *region = findRegion(inputs);
    if (!region)
      return;
    Block scratch;
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToEnd(&scratch);
    RowOperands operands{call, {}};
    for (Value input : inputs) {
      if (input && !graph::isConstant(input)) {
        const int64_t width = input == region->seed ? region->width : memberWidths.lookup(input);
        input = scratch.addArgument(RankedTensorType::get({1, width}, builder.getF32Type()),
                                    call.getLoc());
      }
      operands.values.push_back(input);
    }
    Value rows = buildRows(builder, operands);
    if (rows) {
      Value result = call.getResult(0);
      seeds[result] = region->seed;
      memberWidths[result] = cast<RankedTensorType>(rows.getType()).getDimSize(1);
      region->calls.push_back(call);
      if (inputs.size() > 1 && requiredRowWidth(call, 0))
        region->weights += cast<RankedTensorType>(inputs[1].getType()).getNumElements();
    }
  }

  /// Creates the function of a region for `size` rows, which returns `outputs`.
  func::FuncOp makeTile(const TiledRows &region, StringRef name, int64_t size,
                        ArrayRef<Value> outputs) {
    Location loc = region.calls.front()->getLoc();
    OpBuilder builder(module.getContext());
    auto rowsOf = [&](int64_t width) {
      return RankedTensorType::get({size, width}, builder.getF32Type());
    };
    SmallVector<Type> types = llvm::map_to_vector(
        outputs, [&](Value value) { return Type(rowsOf(memberWidths[value])); });
    auto function =
        func::FuncOp::create(loc, (name + "_" + Twine(size)).str(),
                             builder.getFunctionType({Type(rowsOf(region.width))}, types));
    function.setPrivate();
    function->setAttr(kPartAttr, builder.getUnitAttr());
    module.push_back(function);
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(region.seed, body->getArgument(0));
    for (HostCallOp call : region.calls) {
      RowOperands operands{call, {}};
      for (Value input : call.inputsByPosition()) {
        if (graph::isConstant(input) && !mapping.contains(input))
          builder.clone(*input.getDefiningOp(), mapping);
        operands.values.push_back(input ? mapping.lookup(input) : Value());
      }
      mapping.map(call.getResult(0), buildRows(builder, operands));
    }
    SmallVector<Value> results =
        llvm::map_to_vector(outputs, [&](Value value) { return mapping.lookup(value); });
    func::ReturnOp::create(builder, loc, results);
    // Constants that became attributes, like axes.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      if (isa<graph::ConstantOp>(op) && op.use_empty())
        op.erase();
    return function;
  }

  /// Replaces the calls of a region by a loop over tiles of rows.
  void replace(TiledRows &region) {
    llvm::SmallPtrSet<Operation *, 16> inside;
    for (HostCallOp call : region.calls)
      inside.insert(call);
    SmallVector<Value> outputs;
    for (HostCallOp call : region.calls)
      if (llvm::any_of(call->getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.push_back(call.getResult(0));
    if (outputs.empty())
      return;
    const std::string name = "rows_" + std::to_string(numRegions++);
    OpBuilder builder(region.calls.front());
    SmallVector<func::FuncOp> tiles = llvm::map_to_vector(
        sizes, [&](int64_t size) { return makeTile(region, name, size, outputs); });
    Location loc = region.calls.front()->getLoc();
    auto type = builder.getFunctionType(region.seed.getType(), ValueRange(outputs).getTypes());
    func::FuncOp loop = makeTileLoop(module, loc, name, type, tiles, sizes, /*inputDims=*/{0},
                                     SmallVector<int64_t>(outputs.size(), 0));
    loop->setAttr(kRowsAttr, builder.getUnitAttr());
    auto call = func::CallOp::create(builder, loc, loop, region.seed);
    for (auto [output, result] : llvm::zip_equal(outputs, call.getResults())) {
      Value value = output;
      value.replaceUsesWithIf(result,
                              [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    }
    for (HostCallOp inner : llvm::reverse(region.calls))
      inner.erase();
  }

  ModuleOp module;
  Block &block;
  SmallVector<int64_t> sizes;
  unsigned &numRegions;
  DenseMap<Value, int64_t> widths;       ///< as far as calls state them
  DenseMap<Value, int64_t> memberWidths; ///< of results of regions
  DenseMap<Value, Value> seeds;          ///< of results of regions
  llvm::MapVector<Value, TiledRows> regions;
};

struct TileRows : impl::HostTileRowsBase<TileRows> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !isHostProgram(main))
      return;
    SmallVector<int64_t> chosen(sizes.begin(), sizes.end());
    if (chosen.empty())
      chosen = {128, 72, 32, 16, 8};
    unsigned count = 0;
    RowTiler(getOperation(), main.front(), orderTileSizes(chosen), count).run();
    numRegions += count;
  }
};

} // namespace
} // namespace atc::host
