//===-- ObjectEmitter.cpp - kernels in the LLVM dialect become objects ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/ObjectEmitter.h"
#include "backends/cpu/CodeGenerator.h"
#include "passes/om/CallBodies.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace llvm;

namespace atc::cpu {

namespace {

Type *bitsOf(Type *type) {
  return type->getScalarType()->isBFloatTy()
             ? type->getWithNewType(Type::getInt16Ty(type->getContext()))
             : nullptr;
}
/// Returns null for what is no bfloat.
Value *asBits(IRBuilder<> &builder, Value *value) {
  Type *bits = bitsOf(value->getType());
  return bits ? builder.CreateBitCast(value, bits) : nullptr;
}
/// Returns null for what does more than to move bfloat.
Value *movedAsBits(IRBuilder<> &builder, Instruction &instruction) {
  Type *bits = bitsOf(instruction.getType());
  if (!bits)
    return nullptr;
  auto operand = [&](unsigned i) { return asBits(builder, instruction.getOperand(i)); };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    LoadInst *moved = builder.CreateAlignedLoad(bits, load->getPointerOperand(), load->getAlign());
    moved->copyMetadata(*load);
    return moved;
  }
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return builder.CreateSelect(select->getCondition(), operand(1), operand(2));
  if (isa<InsertElementInst>(instruction))
    return builder.CreateInsertElement(operand(0), operand(1), instruction.getOperand(2));
  if (isa<ExtractElementInst>(instruction))
    return builder.CreateExtractElement(operand(0), instruction.getOperand(1));
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return builder.CreateShuffleVector(operand(0), operand(1), shuffle->getShuffleMask());
  return nullptr;
}

/// Converts moves of bfloat to 16-bit integers. Code generation would convert single values, or
/// vectors that are live across blocks, to floats, which need a library function to become bfloat
/// again.
void moveBitsOfBFloat(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      IRBuilder<> builder(&instruction);
      if (auto *store = dyn_cast<StoreInst>(&instruction)) {
        Value *stored = asBits(builder, store->getValueOperand());
        if (!stored)
          continue;
        StoreInst *moved =
            builder.CreateAlignedStore(stored, store->getPointerOperand(), store->getAlign());
        moved->copyMetadata(*store);
        store->eraseFromParent();
      } else if (Value *moved = movedAsBits(builder, instruction)) {
        instruction.replaceAllUsesWith(builder.CreateBitCast(moved, instruction.getType()));
        instruction.eraseFromParent();
      }
    }
}

/// Vectorizes the loops of functions that have only scalar ones, as their dims are not known.
struct VectorizeScalarLoops : PassInfoMixin<VectorizeScalarLoops> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    if (!function.hasFnAttribute(om::kScalarLoopsAttr))
      return PreservedAnalyses::all();
    FunctionPassManager passes;
    passes.addPass(LoopVectorizePass());
    passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
    return passes.run(function, analyses);
  }
};

/// The expand passes have done the work that -O3 is known for: nothing here unrolls or makes calls
/// of loops, and only loops over dims that are not known are vectorized.
void optimize(CodeGenerator &generator, Module &module) {
  FunctionPassManager cleanup;
  cleanup.addPass(SROAPass(SROAOptions::ModifyCFG));
  cleanup.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  cleanup.addPass(InstCombinePass());
  cleanup.addPass(SimplifyCFGPass());
  // Loops test at their end, so that code before them can be hoisted to a point that is always
  // executed.
  LoopPassManager loopPasses;
  loopPasses.addPass(LoopRotatePass());
  loopPasses.addPass(LICMPass(LICMOptions()));
  cleanup.addPass(createFunctionToLoopPassAdaptor(std::move(loopPasses), /*UseMemorySSA=*/true));
  cleanup.addPass(GVNPass());
  cleanup.addPass(InstCombinePass());
  cleanup.addPass(DCEPass());
  cleanup.addPass(SimplifyCFGPass());
  cleanup.addPass(VectorizeScalarLoops());

  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(GlobalDCEPass());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(cleanup)));
  generator.runPasses(module, [&](PassBuilder &) { return std::move(passes); });
}

