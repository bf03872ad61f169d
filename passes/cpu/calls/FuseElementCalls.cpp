//===-- FuseElementCalls.cpp - elementwise host calls become maps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/cpu/calls/CallFunctions.h"
#include "passes/cpu/calls/ElementCalls.h"
#include "passes/cpu/calls/Passes.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/kernel/Kernel.h"
#include "kernels/core/GeneratedCode.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Remarks.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/kernel/GeneratedOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUFUSEELEMENTCALLS
#include "passes/cpu/calls/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns the type of a chunk of a value; null for what is no tensor of supported elements.
RankedTensorType chunkType(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type)
    return {};
  auto chunk = RankedTensorType::get({kernels::kMapChunk}, type.getElementType());
  return graph::isPlainTensor(chunk) ? chunk : RankedTensorType();
}

/// Returns the type of the buffer of a chunk: kernels compute with signless integers.
MemRefType bufferType(RankedTensorType chunk) {
  Type element = chunk.getElementType();
  if (!element.isSignlessIntOrFloat())
    element = IntegerType::get(chunk.getContext(), element.getIntOrFloatBitWidth());
  return MemRefType::get(chunk.getShape(), element);
}

std::optional<int64_t> rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

/// Returns the one element of a constant that cannot raise the rank of what `call` computes.
DenseElementsAttr scalarIn(HostCallOp call, Value value) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense || dense.getNumElements() != 1 || !dense.getElementType().isIntOrFloat())
    return {};
  const int64_t rank = dense.getType().getRank();
  auto covers = [&](Value other) { return other != value && rankOf(other).value_or(0) >= rank; };
  return rank == 0 || llvm::any_of(call.getInputs(), covers) ? dense : DenseElementsAttr();
}

/// Returns whether a call costs much more than to read an operand once more.
bool isExpensive(HostCallOp call) {
  static constexpr StringLiteral cheap[] = {
      "Abs",   "Add",   "And",         "Cast",    "Ceil", "Clip",           "Equal",
      "Floor", "Less",  "LessOrEqual", "Greater", "Max",  "LeakyRelu",      "Mean",
      "Min",   "Mul",   "Neg",         "Not",     "Or",   "GreaterOrEqual", "PRelu",
      "Relu",  "Round", "Sub",         "Sum",     "Where"};
  return !llvm::is_contained(cheap, call.getKernel());
}

/// Holds calls that become one; the last one has the result.
struct Group {
  SmallVector<HostCallOp> calls;
  llvm::SetVector<Value> inputs; ///< but for scalars that become part of the code
  bool isExpensive = false;
};

class BlockFuser {
public:
  BlockFuser(Block &block, CallFunctions &functions, unsigned &numMaps)
      : block(block), functions(functions), numMaps(numMaps) {}

  void run() {
    for (HostCallOp call : block.getOps<HostCallOp>())
      if (isElementwise(call))
        addGroup(call);
    for (auto &[last, group] : groups) {
      if (group.calls.empty())
        continue;
      // Groups in front of this one have been replaced.
      llvm::SetVector<Value> inputs;
      for (Value input : group.inputs)
        inputs.insert(replaced.lookup_or(input, input));
      group.inputs = std::move(inputs);
      if (computesFloats(group))
        replace(group);
    }
  }

private:
  /// Returns whether a call is elementwise and code can be generated for it.
  static bool isElementwise(HostCallOp call) {
    if (call.getInputs().empty() || call->getNumResults() == 0 || call.getResult(0).use_empty())
      return false;
    if (call.getKernel() == "Clip")
      // Bounds of shape [1] do not broadcast.
      for (Value bound : call.getInputs().drop_front())
        if (rankOf(bound) != 0 && !scalarIn(call, bound))
          return false;
    Block scratch;
    OpBuilder builder(call.getContext());
    builder.setInsertionPointToEnd(&scratch);
    SmallVector<Value> operands;
    for (Value input : call.inputsByPosition()) {
      RankedTensorType type = input ? chunkType(input) : RankedTensorType();
      if (input && !type)
        return false;
      operands.push_back(input ? Value(scratch.addArgument(type, call.getLoc())) : Value());
    }
    return chunkType(call.getResult(0)) && buildElementOps(builder, call, operands) &&
           llvm::all_of(scratch, [](Operation &op) {
             return isa<graph::ConstantOp>(op) || (isa<graph::ElementwiseOpInterface>(op) &&
                                                   kernel::canGenerate(&op, /*widenFloats=*/true));
           });
  }

