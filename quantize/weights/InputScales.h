//===-- InputScales.h - scales inputs so that large ones round well -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_INPUTSCALES_H
#define OPENATC_QUANTIZE_WEIGHTS_INPUTSCALES_H

#include "quantize/weights/GroupedRounding.h"

namespace atc::quantize {

/// A matrix of weights, row-major.
struct WeightRows {
  llvm::ArrayRef<float> values;
  int64_t rows = 0;
};

/// Returns factors of the inputs' elements, by which weights are multiplied and inputs divided,
/// that minimize the error of the products when the weights are rounded to nearest: weights that
/// meet large inputs get finer steps (AWQ). All of `readers` multiply the same inputs. Empty where
/// no factors reduce the error.
std::vector<float> findInputScales(llvm::ArrayRef<WeightRows> readers, const GroupForm &form,
                                   llvm::ArrayRef<float> matrix);

/// Returns the rows with each element multiplied by the factor of its column.
std::vector<float> scaleColumns(llvm::ArrayRef<float> rows, llvm::ArrayRef<float> factors);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_INPUTSCALES_H