/// Generates the code of one part, or takes that of an equal one out of the cache: a model is
/// compiled again and again while somebody works on it, and most of its kernels stay as they were.
Error emitPart(mlir::ModuleOp part, const CpuLevel &level, const EmitOptions &options,
               const ObjectCache &cache, StringRef name, Object &object) {
  auto generator = CodeGenerator::create(level);
  if (!generator)
    return generator.takeError();
  CodeGenerator &code = **generator;
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(part, code.getContext(), name);
  if (!module)
    return createStringError(inconvertibleErrorCode(),
                             "the kernels of " + name + " could not be translated to LLVM IR");
  code.setTarget(*module);
  code.setAttributes(*module);
  // The name has the number of the part, which the code does not depend on.
  module->setModuleIdentifier("");
  module->setSourceFileName("");
  const std::string key = ObjectCache::key({"part", level.name, bitcodeOf(*module)});
  if (options.tempDir.empty())
    if (std::optional<Object> found = cache.find(key)) {
      object = std::move(*found);
      return Error::success();
    }
  moveBitsOfBFloat(*module);
  optimize(code, *module);
  if (!options.tempDir.empty())
    if (Error error = code.keep(*module, options.tempDir, name))
      return error;
  if (Error error = code.generate(*module, object))
    return error;
  cache.store(key, object);
  return Error::success();
}

/// Returns the number of operations, by which parts are balanced.
size_t sizeOf(mlir::Operation *op) {
  size_t count = 0;
  op->walk([&](mlir::Operation *) { ++count; });
  return count;
}

/// Distributes the kernels over at most `max` parts of similar size. A kernel and the body that
/// only it calls stay together.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>> split(mlir::ModuleOp module, unsigned max) {
  struct Group {
    SmallVector<mlir::Operation *> ops;
    size_t size = 0;
  };
  MapVector<StringRef, Group> groups;
  for (mlir::Operation &op : *module.getBody()) {
    auto name = op.getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
    Group &group = groups[name ? name.getValue().split('$').first : StringRef()];
    group.ops.push_back(&op);
    group.size += sizeOf(&op);
  }
  SmallVector<std::pair<StringRef, Group *>> order;
  for (auto &[name, group] : groups)
    order.emplace_back(name, &group);
  llvm::sort(order, [](const auto &a, const auto &b) {
    return std::pair(b.second->size, a.first) < std::pair(a.second->size, b.first);
  });

  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> parts;
  for (size_t i = 0, count = std::clamp<size_t>(groups.size(), 1, max); i < count; ++i)
    parts.push_back(mlir::ModuleOp::create(module.getLoc(), module.getName()));
  std::vector<size_t> sizes(parts.size(), 0);
  for (auto [name, group] : order) {
    size_t part = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
    sizes[part] += group->size;
    for (mlir::Operation *op : group->ops)
      op->moveBefore(parts[part]->getBody(), parts[part]->getBody()->end());
  }
  return parts;
}

} // namespace

void registerEmitterDialects(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

Expected<std::vector<Object>> emitObjects(mlir::ModuleOp kernels, const CpuLevel &level,
                                          const EmitOptions &options, const ObjectCache &cache) {
  // Equal functions and constants of a part are merged, so that the number of parts affects the
  // code: it is the same on every machine, and larger than most numbers of threads, so that a slow
  // part does not leave the others idle.
  constexpr unsigned maxParts = 32;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> parts = split(kernels, maxParts);
  std::vector<Object> objects(parts.size());
  // The translation to LLVM makes attributes: their context must have locks, which it has not while
  // remarks are printed in order.
  const unsigned threads = kernels.getContext()->isMultithreadingEnabled() ? options.threads : 1;
  if (Error error = forEachInParallel(parts.size(), threads, [&](size_t i) {
        return emitPart(*parts[i], level, options, cache, level.name + "." + std::to_string(i),
                        objects[i]);
      }))
    return error;
  return objects;
}

} // namespace atc::cpu
