//===-- RandomGraph.h - random ONNX models --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_RANDOM_RANDOMGRAPH_H
#define OPENATC_TEST_FUZZ_RANDOM_RANDOMGRAPH_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::fuzz {

/// A model whose results are continuous functions of its inputs, so that
/// different ways of computing them differ by no more than rounding.
struct RandomGraph {
  std::string bytes; ///< of the ONNX file
  /// The dims of the inputs "x0", "x1", ...; the first dim of all is the batch, and the results of
  /// one batch entry do not depend on the others.
  std::vector<std::vector<int64_t>> inputs;
  /// The element types of the inputs by their numbers in ONNX; empty: all are FLOAT.
  std::vector<int> inputTypes;
};

/// Makes a graph of some 3 to 24 nodes. Equal seeds make equal graphs. With `dynamicBatch` the
/// first dim of all inputs is the symbol "n" in the file.
RandomGraph makeRandomGraph(uint64_t seed, bool dynamicBatch);

/// Makes a graph of some 2 to 20 nodes with all kinds of operators, element types and ranks, sizes
/// of 0, control flow and sequences. Equal seeds make equal graphs. With `dynamicDims` each dim of
/// each input is a symbol of its own in the file.
RandomGraph makeMixedGraph(uint64_t seed, bool dynamicDims);

/// Returns `count` elements of an element type of ONNX as the bytes of a tensor: multiples of 1/8
/// in
/// [-4, 4], integers in [0, 4] or [-4, 4]. Equal seeds make equal elements.
std::vector<char> makeMixedValues(uint64_t seed, int type, int64_t count);

/// Returns values in [-1, 1] for an input; equal seeds make equal values.
std::vector<float> makeRandomValues(uint64_t seed, int64_t count);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_RANDOM_RANDOMGRAPH_H
