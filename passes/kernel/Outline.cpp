//===-- Outline.cpp - moves kernel ops into functions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Choices.h"
#include "passes/kernel/KernelMacs.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/kernel/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::kernel {
#define GEN_PASS_DEF_KERNELOUTLINE
#include "passes/kernel/Passes.h.inc"

namespace {

struct OutlinePass : impl::KernelOutlineBase<OutlinePass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    for (Operation &op : getOperation().getBody()->getOperations())
      if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        names.insert(name.getValue());

    SmallVector<KernelOpInterface> ops;
    main.walk([&](KernelOpInterface op) { ops.push_back(op); });
    for (KernelOpInterface op : ops)
      outline(op);
  }

private:
  void outline(KernelOpInterface op) {
    func::FuncOp kernel = kernelFor(op);
    OpBuilder builder(op);
    SmallVector<int64_t> inPlace;
    for (unsigned i = 0, last = op->getNumOperands() - 1; i < last; ++i) {
      if (op.canRunInPlace(i))
        inPlace.push_back(i);
      Operation *root = om::resolveViews(op->getOperand(i)).root.getDefiningOp();
      if (op.holdsAddresses(i) && isa_and_nonnull<om::WeightOp>(root))
        root->setAttr(om::kAddressesAttr, builder.getUnitAttr());
    }
    // The cost of the CPU's launches is their work; that of the NPU's only their products.
    const bool onNpu = op->hasAttr(om::kNpuDeviceAttr);
    auto launch = om::LaunchOp::create(
        builder, op.getLoc(), kernel.getSymNameAttr(), op->getOperands(),
        onNpu ? 2 * macsOf(op) : op.flops(), op->getAttrOfType<TypeAttr>(kTensorAttr),
        inPlace.empty() ? nullptr : builder.getDenseI64ArrayAttr(inPlace));
    if (!onNpu)
      launch.setMacs(macsOf(op));
    if (Attribute number = op->getAttr(kKernelNumberAttr))
      launch->setAttr(kKernelNumberAttr, number);
    op.erase();
    ++numLaunches;
  }

  /// The kernel that does what `op` does. Two ops share one when their kernels
  /// would read the same, that is, without locations, names of values and
  /// discardable attributes.
  func::FuncOp kernelFor(KernelOpInterface op) {
    auto kernel = makeKernel(op);
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->print(os, OpPrintingFlags().printGenericOpForm().enableDebugInfo(false));
    auto [entry, isNew] = known.try_emplace(text, kernel);
    if (!isNew) {
      kernel.erase();
      return entry->second;
    }
    kernel.setSymName(uniqueName(op.kernelName()));
    getOperation().push_back(kernel);
    ++numKernels;
    return kernel;
  }

  func::FuncOp makeKernel(KernelOpInterface op) {
    OpBuilder builder(&getContext());
    Attribute soc = getOperation()->getAttr(om::kNpuSocAttr);
    bool onNpu = soc && op->hasAttr(om::kNpuDeviceAttr);
    SmallVector<Type> types(op->getOperandTypes());
    if (!onNpu)
      types.append(2, builder.getIndexType());
    auto kernel = func::FuncOp::create(builder, builder.getUnknownLoc(), "kernel",
                                       builder.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr(onNpu ? om::kNpuKernelAttr : om::kCpuKernelAttr, builder.getUnitAttr());
    if (onNpu)
      kernel->setAttr(om::kNpuSocAttr, soc);
    else
      setAliasing(kernel, op);

    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    Operation *copy = builder.clone(*op, mapping);
    // Each operand has an argument of its own, also where a value is used twice.
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      copy->setOperand(i, body->getArgument(i));
    SmallVector<StringAttr> discardable;
    for (NamedAttribute attribute : copy->getDiscardableAttrs())
      discardable.push_back(attribute.getName());
    for (StringAttr name : discardable)
      copy->removeDiscardableAttr(name);
    func::ReturnOp::create(builder, builder.getUnknownLoc());
    return kernel;
  }

  /// Declares that buffers do not alias, except where the result may reuse an operand's buffer.
  static void setAliasing(func::FuncOp kernel, KernelOpInterface op) {
    Builder builder(op.getContext());
    unsigned last = op->getNumOperands() - 1;
    bool inPlace = false;
    for (unsigned i = 0; i < last; ++i) {
      kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
      if (op.canRunInPlace(i))
        inPlace = true;
      else
        kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    }
    if (!inPlace)
      kernel.setArgAttr(last, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  }

  std::string uniqueName(StringRef wanted) {
    std::string stem;
    for (char c : wanted)
      stem += llvm::isAlnum(c) ? c : '_';
    std::string name = stem;
    unsigned &taken = numbers[stem];
    while (!names.insert(name).second)
      name = stem + "_" + std::to_string(++taken);
    return name;
  }

  llvm::StringMap<func::FuncOp> known;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> numbers; ///< last suffix per stem
};
} // namespace
} // namespace atc::kernel
