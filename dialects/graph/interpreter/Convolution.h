//===-- Convolution.h - accumulates convolutions of all kinds -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_CONVOLUTION_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_CONVOLUTION_H

#include "dialects/graph/interpreter/Windows.h"

namespace atc::graph::interpreter {

/// The sizes of a convolution and the elements that it multiplies. A transposed convolution
/// exchanges input and output: every input element adds its multiple of the kernel to the output.
struct Convolution {
  bool transposed;
  int64_t batch, outputs, channels, groupChannels, groupOutputs, inputPlane, outputPlane, taps;
  std::vector<std::vector<Run>> runs;

  template <typename OpT>
  Convolution(OpT op, llvm::ArrayRef<int64_t> result, llvm::ArrayRef<int64_t> input,
              llvm::ArrayRef<int64_t> filter, bool transposed = false)
      : transposed(transposed), batch(result[0]), outputs(result[1]), channels(input[1]),
        groupChannels(channels / static_cast<int64_t>(op.getGroups())),
        groupOutputs(outputs / static_cast<int64_t>(op.getGroups())) {
    llvm::ArrayRef<int64_t> inputSizes = input.drop_front(2), outputSizes = result.drop_front(2);
    inputPlane = product(inputSizes);
    outputPlane = product(outputSizes);
    runs = listRuns({transposed ? inputSizes : outputSizes, transposed ? outputSizes : inputSizes,
                     filter.drop_front(2), op.getStrides(), op.getPads(), op.getDilations()});
    taps = runs.size();
  }

  /// Adds the products of output plane m of image n to its accumulators.
  template <typename Sum, typename T, typename Filter>
  void addPlane(Sum *sums, const T *input, const Filter &filter, int64_t n, int64_t m) const {
    for (int64_t c = 0; c < groupChannels; ++c) {
      int64_t channel = m / groupOutputs * groupChannels + c;
      int64_t kernel =
          transposed ? channel * groupOutputs + m % groupOutputs : m * groupChannels + c;
      const T *plane = input + (n * channels + channel) * inputPlane;
      for (int64_t k = 0; k < taps; ++k) {
        Sum weight = filter[kernel * taps + k];
        for (const Run &run : runs[k])
          for (int64_t i = 0; i < run.count; ++i) {
            int64_t large = run.large + i * run.stride, small = run.small + i;
            sums[transposed ? large : small] +=
                weight * static_cast<Sum>(plane[transposed ? small : large]);
          }
      }
    }
  }
};

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_CONVOLUTION_H
