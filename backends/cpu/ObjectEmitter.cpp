//===-- ObjectEmitter.cpp - kernels in the LLVM dialect become objects ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/ObjectEmitter.h"

#include "backends/cpu/KernelBitcode.h"
#include "support/OutputStream.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>
#include <thread>

using namespace llvm;

namespace atc::cpu {

namespace {

using Object = SmallVector<char, 0>;

Error failed(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

const Target *findTarget(const CpuLevel &level, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  return TargetRegistry::lookupTarget(Triple(level.triple()), error);
}

/// One part of the kernels on its way to an object; each has a context of its
/// own, so that parts can be made at the same time.
class Emitter {
public:
  Emitter(const CpuLevel &level, const Target &target) : level(level) {
    TargetOptions options;
    options.AllowFPOpFusion = FPOpFusion::Fast;
    options.FunctionSections = false;
    machine.reset(target.createTargetMachine(Triple(level.triple()), level.cpu, level.features,
                                             options, Reloc::PIC_, CodeModel::Small,
                                             CodeGenOptLevel::Default));
  }

  Error emit(mlir::ModuleOp part, const EmitOptions &options, StringRef name, Object &object) {
    std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(part, context, name);
    if (!module)
      return failed("the kernels of " + name + " could not be translated to LLVM IR");
    module->setTargetTriple(machine->getTargetTriple());
    module->setDataLayout(machine->createDataLayout());
    setAttributes(*module);
    moveBitsOfBFloat(*module);
    optimize(*module);
    if (!options.tempDir.empty())
      if (Error error = keep(*module, options.tempDir, name))
        return error;
    return generate(*module, CodeGenFileType::ObjectFile, object);
  }

  /// Host kernels are written in C++: they need all of -O3.
  Error emitHost(ArrayRef<std::string> symbols, uint64_t types, const EmitOptions &options,
                 Object &object) {
    MemoryBufferRef bitcode(kernelBitcode(level.arch), "kernels");
    Expected<std::unique_ptr<Module>> all = getLazyBitcodeModule(bitcode, context);
    if (!all)
      return all.takeError();
    // What the module asks for is what the linker takes out of the others.
    static constexpr StringLiteral library[] = {"memcpy", "memmove", "memset",
                                                "memcmp", "strcmp",  "strlen"};
    auto module = std::make_unique<Module>("host-kernels", context);
    module->setTargetTriple(machine->getTargetTriple());
    module->setDataLayout(machine->createDataLayout());
    StringSet<> kept;
    auto need = [&](StringRef name) {
      kept.insert(name);
      if (Function *function = (*all)->getFunction(name))
        module->getOrInsertFunction(name, function->getFunctionType());
    };
    for (const std::string &symbol : symbols)
      need(symbol);
    for (StringRef name : library)
      need(name);
    auto *word = Type::getInt64Ty(context);
    new GlobalVariable(*module, word, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                       ConstantInt::get(word, types), "atc_kernel_types");
    if (Linker::linkModules(*module, std::move(*all), Linker::Flags::LinkOnlyNeeded))
      return failed("the host kernels could not be linked");
    setAttributes(*module);
    // Calls of the library are made while code is generated: it stays.
    internalizeModule(*module,
                      [&](const GlobalValue &value) { return kept.contains(value.getName()); });
    optimizeFully(*module);
    if (!options.tempDir.empty())
      if (Error error = keep(*module, options.tempDir, level.name + ".host"))
        return error;
    return generate(*module, CodeGenFileType::ObjectFile, object);
  }

private:
  /// Moves bfloat as 16-bit integers. Where code generation sees single ones, or vectors
  /// of them that live across blocks, it makes floats of them, which need a library to
  /// become bfloat again.
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
  Type *bitsOf(Type *type) {
    return type->getScalarType()->isBFloatTy() ? type->getWithNewType(Type::getInt16Ty(context))
                                               : nullptr;
  }
  /// Null for what is no bfloat.
  Value *asBits(IRBuilder<> &builder, Value *value) {
    Type *bits = bitsOf(value->getType());
    return bits ? builder.CreateBitCast(value, bits) : nullptr;
  }
  /// Null for what does more than to move bfloat.
  Value *movedAsBits(IRBuilder<> &builder, Instruction &instruction) {
    Type *bits = bitsOf(instruction.getType());
    if (!bits)
      return nullptr;
    auto operand = [&](unsigned i) { return asBits(builder, instruction.getOperand(i)); };
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      LoadInst *moved =
          builder.CreateAlignedLoad(bits, load->getPointerOperand(), load->getAlign());
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

  void optimizeFully(Module &module) {
    runPasses(module, [](PassBuilder &builder) {
      return builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2);
    });
  }

  void runPasses(Module &module, function_ref<ModulePassManager(PassBuilder &)> build) {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager graphs;
    ModuleAnalysisManager modules;
    PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    build(builder).run(module, modules);
  }

  void setAttributes(Module &module) {
    for (Function &function : module) {
      if (function.isDeclaration())
        continue;
      function.addFnAttr("target-cpu", level.cpu);
      if (!level.features.empty())
        function.addFnAttr("target-features", level.features);
      // Tiles are chosen for registers of this width.
      function.addFnAttr("prefer-vector-width", std::to_string(32 * level.lanes));
      function.addFnAttr("no-builtins");
      function.addFnAttr("frame-pointer", "none");
    }
  }

  /// The expand passes have done the work that -O3 is known for: nothing here
  /// unrolls, vectorizes or makes calls of loops.
  void optimize(Module &module) {
    FunctionPassManager cleanup;
    cleanup.addPass(SROAPass(SROAOptions::ModifyCFG));
    cleanup.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    cleanup.addPass(InstCombinePass());
    cleanup.addPass(SimplifyCFGPass());
    // Loops test at their end, so that code before them can be hoisted to a place
    // that always runs.
    LoopPassManager loopPasses;
    loopPasses.addPass(LoopRotatePass());
    loopPasses.addPass(LICMPass(LICMOptions()));
    cleanup.addPass(createFunctionToLoopPassAdaptor(std::move(loopPasses), /*UseMemorySSA=*/true));
    cleanup.addPass(GVNPass());
    cleanup.addPass(InstCombinePass());
    cleanup.addPass(DCEPass());
    cleanup.addPass(SimplifyCFGPass());

    ModulePassManager passes;
    passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
    passes.addPass(GlobalDCEPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(cleanup)));
    runPasses(module, [&](PassBuilder &) { return std::move(passes); });
  }

  Error generate(Module &module, CodeGenFileType type, Object &bytes) {
    raw_svector_ostream os(bytes);
    legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, os, nullptr, type))
      return failed("this LLVM cannot write " + level.arch + " code");
    passes.run(module);
    return Error::success();
  }

