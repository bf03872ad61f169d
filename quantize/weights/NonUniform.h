//===-- NonUniform.h - restricts integers to few values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_NONUNIFORM_H
#define OPENATC_QUANTIZE_WEIGHTS_NONUNIFORM_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace atc::quantize {

/// Maps the integers of `rows` rows of weights, each of its own scale or all of one, to at most
/// `steps` different ones so that the squared error of the weights is the least possible.
std::vector<int8_t> restrictIntegers(llvm::ArrayRef<int8_t> integers, int64_t rows,
                                     llvm::ArrayRef<float> scales, int64_t steps);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_NONUNIFORM_H
