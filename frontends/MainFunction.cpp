//===-- MainFunction.cpp - the function that a model becomes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/MainFunction.h"

#include "dialects/graph/IndexBound.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace atc {

MainFunction::MainFunction(OpBuilder &builder, StringRef graphName) : builder(builder) {
  StringAttr name = builder.getStringAttr(graphName);
  Location loc = NameLoc::get(name);
  module = ModuleOp::create(loc);
  (*module)->setAttr("graph.name", name);
  builder.setInsertionPointToStart(module->getBody());
  function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
}

Value MainFunction::addInput(StringRef name, StringRef tensor, Type type) {
  inputNames.push_back(name.str());
  return body->addArgument(type, NameLoc::get(builder.getStringAttr(tensor)));
}

OwningOpRef<ModuleOp> MainFunction::finish(ArrayRef<std::pair<std::string, Value>> results,
                                           Diagnostics &diagnostics) {
  auto values = llvm::to_vector(llvm::make_second_range(results));
  func::ReturnOp::create(builder, function.getLoc(), values);
  // Shapes and axes that became attributes, outputs that nobody reads.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  function.setType(
      builder.getFunctionType(body->getArgumentTypes(), ValueRange(values).getTypes()));
  // All names at once: setting them one by one would copy the list each time.
  auto named = [&](StringRef name) {
    return builder.getDictionaryAttr(builder.getNamedAttr("om.name", builder.getStringAttr(name)));
  };
  SmallVector<DictionaryAttr> arguments, outputs;
  for (auto [index, name] : llvm::enumerate(inputNames)) {
    NamedAttrList list(named(name));
    if (std::optional<NamedAttribute> range = graph::IndexRange::take(function, index))
      list.push_back(*range);
    arguments.push_back(list.getDictionary(builder.getContext()));
  }
  for (const auto &[name, value] : results)
    outputs.push_back(named(name));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(outputs);

  std::string message;
  ScopedDiagnosticHandler handler(builder.getContext(), [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(verify(*module))) {
    diagnostics.error("E19999", "the imported module is not valid: " + message);
    return {};
  }
  return std::move(module);
}

} // namespace atc
