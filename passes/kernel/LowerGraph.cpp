//===-- LowerGraph.cpp - from graph ops to kernels on buffers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LowerGraph.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"
#include "dialects/om/Om.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/pack/PackWeights.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::kernel {

/// Packed constants are released when they reach this number of bytes: finding unused ones costs a
/// walk.
static constexpr int64_t kReleaseBytes = 32 << 20;

GraphLowering::GraphLowering(func::FuncOp main, const TargetKernels &target)
    : builder(main.getContext()), location(main.getLoc()), main(main), target(target),
      storage(main, [&](Operation *op) { return !target.has(op); }, target.hasTileRegisters()) {}

LogicalResult GraphLowering::run() {
  addArguments();
  // A constant that is used through a view may be read later than its direct users.
  for (Operation &op : main.getOps())
    if (isa<graph::ConstantOp>(op) && llvm::none_of(op.getUsers(), canBeView))
      constantUses[&op] = std::distance(op.use_begin(), op.use_end());

  SmallVector<Operation *> ops;
  for (Operation &op : main.getOps())
    ops.push_back(&op);
  for (Operation *op : ops) {
    location = op->getLoc();
    builder.setInsertionPoint(op);
    if (failed(lower(op)))
      return op->emitError() << "E19999: the constants of '" << op->getName() << "' cannot be read";
    releaseConstants(op);
  }
  for (Operation *op : llvm::reverse(ops))
    if (!isa<func::ReturnOp>(op))
      op->erase();
  finish();
  return success();
}

