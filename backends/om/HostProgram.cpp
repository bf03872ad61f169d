//===-- HostProgram.cpp - the dynamic schedule of a model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of @main correspond to the tables of a dynamic schedule one to one, so the tables are
// written from the ops: every value has a slot, which is emptied after the last step that reads it.

#include "backends/om/HostProgram.h"

#include "backends/om/Names.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/host/HostCosts.h"
#include "passes/host/Passes.h"
#include "passes/host/expand/RecurrentCells.h"
#include "passes/om/CallBodies.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::om {

/// Returns the element types of what a call reads, writes and names.
static uint64_t elementTypesOf(graph::HostCallOp call) {
  uint64_t types = 0;
  auto add = [&](Type type) {
    // For a sequence, an optional or a map: the types inside.
    type.walk([&](Type inner) {
      if (uint8_t dtype = graph::dtypeOf(inner))
        types |= uint64_t(1) << dtype;
    });
  };
  // Kernels compute in f32 what has no type of its own.
  add(Float32Type::get(call.getContext()));
  llvm::for_each(call->getOperandTypes(), add);
  llvm::for_each(call->getResultTypes(), add);
  for (NamedAttribute parameter : call.getParameters()) {
    parameter.getValue().walk([&](ElementsAttr value) { add(value.getElementType()); });
    auto number = dyn_cast<IntegerAttr>(parameter.getValue());
    if (number && llvm::is_contained({"to", "dtype", "precision", "stash_type"},
                                     parameter.getName().getValue()))
      types |= uint64_t(1) << (number.getInt() & 63);
  }
  // Words of f32 that hold bytes: there are levels with instructions for their products.
  auto packed = call.getParameters().getAs<DenseI64ArrayAttr>(host::kPacked);
  if (host::gatesOf(call.getKernel()) && packed &&
      llvm::any_of(packed.asArrayRef(), [](int64_t order) { return order >= host::kPackedBytes; }))
    add(IntegerType::get(call.getContext(), 8));
  return types;
}

std::vector<cpu::HostKernel> hostKernelsOf(func::FuncOp main) {
  llvm::MapVector<StringRef, uint64_t> types;
  main.walk([&](graph::HostCallOp call) { types[call.getKernel()] |= elementTypesOf(call); });
  std::vector<cpu::HostKernel> kernels;
  for (auto [name, mask] : types)
    kernels.push_back({name.str(), mask});
  return kernels;
}

namespace {

using Kind = OmHostStep::Kind;

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp main, uint32_t firstKernel,
                 const DenseMap<StringAttr, uint32_t> &kernelIndex,
                 llvm::function_ref<llvm::Expected<OmBufferRef>(ElementsAttr)> addWeight)
      : main(main), firstKernel(firstKernel), kernelIndex(kernelIndex), addWeight(addWeight) {
    for (auto [index, kernel] : llvm::enumerate(hostKernelsOf(main)))
      hostKernelIndex[kernel.name] = index;
    for (auto [index, part] : llvm::enumerate(host::partsOf(main->getParentOfType<ModuleOp>())))
      partIndex[part.getSymNameAttr()] = index;
  }

  llvm::Expected<OmHostProgram> build() {
    Block &body = main.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      const unsigned index = argument.getArgNumber();
      program.inputs.push_back(port(argument.getType(), slotOf(argument),
                                    main.getArgAttrOfType<StringAttr>(index, kNameAttr), "input",
                                    index));
      program.inputs.back().dimNames =
          dimNamesOf(main.getArgAttrOfType<ArrayAttr>(index, kDimNamesAttr));
    }
    program.blocks.emplace_back();
    addSteps(body, 0);
    Operation *end = body.getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      const unsigned index = result.getOperandNumber();
      program.outputs.push_back(port(result.get().getType(), slotOf(result.get()),
                                     main.getResultAttrOfType<StringAttr>(index, kNameAttr),
                                     "output", index));
      program.outputs.back().dimNames =
          dimNamesOf(main.getResultAttrOfType<ArrayAttr>(index, kDimNamesAttr));
    }
    program.slots = nextSlot;
    auto integer = [&](StringRef name) {
      auto value = main->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(name);
      return value ? static_cast<uint32_t>(value.getInt()) : 0;
    };
    program.rank = integer(graph::kRankAttr);
    program.ranks = integer(graph::kRankCountAttr);
    if (errors)
      return std::move(errors);
    return std::move(program);
  }