  static bool computesFloats(const Group &group) {
    auto isFloat = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); };
    return llvm::any_of(group.inputs, isFloat) || isFloat(group.calls.back()->getResult(0));
  }

  void addGroup(HostCallOp call) {
    Group &own = groups[call];
    own.calls = {call};
    own.isExpensive = isExpensive(call);
    for (Value input : call.getInputs())
      if (!scalarIn(call, input))
        own.inputs.insert(input);
    for (Value input : SmallVector<Value>(own.inputs.getArrayRef()))
      if (auto producer = input.getDefiningOp<HostCallOp>())
        if (auto found = groups.find(producer); found != groups.end())
          merge(call, groups[call], input, found->second);
    if (own.inputs.empty() || own.inputs.size() > kernels::kMapInputs)
      own.calls.clear();
  }

  /// Merges the group that computes `input` of `call`, where that cannot repeat expensive work.
  void merge(HostCallOp call, Group &own, Value input, Group &other) {
    if (other.calls.empty() || own.calls.size() + other.calls.size() > kernels::kMapCalls ||
        !llvm::all_of(input.getUsers(), [&](Operation *user) { return user == call; }))
      return;
    llvm::SetVector<Value> inputs;
    bool mayGrow = false;
    for (Value value : own.inputs) {
      if (value == input) {
        inputs.insert(other.inputs.begin(), other.inputs.end());
        continue;
      }
      inputs.insert(value);
      // A scalar, and an operand of the other group, do not make the result larger than `input`.
      mayGrow |= !other.inputs.contains(value) && rankOf(value) != 0;
    }
    if (inputs.size() > kernels::kMapInputs || (mayGrow && other.isExpensive))
      return;
    own.inputs = std::move(inputs);
    own.calls.insert(own.calls.begin(), other.calls.begin(), other.calls.end());
    own.isExpensive |= other.isExpensive;
    other.calls.clear();
  }

  func::FuncOp makeFunction(const Group &group) {
    Block ops;
    OpBuilder builder(block.getParentOp()->getContext());
    builder.setInsertionPointToEnd(&ops);
    Location loc = builder.getUnknownLoc();
    DenseMap<Value, Value> values;
    SmallVector<Type> buffers;
    for (Value input : group.inputs) {
      RankedTensorType type = chunkType(input);
      values[input] = ops.addArgument(type, loc);
      buffers.push_back(bufferType(type));
    }
    Value result;
    for (HostCallOp call : group.calls) {
      SmallVector<Value> operands;
      for (Value input : call.inputsByPosition()) {
        Value operand = input ? values.lookup(input) : Value();
        if (input && !operand)
          operand = graph::ConstantOp::create(
              builder, loc, SplatElementsAttr::get(chunkType(input), splatOf(call, input)));
        operands.push_back(operand);
      }
      result = buildElementOps(builder, call, operands);
      values[call.getResult(0)] = result;
    }
    auto type = cast<RankedTensorType>(result.getType());
    buffers.push_back(bufferType(type));

    func::FuncOp function = functions.make(buffers);
    setAliasing(function, buffers.size());
    for (unsigned i = 0; i + 1 < buffers.size(); ++i)
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
    Block &body = function.getBody().front();
    builder.setInsertionPointToStart(&body);
    buildMap(builder, ops, result, body.getArguments().take_front(group.inputs.size()),
             body.getArgument(group.inputs.size()));
    return function;
  }

  static Attribute splatOf(HostCallOp call, Value input) {
    return *scalarIn(call, input).getValues<Attribute>().begin();
  }

  /// States which calls a group is made of, so that an error can name the one whose operands do not
  /// broadcast. The name of the group is that of the last one.
  static void addNodes(const Group &group, NamedAttrList &parameters) {
    Builder builder(group.calls.back()->getContext());
    DenseMap<Value, int64_t> numbers; // as kernels::kMapOperands has them
    for (auto [i, input] : llvm::enumerate(group.inputs))
      numbers[input] = i;
    SmallVector<int64_t> operands;
    SmallVector<Attribute> names;
    bool mayFailEarlier = false;
    for (auto [i, each] : llvm::enumerate(group.calls)) {
      HostCallOp call = each;
      SmallVector<int64_t> own;
      for (Value input : call.getInputs())
        if (auto found = numbers.find(input); found != numbers.end())
          own.push_back(found->second);
      mayFailEarlier |= own.size() > 1 && call != group.calls.back();
      operands.push_back(own.size());
      operands.append(own);
      numbers[call.getResult(0)] = -1 - int64_t(i);
      names.push_back(builder.getStringAttr(graph::nodeNameOf(call.getLoc())));
    }
    if (!mayFailEarlier)
      return;
    parameters.set(kernels::kMapNodes, builder.getArrayAttr(names));
    parameters.set(kernels::kMapOperands, builder.getDenseI64ArrayAttr(operands));
  }

  void replace(Group &group) {
    HostCallOp last = group.calls.back();
    OpBuilder builder(last);
    Value result = last.getResult(0);
    auto to = builder.getDenseI64ArrayAttr({graph::dtypeOf(getElementTypeOrSelf(result))});
    NamedAttrList parameters;
    parameters.set("to", to);
    addNodes(group, parameters);
    auto map = HostCallOp::create(builder, last.getLoc(), TypeRange(result.getType()), "Map",
                                  group.inputs.getArrayRef(), DenseI32ArrayAttr(),
                                  parameters.getDictionary(builder.getContext()));
    functions.add(makeFunction(group), "map", map);
    remarkPassed("cpu-fuse-element-calls", last.getLoc(), "Generated")
        << remark::add("{0} elementwise calls become one with generated code", group.calls.size());
    replaced[result] = map.getResult(0);
    result.replaceAllUsesWith(map.getResult(0));
    for (HostCallOp call : llvm::reverse(group.calls))
      call.erase();
    ++numMaps;
  }

  Block &block;
  CallFunctions &functions;
  unsigned &numMaps;
  llvm::MapVector<Operation *, Group> groups; ///< by the last call; empty where merged
  DenseMap<Value, Value> replaced;            ///< results of groups by those of erased calls
};

struct FuseElementCalls : impl::CpuFuseElementCallsBase<FuseElementCalls> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    SmallVector<Block *> blocks;
    main.walk([&](Block *block) {
      if (!block->getOps<HostCallOp>().empty())
        blocks.push_back(block);
    });
    CallFunctions functions(getOperation());
    unsigned count = 0;
    for (Block *block : blocks)
      BlockFuser(*block, functions, count).run();
    numMaps += count;
  }
};

} // namespace
} // namespace atc::cpu
