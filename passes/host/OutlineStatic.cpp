//===-- OutlineStatic.cpp - what has fixed shapes becomes functions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/DeepHash.h"
#include "passes/host/Passes.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/IndexBound.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <unordered_map>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTOUTLINESTATIC
#include "passes/host/Passes.h.inc"

static bool isHostOp(Operation *op) {
  return op->hasTrait<graph::RunsOnHost>() || isa<func::CallOp>(op);
}

bool isTiled(func::FuncOp main) {
  auto module = main->getParentOfType<ModuleOp>();
  return llvm::any_of(main.getOps<func::CallOp>(), [&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    return callee && callee->hasAttr(kTilesAttr);
  });
}

bool isHostProgram(func::FuncOp main) {
  // Types that are no graph values (buffers of a schedule) need no dynamic schedule.
  auto isOpen = [](Type type) {
    return isa<TensorType, graph::SequenceType, graph::OptionalType, graph::MapType>(type) &&
           !graph::isPlainTensor(type);
  };
  FunctionType type = main.getFunctionType();
  if (llvm::any_of(type.getInputs(), isOpen) || llvm::any_of(type.getResults(), isOpen))
    return true;
  return main
      .walk([](Operation *op) {
        return isHostOp(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<func::FuncOp> partsOf(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(),
                                [](func::FuncOp function) { return function->hasAttr(kPartAttr); });
}

/// Returns the bound of indices that a host kernel computes; nothing for other values.
static std::optional<int64_t> boundOfIndices(Value value) {
  auto call = value.getDefiningOp<graph::HostCallOp>();
  if (!call || call.getInputs().empty())
    return std::nullopt;
  const bool isTopK = call.getKernel() == "TopK",
             isBest = call.getKernel() == "ArgMax" || call.getKernel() == "ArgMin";
  const unsigned number = cast<OpResult>(value).getResultNumber();
  if (!(isTopK && number == 1) && !(isBest && number == 0))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(call.getInputs().front().getType());
  auto axis = call.getParameters().getAs<DenseI64ArrayAttr>("axis");
  if (!type || !axis || axis.size() != 1 || axis[0] < -type.getRank() || axis[0] >= type.getRank())
    return std::nullopt;
  const int64_t size = type.getDimSize(axis[0] < 0 ? axis[0] + type.getRank() : axis[0]);
  return ShapedType::isDynamic(size) ? std::optional<int64_t>() : size;
}

namespace {

/// Holds the parts that were made, and finds equal ones.
class PartTable {
public:
  /// Names a part that was made last. Where `isShared`, erases it and returns an earlier one that
  /// computes the same, if there is one.
  func::FuncOp add(func::FuncOp part, bool isShared) {
    if (isShared) {
      auto &equal = byHash[graph::deepHash(part, OperationEquivalence::directHashValue)];
      for (func::FuncOp other : equal)
        if (other.getFunctionType() == part.getFunctionType() &&
            other.getArgAttrsAttr() == part.getArgAttrsAttr() &&
            OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &part.getBody(),
                                                       OperationEquivalence::IgnoreLocations)) {
          part.erase();
          return other;
        }
      equal.push_back(part);
    }
    part.setName("part_" + std::to_string(count++));
    return part;
  }
  /// The name of parts before they are added, so that equal ones have equal hashes.
  static constexpr StringLiteral kNoName = "part";

  unsigned count = 0;

private:
  std::unordered_map<size_t, SmallVector<func::FuncOp, 1>> byHash;
};

/// Outlines the parts of one block.
class BlockOutliner {
public:
  BlockOutliner(ModuleOp module, Block &block, PartTable &known)
      : module(module), block(block), known(known) {}

  void run() {
    findLevels();
    sinkConstants();
    storeQuantized();
    collectOps();
    if (parts.empty())
      return;
    // In the new order a level's host ops come first, then its part.
    SmallVector<Operation *> order;
    llvm::stable_sort(
        hostOps, [&](Operation *a, Operation *b) { return levels.lookup(a) < levels.lookup(b); });
    auto host = hostOps.begin();
    for (auto &[level, ops] : parts) {
      for (; host != hostOps.end() && levels.lookup(*host) <= level; ++host)
        order.push_back(*host);
      order.push_back(outline(ops));
    }
    order.append(host, hostOps.end());
    Operation *terminator = block.getTerminator();
    for (Operation *op : order)
      op->moveBefore(terminator);
  }

private:
  /// The op of this block that `value` comes from; null for arguments and what is
  /// defined outside.
  Operation *producerOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block && !isa<graph::ConstantOp>(op) ? op : nullptr;
  }

  /// The level of an op is how often data changed from a part to the host on its
  /// way to it. Ops of one level then need nothing of a later part.
  void findLevels() {
    for (Operation &op : block.without_terminator()) {
      if (isa<graph::ConstantOp>(op))
        continue;
      const bool host = isHostOp(&op);
      unsigned level = 0;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *producer = producerOf(operand))
            level = std::max(level, levels.lookup(producer) + (host && !isHostOp(producer)));
      });
      levels[&op] = level;
    }
  }

  /// Copies what is computed of constants alone into the parts that read it: generated code wants
  /// weights that are constants, not those of an earlier part. (Folding has a limit of size.)
  void sinkConstants() {
    llvm::SetVector<Operation *> known;
    for (Operation &op : block.without_terminator())
      if (!isa<graph::ConstantOp>(op) && !isHostOp(&op) && !op.getNumRegions() &&
          op.getNumOperands() && llvm::all_of(op.getOperands(), [&](Value operand) {
            Operation *producer = operand.getDefiningOp();
            return producer && (isa<graph::ConstantOp>(producer) || known.contains(producer));
          }))
        known.insert(&op);
    // Readers come first: what they read of several steps follows them.
    for (Operation *step : llvm::reverse(known)) {
      Operation &op = *step;
      DenseMap<unsigned, Operation *> copies;
      for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
        Operation *user = block.findAncestorOpInBlock(*use.getOwner());
        const unsigned level = levels.lookup(user);
        if (user == block.getTerminator() || isHostOp(user) || level == levels[&op])
          continue;
        Operation *&copy = copies[level];
        if (!copy) {
          copy = op.clone();
          block.getOperations().insertAfter(op.getIterator(), copy);
          levels[copy] = level;
        }
        use.set(copy->getResult(cast<OpResult>(use.get()).getResultNumber()));
      }
      if (op.use_empty())
        op.erase();
    }
  }

  /// Makes what other parts and inner blocks read of quantized values integers: values between
  /// parts are in buffers, whose elements have no quantized type.
  void storeQuantized() {
    SmallVector<OpResult> values;
    for (Operation &op : block.without_terminator())
      for (OpResult result : op.getResults())
        if (!isHostOp(&op) && graph::getQuantParams(getElementTypeOrSelf(result)))
          values.push_back(result);
    for (OpResult value : values) {
      Operation *producer = value.getOwner();
      const unsigned level = levels.lookup(producer);
      auto type = cast<RankedTensorType>(value.getType());
      graph::StorageCastOp stored;
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
        Operation *user = use.getOwner(), *inBlock = block.findAncestorOpInBlock(*user);
        const bool samePart = !isHostOp(inBlock) && levels.lookup(inBlock) == level;
        if (user == stored || samePart || inBlock == block.getTerminator())
          continue;
        OpBuilder builder(user);
        if (!stored) {
          builder.setInsertionPointAfter(producer);
          stored = graph::StorageCastOp::create(
              builder, value.getLoc(),
              type.clone(graph::getQuantParams(type.getElementType())->stored), value);
          levels[stored] = level;
          builder.setInsertionPoint(user);
        }
        if (user->getResultTypes() == stored->getResultTypes() && isa<graph::StorageCastOp>(user)) {
          levels.erase(user);
          user->replaceAllUsesWith(stored);
          user->erase();
          continue;
        }
        auto back = graph::StorageCastOp::create(builder, user->getLoc(), type, stored);
        if (inBlock == user)
          levels[back] = levels.lookup(user);
        use.set(back);
      }
    }
  }

  void collectOps() {
    for (Operation &op : block.without_terminator())
      if (isHostOp(&op))
        hostOps.push_back(&op);
      else if (!isa<graph::ConstantOp>(op))
        parts[levels.lookup(&op)].push_back(&op);
  }

  /// Moves ops into a function; returns the call of it.
  Operation *outline(ArrayRef<Operation *> ops) {
    llvm::SetVector<Value> inputs, outputs;
    llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
    llvm::SetVector<Operation *> constants;
    for (Operation *op : ops) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          if (producer && isa<graph::ConstantOp>(producer))
            constants.insert(producer);
          else if (!inside.contains(ancestorOf(operand)))
            inputs.insert(operand);
        }
      });
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !inside.contains(block.findAncestorOpInBlock(*user));
            }))
          outputs.insert(result);
    }

    OpBuilder builder(module.getBodyRegion());
    builder.setInsertionPointToEnd(module.getBody());
    Location loc = ops.front()->getLoc();
    SmallVector<Type> inputTypes(ValueRange(inputs.getArrayRef()).getTypes()),
        outputTypes(ValueRange(outputs.getArrayRef()).getTypes());
    auto function = func::FuncOp::create(builder, loc, PartTable::kNoName,
                                         builder.getFunctionType(inputTypes, outputTypes));
    function.setPrivate();
    function->setAttr(kPartAttr, builder.getUnitAttr());

    Block *body = function.addEntryBlock();
    for (auto [argument, input] : llvm::zip_equal(body->getArguments(), inputs)) {
      argument.setLoc(input.getLoc());
      // The part does not know who has computed its arguments.
      if (std::optional<int64_t> bound = boundOfIndices(input))
        function.setArgAttr(argument.getArgNumber(), graph::kIndicesBelowAttr,
                            builder.getI64IntegerAttr(*bound));
      if (auto outer = dyn_cast<BlockArgument>(input))
        if (std::optional<graph::IndexRange> range = graph::IndexRange::of(outer))
          range->set(function, argument.getArgNumber(), outer);
    }
    builder.setInsertionPoint(ops.front());
    auto call = func::CallOp::create(builder, loc, function, inputs.getArrayRef());

    builder.setInsertionPointToStart(body);
    IRMapping inPart;
    for (Operation *constant : constants)
      builder.clone(*constant, inPart);
    for (Operation *op : ops)
      op->moveBefore(body, body->end());
    for (auto [argument, input] : llvm::zip_equal(body->getArguments(), inputs))
      inPart.map(input, argument);
    for (Operation *op : ops)
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          operand.set(inPart.lookupOrDefault(operand.get()));
      });
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, loc, outputs.getArrayRef());
    for (auto [output, result] : llvm::zip_equal(outputs, call.getResults())) {
      Value value = output, replacement = result;
      value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
        return use.getOwner()->getParentOfType<func::FuncOp>() != function;
      });
    }
    // Branches inside each other may hold the same many times. Outside of them each part stays, so
    // that reports name the nodes of each.
    const bool isShared = !isa<func::FuncOp>(block.getParentOp());
    call.setCallee(known.add(function, isShared).getSymName());
    return call;
  }

  /// The op of this block that holds the definition of `value`.
  Operation *ancestorOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    return op ? block.findAncestorOpInBlock(*op) : nullptr;
  }

  ModuleOp module;
  Block &block;
  PartTable &known;
  DenseMap<Operation *, unsigned> levels;
  SmallVector<Operation *> hostOps;
  std::map<unsigned, SmallVector<Operation *>> parts;
};

struct OutlineStatic : impl::HostOutlineStaticBase<OutlineStatic> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !isHostProgram(main))
      return;
    main->setAttr(kProgramAttr, UnitAttr::get(&getContext()));
    SmallVector<Block *> blocks;
    main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The body of a map is not one of the program.
      if (isa<func::FuncOp, graph::IfOp, graph::LoopOp>(op))
        for (Region &region : op->getRegions())
          blocks.push_back(&region.front());
    });
    PartTable known;
    for (Block *block : blocks)
      BlockOutliner(getOperation(), *block, known).run();
    numParts += known.count;
    remarkAnalysis(getArgument(), main.getLoc(), "StaticRegions")
        << remark::add("{0} regions of static shapes become generated code", known.count);
    // Constants that only parts read are theirs.
    main.walk([](graph::ConstantOp constant) {
      if (constant.use_empty())
        constant.erase();
    });
  }
};

} // namespace
} // namespace atc::host
