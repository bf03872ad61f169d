//===-- EvaluateScatter.cpp - graph.scatter_add of the reference ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Evaluators.h"

using namespace mlir;

namespace atc::graph::interpreter {

Result evaluateScatterAdd(ScatterAddOp op, const Evaluation &e) {
  ArrayRef<int64_t> shape = e.type.getShape();
  const int64_t outer = shape[0], extent = shape[1], inner = shape[2];
  const std::vector<uint64_t> indices = e.operands[0]->toIntegers();
  const std::vector<double> updates = e.operands[1]->toDoubles();
  std::vector<double> sums(e.type.getNumElements());
  const int64_t count = static_cast<int64_t>(indices.size());
  for (int64_t i = 0; i < count; ++i) {
    auto index = static_cast<int64_t>(indices[i]);
    index += index < 0 ? extent : 0;
    if (index < 0 || index >= extent)
      return e.fail("index " + Twine(static_cast<int64_t>(indices[i])) + " is not in [" +
                    Twine(-extent) + ", " + Twine(extent) + "), the rows of the result");
    for (int64_t a = 0; a < outer; ++a)
      for (int64_t b = 0; b < inner; ++b)
        sums[(a * extent + index) * inner + b] += updates[(a * count + i) * inner + b];
  }
  return Tensor::fromDoubles(e.type, sums);
}

} // namespace atc::graph::interpreter
