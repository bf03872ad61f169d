//===-- Choices.cpp - decisions of passes as attributes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Choices.h"

#include "passes/Remarks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace atc {

static Operation *moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

bool usesChoices(Operation *op) {
  Operation *module = moduleOf(op);
  return (module && (module->hasAttr(kChoicesAttr) || module->hasAttr(kProposalsAttr))) ||
         op->getContext()->getRemarkEngine();
}

int64_t wantedProposals(Operation *op) {
  Operation *module = moduleOf(op);
  auto wanted = module ? module->getAttrOfType<IntegerAttr>(kProposalsAttr) : IntegerAttr();
  return wanted ? wanted.getInt() : 0;
}

std::string identify(StringRef name, TypeRange operands, StringRef text) {
  std::string identity = name.str() + "|";
  llvm::raw_string_ostream os(identity);
  llvm::interleave(
      operands, os,
      [&](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        if (!shaped || !shaped.hasRank()) {
          os << type;
          return;
        }
        for (int64_t dim : shaped.getShape())
          os << (ShapedType::isDynamic(dim) ? "?" : std::to_string(dim)) << "x";
        os << shaped.getElementType();
      },
      ",");
  os << "|" << llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
  return identity;
}

std::string identify(Operation *op, StringRef more) {
  Operation *copy = op->clone();
  copy->removeAttr("tile");
  for (NamedAttribute attribute : llvm::to_vector(copy->getDiscardableAttrs()))
    if (attribute.getName().strref().starts_with("tuning."))
      copy->removeDiscardableAttr(attribute.getName());
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().printGenericOpForm().enableDebugInfo(false).useLocalScope());
  copy->destroy();
  return identify(op->getName().getStringRef(), op->getOperandTypes(), text + more.str());
}

std::string choiceKey(StringRef pass, StringRef target, StringRef identity) {
  return (pass + "|" + target + "|" + identity).str();
}

std::optional<StringRef> givenChoice(Operation *op, StringRef key) {
  Operation *module = moduleOf(op);
  auto table = module ? module->getAttrOfType<DictionaryAttr>(kChoicesAttr) : DictionaryAttr();
  auto entry = table ? table.getAs<StringAttr>(key) : StringAttr();
  return entry ? std::optional(entry.getValue()) : std::nullopt;
}

void remarkChoice(StringRef pass, Location location, StringRef key, StringRef choice) {
  remarkAnalysis(pass, location, "Choice")
      << remark::add("the choice is \"{0}\" for the key \"{1}\"", choice, key);
}

void noteChoice(StringRef pass, Location location, Operation *holder, StringRef key,
                StringRef choice, ArrayRef<std::string> proposals) {
  if (!usesChoices(holder))
    return;
  remarkChoice(pass, location, key, choice);
  Builder builder(holder->getContext());
  SmallVector<Attribute> noted;
  if (auto before = holder->getAttrOfType<ArrayAttr>(kChosenAttr))
    llvm::append_range(noted, before);
  SmallVector<StringRef> others(proposals.begin(), proposals.end());
  noted.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("key", builder.getStringAttr(key)),
       builder.getNamedAttr("choice", builder.getStringAttr(choice)),
       builder.getNamedAttr("proposals", builder.getStrArrayAttr(others))}));
  holder->setAttr(kChosenAttr, builder.getArrayAttr(noted));
}

void copyChosen(Operation *from, Operation *to) {
  for (StringRef name : {StringRef(kChosenAttr), StringRef(kKernelAttr)})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

void reportUnfit(Operation *op, StringRef key, StringRef choice, const Twine &why) {
  op->emitWarning("W10055: the choice \"")
      << choice << "\" for \"" << key << "\" has no effect: " << why;
}

} // namespace atc
