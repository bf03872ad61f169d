//===-- GenerateCalls.cpp - code of host calls for their ranks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallFunctions.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/GenerateCell.h"
#include "passes/cpu/calls/Generators.h"
#include "passes/cpu/calls/Passes.h"

#include "dialects/graph/HostCalls.h"
#include "kernels/core/GeneratedCode.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Remarks.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/om/CallBodies.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUGENERATECALLS
#include "passes/cpu/calls/Passes.h.inc"

namespace {

using graph::HostCallOp;

Generator findGenerator(StringRef kernel) {
  for (auto find :
       {findConvGenerator, findCreateGenerator, findEinsumGenerator, findIndexGenerator,
        findLossGenerator, findMoveGenerator, findNormGenerator, findPoolGenerator,
        findProductGenerator, findQuantizeGenerator, findReduceGenerator, findRegionGenerator,
        findResizeGenerator, findSampleGenerator, findScanGenerator})
    if (Generator generator = find(kernel))
      return generator;
  return nullptr;
}

/// Returns whether generated code can read or write the elements of a value.
bool hasElements(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && graph::isPlainTensor(RankedTensorType::get({1}, type.getElementType()));
}

/// Returns whether generated code is worth its size: where floats are computed, and for pools of
/// bytes, behind which convolutions wait.
bool isWorthCode(HostCallOp call) {
  if (call.getKernel() == "MaxPool")
    return true;
  auto isFloat = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); };
  return llvm::any_of(call.getInputs(), isFloat) || llvm::any_of(call.getResults(), isFloat);
}

struct GenerateCalls : impl::CpuGenerateCallsBase<GenerateCalls> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    CallFunctions functions(getOperation());
    CallRanks ranks(main);
    SmallVector<HostCallOp> calls;
    main.walk([&](HostCallOp call) { calls.push_back(call); });
    for (HostCallOp call : calls) {
      if (call->hasAttr(om::kBodyAttr) || !isWorthCode(call))
        continue;
      if (generateCell(call, functions))
        numGenerated += generated(call);
      else if (Generator generator = findGenerator(call.getKernel()); generator)
        numGenerated += generate(call, generator, ranks, functions);
    }
  }

  bool generate(HostCallOp call, Generator generator, CallRanks &ranks, CallFunctions &functions) {
    const SmallVector<Value> inputs = call.inputsByPosition();
    if (inputs.size() > kernels::kGeneratedInputs ||
        call->getNumResults() > kernels::kGeneratedOutputs || call->getNumResults() == 0 ||
        call.getResult(0).use_empty() || inputs.empty() || !inputs[0])
      return false;
    SmallVector<int64_t> inputRanks, outputRanks;
    auto add = [&](Value value, SmallVector<int64_t> &list) {
      const std::optional<int64_t> rank = ranks.of(value);
      list.push_back(rank.value_or(0));
      return rank && hasElements(value);
    };
    for (Value input : inputs) {
      if (!input)
        inputRanks.push_back(0);
      else if (!add(input, inputRanks))
        return missed(call, "the rank of an input is not known");
    }
    for (Value result : call.getResults()) {
      if (result.use_empty())
        outputRanks.push_back(0);
      else if (!add(result, outputRanks))
        return missed(call, "the rank of a result is not known");
    }
    func::FuncOp function = functions.make(RowBuilder::bufferTypes(call));
    RowBuilder builder(function, call, inputRanks, outputRanks);
    if (!generator(builder, call)) {
      function.erase();
      return missed(call, "its attributes or constants have a form without generated code");
    }
    function->setAttr(kTasksAttr, builder.getI64IntegerAttr(0));
    llvm::append_range(inputRanks, outputRanks);
    functions.add(function, call.getKernel().lower(), call, builder.getRowDims(), inputRanks);
    return generated(call);
  }

  bool generated(HostCallOp call) {
    remarkPassed(getArgument(), call.getLoc(), "Generated")
        << "the call has code for dims that are known at run time";
    return true;
  }

  bool missed(HostCallOp call, StringRef why) {
    remarkMissed(getArgument(), call.getLoc(), "NotGenerated") << why.str();
    return false;
  }
};

} // namespace
} // namespace atc::cpu
