//===-- CallFunctions.cpp - the functions that host calls call ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/om/CallBodies.h"

using namespace mlir;

namespace atc::cpu {

func::FuncOp CallFunctions::make(ArrayRef<Type> buffers) {
  OpBuilder builder(module.getContext());
  SmallVector<Type> types(buffers);
  types.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "called",
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr(kKernelAttr, builder.getUnitAttr());
  function->setAttr(om::kCalledAttr, builder.getUnitAttr());
  function.addEntryBlock();
  return function;
}

void CallFunctions::add(func::FuncOp function, StringRef stem, graph::HostCallOp call) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(&function.getBody().front());
  func::ReturnOp::create(builder, builder.getUnknownLoc());
  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().printGenericOpForm().enableDebugInfo(false));
  auto [entry, isNew] = known.try_emplace(text);
  if (isNew) {
    std::string name;
    unsigned number = known.size() - 1;
    do
      name = (stem + "_" + Twine(number++)).str();
    while (module.lookupSymbol(name));
    function.setSymName(name);
    entry->second = function.getSymNameAttr();
    module.push_back(function);
  } else {
    function.erase();
  }
  call->setDiscardableAttr(om::kBodyAttr, FlatSymbolRefAttr::get(entry->second));
}

} // namespace atc::cpu