private:
  uint32_t slotOf(Value value) {
    auto [at, isNew] = slots.try_emplace(value, nextSlot);
    if (isNew) {
      ++nextSlot;
      if (auto constant = value.getDefiningOp<graph::ConstantOp>())
        addConstant(constant.getValue(), at->second);
    }
    return at->second;
  }

  uint32_t addConstant(ElementsAttr value, int32_t slot) {
    OmHostConstant constant;
    constant.slot = slot;
    auto type = cast<RankedTensorType>(value.getType());
    constant.dtype = static_cast<om_dtype>(graph::dtypeOf(type.getElementType()));
    constant.dims = type.getShape().vec();
    if (auto strings = dyn_cast<DenseStringElementsAttr>(value)) {
      ArrayRef<StringRef> texts = strings.getRawStringData();
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        constant.strings.push_back(texts[strings.isSplat() ? 0 : i].str());
    } else if (auto ref = addWeight(value)) {
      constant.place = *ref;
    } else {
      fail(ref.takeError());
    }
    program.constants.push_back(std::move(constant));
    return program.constants.size() - 1;
  }

  void fail(llvm::Error error) { errors = llvm::joinErrors(std::move(errors), std::move(error)); }

  OmHostPort port(Type type, uint32_t slot, StringAttr name, StringRef stem, unsigned index) {
    OmHostPort port;
    port.name = name ? name.str() : (stem + Twine(index)).str();
    port.slot = slot;
    if (auto optional = dyn_cast<graph::OptionalType>(type)) {
      port.optional = true;
      type = optional.getItem();
    }
    if (auto sequence = dyn_cast<graph::SequenceType>(type)) {
      port.kind = OM_KIND_SEQUENCE;
      auto item = dyn_cast<TensorType>(sequence.getItem());
      port.dtype =
          item ? static_cast<om_dtype>(graph::dtypeOf(item.getElementType())) : OM_UNDEFINED;
      port.unranked = true;
    } else if (isa<graph::MapType>(type)) {
      port.kind = OM_KIND_MAP;
      port.dtype = OM_UNDEFINED;
      port.unranked = true;
    } else if (auto tensor = dyn_cast<TensorType>(type)) {
      port.dtype = static_cast<om_dtype>(graph::dtypeOf(tensor.getElementType()));
      port.unranked = !tensor.hasRank();
      if (tensor.hasRank())
        for (int64_t dim : tensor.getShape())
          port.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
    } else {
      fail(llvm::createStringError(
          "E14001: the %s '%s' is no tensor, sequence or map, nor an optional "
          "one",
          stem.str().c_str(), port.name.c_str()));
    }
    return port;
  }

  //===--- Steps ----------------------------------------------------------===//

  int32_t addBlock(Block &block, ArrayRef<uint32_t> targets) {
    int32_t index = program.blocks.size();
    program.blocks.emplace_back();
    addSteps(block, index);
    // The yielded values are moved to the slots of the enclosing op.
    OmHostStep move;
    move.kind = Kind::Move;
    SmallVector<int32_t> done;
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      uint32_t from = slotOf(value);
      if (from == targets[i])
        continue;
      move.inputs.push_back(from);
      move.outputs.push_back(targets[i]);
      Operation *producer = value.getDefiningOp();
      if (producer && producer->getBlock() == &block && !isa<graph::ConstantOp>(producer) &&
          !llvm::is_contained(done, int32_t(from)))
        done.push_back(from);
    }
    if (!move.inputs.empty())
      program.blocks[index].push_back(std::move(move));
    addRelease(index, done);
    return index;
  }

  void addRelease(int32_t block, ArrayRef<int32_t> released) {
    if (released.empty())
      return;
    OmHostStep step;
    step.kind = Kind::Release;
    step.inputs.assign(released.begin(), released.end());
    program.blocks[block].push_back(std::move(step));
  }

  void addSteps(Block &block, int32_t index) {
    // The last op of the block that reads each value made in it.
    DenseMap<Operation *, SmallVector<Value>> lastReads;
    auto findLast = [&](Value value) {
      Operation *last = nullptr;
      for (Operation *user : value.getUsers()) {
        Operation *reader = block.findAncestorOpInBlock(*user);
        if (!last || last->isBeforeInBlock(reader))
          last = reader;
      }
      if (last && !last->hasTrait<OpTrait::IsTerminator>())
        lastReads[last].push_back(value);
    };
    const bool isMain = block.getParentOp() == main;
    if (isMain)
      for (BlockArgument argument : block.getArguments())
        findLast(argument);
    for (Operation &op : block)
      if (!isa<graph::ConstantOp>(op))
        for (Value result : op.getResults())
          findLast(result);
    for (Operation &op : block.without_terminator()) {
      addWaits(op, index);
      if (graph::isCollective(&op))
        addCollective(op, index);
      else if (!isa<graph::ConstantOp>(op))
        addStep(op, index);
      SmallVector<int32_t> released;
      for (Value value : lastReads.lookup(&op))
        released.push_back(slotOf(value));
      addRelease(index, released);
    }
  }

  /// Waits for the collectives whose results `op` reads. All others go on.
  void addWaits(Operation &op, int32_t block) {
    OmHostStep wait;
    wait.kind = Kind::Wait;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (unfinished.erase(operand))
          wait.outputs.push_back(slotOf(operand));
    });
    if (!wait.outputs.empty())
      program.blocks[block].push_back(std::move(wait));
  }

  void addCollective(Operation &op, int32_t block) {
    OmHostStep step;
    step.kind = Kind::Collective;
    const Names names = namesOf(op.getLoc());
    step.name = !names.node.empty()     ? names.node
                : !names.tensor.empty() ? names.tensor
                                        : op.getName().stripDialect().str();
    const auto kinds = {std::pair(graph::AllReduceOp::getOperationName(), OM_ALL_REDUCE),
                        {graph::AllGatherOp::getOperationName(), OM_ALL_GATHER},
                        {graph::ReduceScatterOp::getOperationName(), OM_REDUCE_SCATTER},
                        {graph::AllToAllOp::getOperationName(), OM_ALL_TO_ALL},
                        {graph::BroadcastOp::getOperationName(), OM_BROADCAST},
                        {graph::SendOp::getOperationName(), OM_SEND},
                        {graph::ReceiveOp::getOperationName(), OM_RECEIVE}};
    for (auto [name, kind] : kinds)
      if (op.getName().getStringRef() == name)
        step.collective = kind;
    Value input = op.getNumOperands() ? op.getOperand(0) : Value();
    Value output = op.getNumResults() ? op.getResult(0) : Value();
    step.inputs = {input ? int32_t(slotOf(input)) : -1};
    step.outputs = {output ? int32_t(slotOf(output)) : -1};
    auto type = cast<RankedTensorType>((output ? output : input).getType());
    auto read = cast<RankedTensorType>((input ? input : output).getType());
    auto number = [&](StringRef name) {
      auto value = op.getAttrOfType<IntegerAttr>(name);
      return value ? value.getInt() : 0;
    };
    if (!type.hasStaticShape() || !read.hasStaticShape())
      return fail(llvm::createStringError("E10055: the collective '%s' has tensors of dynamic "
                                          "shape, which are not supported",
                                          step.name.c_str()));
    if (number("axis") || number("split_axis") || number("concat_axis"))
      return fail(llvm::createStringError("E14001: the collective '%s' is not along dim 0: run "
                                          "shard-lower-axes",
                                          step.name.c_str()));
    step.dtype = static_cast<om_dtype>(graph::dtypeOf(type.getElementType()));
    step.dims = type.getShape().vec();
    step.elements = read.getNumElements();
    step.root = number("root");
    step.tag = number("tag");
    if (auto ranks = op.getAttrOfType<DenseI64ArrayAttr>("ranks"))
      step.ranks.assign(ranks.asArrayRef().begin(), ranks.asArrayRef().end());
    else
      step.ranks = {static_cast<uint32_t>(number(isa<graph::SendOp>(op) ? "to" : "from"))};
    if (auto kind = op.getAttrOfType<graph::ReduceKindAttr>("kind"))
      step.reduction = kind.getValue() == graph::ReduceKind::Max   ? OM_REDUCE_MAX
                       : kind.getValue() == graph::ReduceKind::Min ? OM_REDUCE_MIN
                                                                   : OM_REDUCE_SUM;
    program.blocks[block].push_back(std::move(step));
    if (output)
      unfinished.insert(output);
  }

  void addStep(Operation &op, int32_t block) {
    OmHostStep step;
    const Names names = namesOf(op.getLoc());
    step.name = names.node;
    if (auto call = dyn_cast<graph::HostCallOp>(op)) {
      if (step.name.empty())
        step.name = call.getKernel().str();
      step.tensor = names.tensor;
      step.kernel = firstKernel + hostKernelIndex.at(call.getKernel());
      for (Value input : call.inputsByPosition())
        step.inputs.push_back(input ? int32_t(slotOf(input)) : -1);
      for (Value result : call.getResults())
        step.outputs.push_back(result.use_empty() ? -1 : int32_t(slotOf(result)));
      for (NamedAttribute named : call.getParameters())
        addAttribute(step, named);
      step.macs = host::countMacs(call).value_or(0);
      if (auto body = call->getAttrOfType<FlatSymbolRefAttr>(kBodyAttr))
        step.body = static_cast<int32_t>(kernelIndex.lookup(body.getAttr()));
    } else if (auto loop = dyn_cast<func::CallOp>(op)) {
      auto callee = main->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(loop.getCallee());
      step.kind = Kind::Tiles;
      for (auto tile :
           callee->getAttrOfType<ArrayAttr>(host::kTilesAttr).getAsRange<FlatSymbolRefAttr>())
        step.parts.push_back(partIndex.lookup(tile.getAttr()));
      auto numbers = [&](StringRef name) {
        return callee->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
      };
      step.sizes = numbers(host::kTileSizesAttr).vec();
      llvm::append_range(step.inputDims, numbers(host::kInputDimsAttr));
      llvm::append_range(step.outputDims, numbers(host::kOutputDimsAttr));
      step.rows = callee->hasAttr(host::kRowsAttr);
      for (Value input : loop.getOperands())
        step.inputs.push_back(slotOf(input));
      for (Value result : loop.getResults())
        step.outputs.push_back(result.use_empty() ? -1 : int32_t(slotOf(result)));
    } else if (auto run = dyn_cast<RunRegionOp>(op)) {
      step.kind = Kind::Run;
      step.part = partIndex.lookup(run.getRegionAttr().getAttr());
      for (Value input : run.getInputs())
        step.inputs.push_back(slotOf(input));
      for (Value result : run.getOutputs())
        step.outputs.push_back(result.use_empty() ? -1 : int32_t(slotOf(result)));
    } else if (auto branch = dyn_cast<graph::IfOp>(op)) {
      step.kind = Kind::If;
      step.condition = slotOf(branch.getCondition());
      SmallVector<uint32_t> targets;
      for (Value result : branch.getResults())
        targets.push_back(slotOf(result));
      step.block = addBlock(branch.getThenRegion().front(), targets);
      step.otherwise = addBlock(branch.getElseRegion().front(), targets);
    } else if (auto loop = dyn_cast<graph::LoopOp>(op)) {
      addLoop(loop, block);
      return;
    }
    program.blocks[block].push_back(std::move(step));
  }

  /// Carried values stay in one slot each: the argument's and the result's.
  void addLoop(graph::LoopOp loop, int32_t block) {
    SmallVector<uint32_t> targets{nextSlot++};
    OmHostStep start;
    start.kind = Kind::Move;
    start.inputs.push_back(slotOf(loop.getCondition()));
    for (Value initial : loop.getCarried())
      start.inputs.push_back(slotOf(initial));
    for (auto [result, argument] :
         llvm::zip_equal(loop.getResults(), loop.getBody().front().getArguments())) {
      targets.push_back(slotOf(result));
      slots[argument] = targets.back();
    }
    start.outputs.assign(targets.begin(), targets.end());
    program.blocks[block].push_back(std::move(start));
    OmHostStep step;
    step.kind = Kind::Loop;
    step.condition = targets[0];
    step.block = addBlock(loop.getBody().front(), targets);
    program.blocks[block].push_back(std::move(step));
    SmallVector<int32_t> unused{int32_t(targets[0])};
    for (Value result : loop.getResults())
      if (result.use_empty())
        unused.push_back(slotOf(result));
    addRelease(block, unused);
  }

  void addAttribute(OmHostStep &step, NamedAttribute named) {
    OmHostAttribute attribute;
    attribute.name = named.getName().str();
    SmallVector<Attribute> items{named.getValue()};
    if (auto list = dyn_cast<ArrayAttr>(named.getValue()))
      items.assign(list.begin(), list.end());
    if (auto ints = dyn_cast<DenseI64ArrayAttr>(named.getValue())) {
      attribute.ints = ints.asArrayRef().vec();
    } else if (auto floats = dyn_cast<DenseF64ArrayAttr>(named.getValue())) {
      attribute.kind = OmHostAttribute::Kind::Floats;
      attribute.floats = floats.asArrayRef().vec();
    } else if (!items.empty() && isa<ElementsAttr>(items.front())) {
      attribute.kind = OmHostAttribute::Kind::Tensors;
      for (Attribute item : items)
        attribute.tensors.push_back(addConstant(cast<ElementsAttr>(item), -1));
    } else {
      attribute.kind = OmHostAttribute::Kind::Strings;
      for (Attribute item : items)
        if (auto text = dyn_cast<StringAttr>(item))
          attribute.strings.push_back(text.str());
    }
    step.attributes.push_back(std::move(attribute));
  }

  func::FuncOp main;
  uint32_t firstKernel;
  llvm::StringMap<uint32_t> hostKernelIndex; ///< counted from firstKernel
  const DenseMap<StringAttr, uint32_t> &kernelIndex;
  llvm::function_ref<llvm::Expected<OmBufferRef>(ElementsAttr)> addWeight;
  OmHostProgram program;
  uint32_t nextSlot = 0;
  DenseMap<Value, uint32_t> slots;
  DenseSet<Value> unfinished; ///< results of collectives that nobody has waited for
  DenseMap<StringAttr, uint32_t> partIndex;
  llvm::Error errors = llvm::Error::success();
};

} // namespace

llvm::Expected<OmHostProgram>
describeHostProgram(func::FuncOp main, uint32_t firstKernel,
                    const DenseMap<StringAttr, uint32_t> &kernelIndex,
                    llvm::function_ref<llvm::Expected<OmBufferRef>(ElementsAttr)> addWeight) {
  return ProgramBuilder(main, firstKernel, kernelIndex, addWeight).build();
}

} // namespace atc::om
