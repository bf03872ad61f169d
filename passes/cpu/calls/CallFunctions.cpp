//===-- CallFunctions.cpp - the functions that host calls call ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallFunctions.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "kernels/core/GeneratedCode.h"
#include "mlir/IR/TypeUtilities.h"
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

/// Sets the attribute with what the generated code of a call is for.
static void stateFacts(graph::HostCallOp call, int64_t rowDims, ArrayRef<int64_t> ranks) {
  SmallVector<int64_t> facts = {rowDims};
  size_t port = 0;
  auto add = [&](Value value) {
    const size_t number = port++;
    if (!value)
      return facts.append(kernels::kPortFacts, kernels::kAny);
    facts.push_back(graph::dtypeOf(getElementTypeOrSelf(value)));
    facts.push_back(ranks.empty() ? kernels::kAny : ranks[number]);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    const bool isKnown = !ranks.empty() && type && type.hasStaticShape();
    facts.push_back(isKnown ? type.getNumElements() : kernels::kAny);
  };
  for (Value input : call.inputsByPosition())
    add(input);
  for (Value result : call.getResults())
    add(result.use_empty() ? Value() : result);
  Builder builder(call.getContext());
  NamedAttrList parameters(call.getParameters());
  parameters.set(kernels::kGeneratedFor, builder.getDenseI64ArrayAttr(facts));
  call.setParametersAttr(parameters.getDictionary(call.getContext()));
}

void CallFunctions::add(func::FuncOp function, StringRef stem, graph::HostCallOp call,
                        int64_t rowDims, ArrayRef<int64_t> ranks) {
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
  stateFacts(call, rowDims, ranks);
  call->setDiscardableAttr(om::kBodyAttr, FlatSymbolRefAttr::get(entry->second));
}

} // namespace atc::cpu