LogicalResult GraphLowering::lower(Operation *op) {
  if (storage.isView(op) || storage.isSkipped(op) || isa<graph::ConstantOp>(op))
    return success();
  if (target.has(op))
    return target.lower(*this, op);
  if (isElementwise(op)) {
    lowerElementwise(*this, op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
#define OPENATC_LOWERED_OP(OP, LOWER, ERROR) .Case([&](graph::OP op) { return LOWER(*this, op); })
#include "passes/kernel/LoweredOps.def"
#undef OPENATC_LOWERED_OP
      .Case([&](func::ReturnOp op) {
        writeResults(op);
        return success();
      })
      .Default([](Operation *) { return failure(); });
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Buffers for inputs and results join the tensors, which stay until every op
/// is lowered.
void GraphLowering::addArguments() {
  Block &body = main.getBody().front();
  auto add = [&](Type tensor, Location loc) {
    // The sign of integers is the user's business; kernels see a view without.
    auto type = cast<RankedTensorType>(tensor);
    return body.addArgument(MemRefType::get(type.getShape(), type.getElementType()), loc);
  };
  FunctionType type = main.getFunctionType();
  for (unsigned i = 0; i < type.getNumInputs(); ++i)
    memory[body.getArgument(i)] = add(type.getInput(i), body.getArgument(i).getLoc());
  auto returnOp = cast<func::ReturnOp>(body.getTerminator());
  for (Value result : returnOp.getOperands())
    add(result.getType(), result.getLoc());
}

void GraphLowering::writeResults(func::ReturnOp op) {
  unsigned first = main.getBody().front().getNumArguments() - op.getNumOperands();
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    if (tensorType(value).getNumElements() == 0)
      continue;
    Storage from = storageOf(value);
    if (std::optional<unsigned> result = storage.resultOf(from.base);
        result == index && from.base == value)
      continue;
    // The result is another one too, an argument, a constant or a view.
    location = value.getLoc();
    Storage to = Storage::whole(main.getBody().front().getArgument(first + index), from.element,
                                tensorType(value).getShape());
    copy(from, to);
  }
  op->setOperands({});
}

void GraphLowering::finish() {
  Block &body = main.getBody().front();
  FunctionType type = main.getFunctionType();
  unsigned inputs = type.getNumInputs(), results = type.getNumResults();
  body.eraseArguments(0, inputs);

  SmallVector<Attribute> attributes;
  auto add = [&](ArrayAttr all, unsigned index, StringRef stem, bool isResult) {
    NamedAttrList list;
    if (all)
      list = NamedAttrList(cast<DictionaryAttr>(all[index]));
    if (!list.get("om.name"))
      list.set("om.name", builder.getStringAttr(stem + Twine(index)));
    if (isResult)
      list.set("om.output", builder.getUnitAttr());
    attributes.push_back(list.getDictionary(main.getContext()));
  };
  for (unsigned i = 0; i < inputs; ++i)
    add(main.getArgAttrsAttr(), i, "input", /*isResult=*/false);
  for (unsigned i = 0; i < results; ++i)
    add(main.getResAttrsAttr(), i, "output", /*isResult=*/true);
  main.removeResAttrsAttr();
  main.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  main.setArgAttrsAttr(builder.getArrayAttr(attributes));
  graph::releaseUnusedConstants(main->getParentOfType<ModuleOp>());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

FailureOr<ElementsAttr> GraphLowering::constantOf(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  if (auto constant = tensor.getDefiningOp<graph::ConstantOp>())
    return reinterpret(constant.getValue(), type.getShape());
  Operation *op = tensor.getDefiningOp();
  if (!isKnown(tensor))
    return failure();
  FailureOr<ElementsAttr> source = constantOf(op->getOperand(0));
  if (failed(source))
    return failure();
  return blockOf(type) ? packTensor(*source, type) : reinterpret(*source, type.getShape());
}

Value GraphLowering::weight(ElementsAttr value) {
  Value &result = weights[value];
  if (!result) {
    auto type = cast<RankedTensorType>(value.getShapedType());
    auto memref = MemRefType::get(type.getShape(), type.getElementType());
    result = om::WeightOp::create(builder, location, memref, value);
  }
  return result;
}

/// Lets go of constants that no op will read any more, so that not all weights
/// are in memory twice.
void GraphLowering::releaseConstants(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<graph::ConstantOp>();
    auto uses = constant ? constantUses.find(constant) : constantUses.end();
    if (uses == constantUses.end() || --uses->second != 0 ||
        !isa<DenseResourceElementsAttr>(constant.getValue()))
      continue;
    RankedTensorType type = constant.getType();
    unusedBytes += storedBytes(type, 0);
    Attribute zero = builder.getZeroAttr(type.getElementType());
    constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(type), zero));
  }
  if (unusedBytes >= kReleaseBytes) {
    graph::releaseUnusedConstants(main->getParentOfType<ModuleOp>());
    unusedBytes = 0;
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static std::string nameOf(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    return name.getName().str();
  std::string text;
  llvm::raw_string_ostream os(text);
  op->getLoc().print(os);
  return text;
}

/// Reports all errors at once, so that the user sees everything that the model needs.
static LogicalResult checkSupported(func::FuncOp main, const TargetKernels &target) {
  SmallVector<std::string> errorLines;
  for (Operation &op : main.getOps()) {
    std::string reason = whyUnsupported(&op, target);
    if (reason.empty())
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << nameOf(&op) << " (" << op.getName() << " of ";
    llvm::interleaveComma(op.getOperandTypes(), os, [&](Type type) { os << describeType(type); });
    os << "): " << reason;
    errorLines.push_back(std::move(text));
  }
  if (errorLines.empty())
    return success();
  InFlightDiagnostic error = main.emitError();
  error << "E10055: the " << target.name() << " backend does not support " << errorLines.size()
        << (errorLines.size() == 1 ? " operator:" : " operators:");
  for (const std::string &errorText : errorLines)
    error << "\n  " << errorText;
  return error;
}

LogicalResult lowerGraph(ModuleOp module, const TargetKernels &target) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return success();
  if (failed(checkSupported(main, target)))
    return failure();
  return GraphLowering(main, target).run();
}

} // namespace atc::kernel