  Error keep(Module &module, StringRef dir, StringRef name) {
    auto write = [&](StringRef suffix, function_ref<void(raw_ostream &)> print) -> Error {
      SmallString<128> path(dir);
      sys::path::append(path, name + suffix);
      std::string error;
      return writeStream(path.str().str(), print, error) ? Error::success() : failed(error);
    };
    if (Error error = write(".ll", [&](raw_ostream &os) { module.print(os, nullptr); }))
      return error;
    // Code generation changes the module, which is still needed.
    std::unique_ptr<Module> copy = CloneModule(module);
    Object text;
    if (Error error = generate(*copy, CodeGenFileType::AssemblyFile, text))
      return error;
    return write(".s", [&](raw_ostream &os) { os << StringRef(text.data(), text.size()); });
  }

  const CpuLevel &level;
  LLVMContext context;
  std::unique_ptr<TargetMachine> machine;
};

/// Number of operations, by which the parts are made equal.
size_t sizeOf(mlir::Operation *op) {
  size_t count = 0;
  op->walk([&](mlir::Operation *) { ++count; });
  return count;
}

/// Spreads the kernels over at most `most` parts of about the same size. A kernel
/// and the body that only it calls stay together.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>> split(mlir::ModuleOp module, unsigned most) {
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
  for (size_t i = 0, count = std::clamp<size_t>(groups.size(), 1, most); i < count; ++i)
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
                                          const EmitOptions &options) {
  std::string fault;
  const Target *target = findTarget(level, fault);
  if (!target)
    return failed("this LLVM has no " + level.arch + " code generator: " + fault);

  // More parts than threads, so that a slow one does not leave the others idle.
  unsigned threads = std::max(1u, options.threads);
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules =
      split(kernels, threads == 1 ? 1 : 4 * threads);
  unsigned parts = modules.size();

  std::vector<Object> objects(parts);
  std::vector<std::string> faults(parts);
  std::atomic<unsigned> next{0};
  auto work = [&] {
    for (unsigned i = next++; i < parts; i = next++) {
      Emitter emitter(level, *target);
      std::string name = level.name + "." + std::to_string(i);
      if (Error error = emitter.emit(*modules[i], options, name, objects[i]))
        faults[i] = toString(std::move(error));
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::min(threads, parts); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();

  llvm::erase_if(faults, [](const std::string &text) { return text.empty(); });
  if (!faults.empty())
    return failed(join(faults, "; "));
  return objects;
}

Expected<Object> emitHostKernels(ArrayRef<std::string> symbols, uint64_t types,
                                 const CpuLevel &level, const EmitOptions &options) {
  std::string fault;
  const Target *target = findTarget(level, fault);
  if (!target)
    return failed("this LLVM has no " + level.arch + " code generator: " + fault);
  Object object;
  if (Error error = Emitter(level, *target).emitHost(symbols, types, options, object))
    return error;
  return object;
}

} // namespace atc::cpu
