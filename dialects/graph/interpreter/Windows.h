//===-- Windows.h - index arithmetic of sliding windows ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H

#include "dialects/graph/interpreter/Positions.h"
#include <vector>

namespace atc::graph::interpreter {

/// `count` pairs of elements that meet at one kernel position: small[i] of the convolution's output
/// and large[i * stride] of its input (for a transposed convolution vice versa).
struct Run {
  int64_t small, large, count, stride;
};

/// The spatial dims of a window operation; `small` and `large` as in Run.
struct WindowShape {
  llvm::ArrayRef<int64_t> small, large, kernel, strides, pads, dilations;
};

/// Returns for every kernel position, in row-major order, the runs along the last spatial dim:
/// large = small * stride + kernel * dilation - pad, where that is inside.
inline std::vector<std::vector<Run>> listRuns(const WindowShape &window) {
  size_t rank = window.kernel.size(), last = rank - 1;
  Strides smallStrides = rowMajorStrides(window.small),
          largeStrides = rowMajorStrides(window.large);
  std::vector<std::vector<Run>> runs;
  llvm::SmallVector<int64_t, 4> tap(rank, 0);
  for (int64_t k = 0; k < product(window.kernel); ++k) {
    int64_t rest = k;
    for (size_t dim = rank; dim-- > 0; rest /= window.kernel[dim])
      tap[dim] = rest % window.kernel[dim];
    auto largeAt = [&](size_t dim, int64_t position) {
      return position * window.strides[dim] + tap[dim] * window.dilations[dim] - window.pads[dim];
    };
    // The range of positions of the last dim whose partner is inside.
    int64_t begin = 0, end = window.small[last];
    while (begin < end && largeAt(last, begin) < 0)
      ++begin;
    while (end > begin && largeAt(last, end - 1) >= window.large[last])
      --end;

    std::vector<Run> &list = runs.emplace_back();
    int64_t rows = product(window.small.drop_back());
    for (int64_t row = 0; row < rows && begin < end; ++row) {
      int64_t small = begin, large = largeAt(last, begin), index = row;
      bool inside = true;
      for (size_t dim = last; dim-- > 0; index /= window.small[dim]) {
        int64_t position = index % window.small[dim], partner = largeAt(dim, position);
        inside &= partner >= 0 && partner < window.large[dim];
        small += position * smallStrides[dim];
        large += partner * largeStrides[dim];
      }
      if (inside)
        list.push_back({small, large, end - begin, window.strides[last]});
    }
  }
  return runs;
}

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H
