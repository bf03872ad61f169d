//===-- OperatorOutputs.cpp - the names of outputs of operators -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OperatorOutputs.h"

using namespace llvm;

namespace atc::tf_import {

SmallVector<StringRef> knownOutputs(StringRef op) {
  struct Row {
    const char *op, *names[7];
  };
  static constexpr Row rows[] = {
      {"ApproxTopK", {"values", "indices"}},
      {"BlockLSTM", {"i", "cs", "f", "o", "ci", "co", "h"}},
      {"CTCGreedyDecoder",
       {"decoded_indices", "decoded_values", "decoded_shape", "log_probability"}},
      {"CombinedNonMaxSuppression",
       {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"}},
      {"FusedBatchNorm",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
        "reserve_space_3"}},
      {"GRUBlockCell", {"r", "u", "c", "h"}},
      {"LSTMBlockCell", {"i", "cs", "f", "o", "ci", "co", "h"}},
      {"ListDiff", {"out", "idx"}},
      {"LogMatrixDeterminant", {"sign", "log_abs_determinant"}},
      {"MaxPoolWithArgmax", {"output", "argmax"}},
      {"Merge", {"output", "value_index"}},
      {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}},
      {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}},
      {"Qr", {"q", "r"}},
      {"RefMerge", {"output", "value_index"}},
      {"RefSwitch", {"output_false", "output_true"}},
      {"SelfAdjointEig", {"e", "v"}},
      {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"SparseCross", {"output_indices", "output_values", "output_shape"}},
      {"SparseFillEmptyRows",
       {"output_indices", "output_values", "empty_row_indicator", "reverse_index_map"}},
      {"SparseReshape", {"output_indices", "output_shape"}},
      {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"StringNGrams", {"ngrams", "ngrams_splits"}},
      {"StringSplit", {"indices", "values", "shape"}},
      {"Svd", {"s", "u", "v"}},
      {"Switch", {"output_false", "output_true"}},
      {"TensorArray", {"handle", "flow"}},
      {"TensorArrayConcat", {"value", "lengths"}},
      {"TensorListConcat", {"tensor", "lengths"}},
      {"TensorListPopBack", {"output_handle", "tensor"}},
      {"TopK", {"values", "indices"}},
      {"UnicodeDecode", {"row_splits", "char_values"}},
      {"UnicodeDecodeWithOffsets", {"row_splits", "char_values", "char_to_byte_starts"}},
      {"Unique", {"y", "idx", "count"}},
      {"UniqueWithCounts", {"y", "idx", "count"}},
  };
  const StringRef digits = op.rtrim("0123456789");
  const StringRef name = digits != op && digits.ends_with("V") ? digits.drop_back() : op;
  SmallVector<StringRef> outputs;
  for (const Row &row : rows)
    if (row.op == op || row.op == name)
      for (const char *output : row.names)
        if (output)
          outputs.push_back(output);
  return outputs;
}

} // namespace atc::tf_import
