//===-- StaticRegions.cpp - static regions as modules of their own --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/StaticRegions.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/om/Om.h"
#include "passes/host/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace atc::driver {

OwningOpRef<ModuleOp> copyRegion(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  (*module)->setAttrs(function->getParentOfType<ModuleOp>()->getAttrs());
  if (!(*module)->hasAttr(graph::kSharedConstantsAttr))
    graph::shareConstants(*module);
  func::FuncOp main = function.clone();
  main.setName("main");
  main.setPublic();
  main->removeAttr(host::kPartAttr);
  module->push_back(main);
  return module;
}

RegionMerger::RegionMerger(ModuleOp module) : module(module), symbols(module) {
  module.walk([&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
}

namespace {

/// The ops of a module by the symbols that they use: thousands of symbols get other names in the
/// time of one pass over the module. No op may be erased while it lives.
class SymbolUsers {
public:
  explicit SymbolUsers(ModuleOp module) {
    // Of the op of a symbol table only its own attributes count, not its body.
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
    assert(uses && "a compiled region has no ops of unregistered dialects");
    for (const SymbolTable::SymbolUse &use : *uses) {
      auto &ops = users[use.getSymbolRef().getRootReference()];
      if (ops.empty() || ops.back() != use.getUser())
        ops.push_back(use.getUser());
    }
  }

  /// Makes all users of the symbol `from` use `to`.
  void replace(StringAttr from, StringAttr to) {
    AttrTypeReplacer replacer;
    // Nested references name symbols of other tables.
    replacer.addReplacement([&](SymbolRefAttr use) -> std::pair<Attribute, WalkResult> {
      if (use.getRootReference() != from)
        return {use, WalkResult::skip()};
      return {SymbolRefAttr::get(to, use.getNestedReferences()), WalkResult::skip()};
    });
    SmallVector<Operation *, 2> ops = std::move(users[from]);
    users.erase(from);
    for (Operation *op : ops)
      replacer.replaceElementsIn(op);
    llvm::append_range(users[to], ops);
  }

private:
  DenseMap<StringAttr, SmallVector<Operation *, 2>> users;
};

} // namespace

static bool isMain(Operation &symbol) {
  auto function = dyn_cast<func::FuncOp>(symbol);
  return function && function.getSymName() == "main";
}

/// Returns the text of a symbol without its name.
static std::string textOf(Operation &symbol) {
  const StringAttr name = SymbolTable::getSymbolName(&symbol);
  SymbolTable::setSymbolName(&symbol, "symbol");
  std::string text;
  llvm::raw_string_ostream os(text);
  symbol.print(os, OpPrintingFlags().useLocalScope());
  SymbolTable::setSymbolName(&symbol, name);
  return text;
}

/// Replaces the kernels of `compiled` that the module already has by those of the module, so that
/// regions of equal sizes, like the layers of a transformer, share their code.
void RegionMerger::shareKernels(ModuleOp compiled) {
  SymbolTable own(compiled);
  SymbolUsers users(compiled);
  SmallVector<Operation *> shared;
  for (Operation &symbol : *compiled.getBody()) {
    if (isMain(symbol))
      continue;
    const StringAttr name = SymbolTable::getSymbolName(&symbol);
    auto [known, isNew] = byText.try_emplace(textOf(symbol), &symbol);
    if (isNew)
      continue;
    // `compiled` may use the other name for another symbol.
    const StringAttr other = SymbolTable::getSymbolName(known->second);
    if (Operation *same = own.lookup(other); same && same != &symbol && same != known->second)
      continue;
    users.replace(name, other);
    own.remove(&symbol);
    shared.push_back(&symbol);
  }
  for (Operation *symbol : shared)
    symbol->erase();
}

/// Renames the kernels of `compiled` whose names the module has already.
void RegionMerger::rename(ModuleOp compiled) {
  SymbolTable own(compiled);
  SymbolUsers users(compiled);
  for (Operation &symbol : *compiled.getBody()) {
    const std::string name = SymbolTable::getSymbolName(&symbol).str();
    if (isMain(symbol) || !symbols.lookup(name))
      continue;
    std::string unique;
    unsigned &number = numbers[name];
    do
      unique = name + "_" + std::to_string(number++);
    while (symbols.lookup(unique) || own.lookup(unique));
    const StringAttr from = SymbolTable::getSymbolName(&symbol);
    const StringAttr to = StringAttr::get(symbol.getContext(), unique);
    users.replace(from, to);
    SymbolTable::setSymbolName(&symbol, to);
  }
}

/// Replaces the calls of a region, which has come to work on buffers, by ops that may pass
/// tensors to it.
void RegionMerger::replaceCalls(func::FuncOp function) {
  for (func::CallOp call : calls.lookup(function.getSymName())) {
    OpBuilder builder(call);
    auto run = om::RunRegionOp::create(builder, call.getLoc(), call.getResultTypes(),
                                       call.getCalleeAttr(), call.getOperands());
    call->replaceAllUsesWith(run->getResults());
    call.erase();
  }
  calls.erase(function.getSymName());
}

/// Moves the ops of `compiled` into the module, and the body of its @main into `function`.
void RegionMerger::moveSymbols(func::FuncOp function, ModuleOp compiled) {
  for (Operation &symbol : llvm::make_early_inc_range(*compiled.getBody())) {
    symbol.remove();
    if (!isMain(symbol)) {
      symbols.insert(&symbol);
      continue;
    }
    auto main = cast<func::FuncOp>(symbol);
    function.getBody().takeBody(main.getBody());
    const bool onBuffers = function.getFunctionType() != main.getFunctionType();
    function.setFunctionType(main.getFunctionType());
    if (ArrayAttr attributes = main.getArgAttrsAttr())
      function.setAllArgAttrs(attributes);
    else
      function.removeArgAttrsAttr();
    if (onBuffers)
      function.removeResAttrsAttr();
    main.erase();
    if (onBuffers)
      replaceCalls(function);
  }
}

/// Combines a size in bytes of both modules, where `compiled` has it.
static void combineSizes(StringRef name, ModuleOp compiled, ModuleOp module,
                         llvm::function_ref<int64_t(int64_t, int64_t)> combine) {
  auto added = compiled->getAttrOfType<IntegerAttr>(name);
  if (!added)
    return;
  auto known = module->getAttrOfType<IntegerAttr>(name);
  const int64_t bytes = combine(known ? known.getInt() : 0, added.getInt());
  module->setAttr(name, IntegerAttr::get(added.getType(), bytes));
}

/// Replaces large constants of `compiled` by equal ones of earlier regions, as tiles of several
/// sizes pack the same weights, and frees what it no longer uses. Returns the bytes of those that
/// are new.
uint64_t RegionMerger::shareConstants(ModuleOp compiled) {
  constexpr size_t minBytes = 4096;
  uint64_t added = 0;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DenseResourceElementsAttr attr) -> std::optional<Attribute> {
    auto data = graph::ConstantBytes::get(attr);
    if (failed(data) || data->bytes().size() < minBytes)
      return std::nullopt;
    const ArrayRef<char> bytes = data->bytes();
    auto &known = constants[llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()))];
    for (DenseResourceElementsAttr &other : known) {
      if (other == attr)
        return std::nullopt;
      auto stored = graph::ConstantBytes::get(other);
      if (other.getType() == attr.getType() && succeeded(stored) && stored->bytes() == bytes)
        return other;
    }
    known.push_back(attr);
    added += bytes.size();
    return std::nullopt;
  });
  compiled.walk([&](Operation *op) { replacer.replaceElementsIn(op); });
  graph::releaseUnusedConstants(compiled);
  return added;
}

void RegionMerger::merge(func::FuncOp function, ModuleOp compiled) {
  shareKernels(compiled);
  rename(compiled);
  unreleased += shareConstants(compiled);
  moveSymbols(function, compiled);
  // Regions run one after the other in the same arena.
  auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  combineSizes(om::kArenaSizeAttr, compiled, module, larger);
  combineSizes(om::kArenaLowerBoundAttr, compiled, module, larger);
  combineSizes(om::kIntermediateBytesAttr, compiled, module, std::plus<int64_t>());
  // The functions from which regions were compiled are released in batches, because finding them
  // visits the whole module.
  constexpr uint64_t maxBytes = uint64_t(64) << 20;
  if (unreleased < maxBytes)
    return;
  unreleased = 0;
  graph::releaseUnusedConstants(module);
}

} // namespace atc::driver
