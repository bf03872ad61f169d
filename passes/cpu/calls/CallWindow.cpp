//===-- CallWindow.cpp - windows over dims that are known at run time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallWindow.h"

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"

using namespace mlir;

namespace atc::cpu {

FailureOr<Window> readWindow(graph::HostCallOp call, int64_t rank) {
  // An input of fewer than three dims is an error that its kernel reports in a run.
  if (rank < 1)
    return failure();
  Window window;
  auto read = [&](StringRef name, size_t length, std::optional<int64_t> otherwise) {
    SmallVector<int64_t> list = integersOf(call, name).value_or(SmallVector<int64_t>());
    if (list.empty() && otherwise)
      list.assign(length, *otherwise);
    return list;
  };
  window.kernel = read("kernel_shape", rank, std::nullopt);
  window.stride = read("strides", rank, 1);
  window.dilation = read("dilations", rank, 1);
  SmallVector<int64_t> pads = read("pads", 2 * rank, 0);
  if ((!window.kernel.empty() && int64_t(window.kernel.size()) != rank) || window.rank() != rank ||
      int64_t(window.dilation.size()) != rank || int64_t(pads.size()) != 2 * rank)
    return failure();
  constexpr int64_t limit = 1 << 20;
  auto isPositive = [](int64_t value) { return value > 0 && value < limit; };
  for (const SmallVector<int64_t> &list : {window.kernel, window.stride, window.dilation})
    if (!llvm::all_of(list, isPositive))
      return failure();
  if (!llvm::all_of(pads, [](int64_t pad) { return pad > -limit && pad < limit; }))
    return failure();
  const bool isGiven = hasText(call, "auto_pad", "NOTSET", "NOTSET");
  for (int64_t d = 0; d < rank; ++d) {
    window.front.push_back(isGiven ? pads[d] : 0);
    window.after.push_back(isGiven ? pads[rank + d] : 0);
  }
  return window;
}

void setWindow(RowBuilder &b, graph::HostCallOp call, Window &window, ArrayRef<Value> kernel) {
  const bool upper = hasText(call, "auto_pad", "NOTSET", "SAME_UPPER");
  const bool lower = hasText(call, "auto_pad", "NOTSET", "SAME_LOWER");
  for (int64_t d = 0; d < window.rank(); ++d) {
    Value before = b.index(window.front[d]);
    if (upper || lower) {
      Value extent =
          b.add(b.mul(b.sub(kernel[d], b.index(1)), b.index(window.dilation[d])), b.index(1));
      Value steps = b.mul(b.sub(b.out().dims[d + 2], b.index(1)), b.index(window.stride[d]));
      Value total = b.sub(b.add(steps, extent), b.in(0).dims[d + 2]);
      total = b.max(total, b.index(0));
      before = b.div(b.add(total, b.index(lower ? 1 : 0)), b.index(2));
    }
    window.before.push_back(before);
  }
}

} // namespace atc::cpu
