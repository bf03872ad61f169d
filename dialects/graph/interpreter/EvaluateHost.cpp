//===-- EvaluateHost.cpp - calls of host kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/ComputeHostCall.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/ops/HostOps.h"

using namespace mlir;

namespace atc::graph::interpreter {

FailureOr<SmallVector<Tensor>> evaluateHostCall(HostCallOp op, ArrayRef<const Tensor *> operands) {
  HostCall call;
  call.kernel = op.getKernel();
  call.inputs = op.inputsByPosition();
  call.parameters = op.getParameters();
  call.results = op.getNumResults();
  call.wanted = 0;
  for (OpResult result : op.getOutputs().take_front(32))
    if (!result.use_empty())
      call.wanted |= uint32_t(1) << result.getResultNumber();

  SmallVector<const Tensor *> inputs;
  unsigned next = 0;
  for (Value input : call.inputs)
    inputs.push_back(input ? operands[next++] : nullptr);

  std::string error;
  auto results = computeHostCall(call, inputs, op.getContext(), error);
  if (failed(results))
    return op.emitError() << "the host kernel '" << op.getKernel() << "': " << error;
  return results;
}

} // namespace atc::graph::interpreter
