//===-- RandomGraph.h - random ONNX models --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_RANDOMGRAPH_H
#define OPENATC_TEST_FUZZ_RANDOMGRAPH_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::fuzz {

/// A model of float tensors whose results are continuous functions of its inputs, so that
/// different ways of computing them differ by no more than rounding.
struct RandomGraph {
  std::string bytes; ///< of the ONNX file
  /// The dims of the inputs "x0", "x1", ...; the first dim of all is the batch, and the results of
  /// one batch entry do not depend on the others.
  std::vector<std::vector<int64_t>> inputs;
};

/// Makes a graph of some 3 to 24 nodes. Equal seeds make equal graphs. With `dynamicBatch` the
/// first dim of all inputs is the symbol "n" in the file.
RandomGraph makeRandomGraph(uint64_t seed, bool dynamicBatch);

/// Returns values in [-1, 1] for an input; equal seeds make equal values.
std::vector<float> makeRandomValues(uint64_t seed, int64_t count);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_RANDOMGRAPH_H
