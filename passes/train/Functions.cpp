//===-- Functions.cpp - arguments and results of @main --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Functions.h"

using namespace mlir;

namespace atc::train {

static constexpr llvm::StringLiteral kName = "om.name";

std::string argumentName(func::FuncOp main, unsigned index) {
  auto name = main.getArgAttrOfType<StringAttr>(index, kName);
  return name ? name.str() : "arg" + std::to_string(index);
}

std::string resultName(func::FuncOp main, unsigned index) {
  auto name = main.getResultAttrOfType<StringAttr>(index, kName);
  return name ? name.str() : "result" + std::to_string(index);
}

std::optional<unsigned> findArgument(func::FuncOp main, StringRef name) {
  for (unsigned index = 0; index < main.getNumArguments(); ++index)
    if (argumentName(main, index) == name)
      return index;
  return std::nullopt;
}

std::optional<unsigned> findResult(func::FuncOp main, StringRef name) {
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (resultName(main, index) == name)
      return index;
  return std::nullopt;
}

static DictionaryAttr nameAttrs(func::FuncOp main, StringRef name) {
  Builder builder(main.getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr(kName, builder.getStringAttr(name)));
}

BlockArgument appendArgument(func::FuncOp main, Type type, const std::string &name) {
  Location loc = NameLoc::get(StringAttr::get(main.getContext(), name));
  const unsigned index = main.getNumArguments();
  (void)main.insertArgument(index, type, nameAttrs(main, name), loc);
  return main.getArgument(index);
}

void appendResult(func::FuncOp main, Value value, const std::string &name,
                  std::optional<unsigned> index) {
  const unsigned at = index.value_or(main.getNumResults());
  (void)main.insertResult(at, value.getType(), nameAttrs(main, name));
  auto exit = cast<func::ReturnOp>(main.front().getTerminator());
  exit.getOperandsMutable().slice(at, 0).append(value);
}

Location derivedName(Location loc, StringRef suffix) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name)
    return loc;
  auto text = StringAttr::get(loc.getContext(), name.getName().str() + "." + suffix);
  return NameLoc::get(text, name.getChildLoc());
}

} // namespace atc::train
