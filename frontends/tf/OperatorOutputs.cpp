//===-- OperatorOutputs.cpp - the names of outputs of operators -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OperatorOutputs.h"

using namespace llvm;

namespace atc::tf_import {

SmallVector<KnownOutput> knownOutputs(StringRef op) {
  struct Row {
    const char *op, *names[7];
  };
  static constexpr Row rows[] = {
      {"ApproxTopK", {"values", "indices"}},
      {"BatchSelfAdjointEig", {"e", "v"}},
      {"BatchSvd", {"s", "u", "v"}},
      {"BlockLSTM", {"i", "cs", "f", "o", "ci", "co", "h"}},
      {"BroadcastGradientArgs", {"r0", "r1"}},
      {"CTCBeamSearchDecoder",
       {"decoded_indices*top_paths", "decoded_values*top_paths", "decoded_shape*top_paths",
        "log_probability"}},
      {"CTCGreedyDecoder",
       {"decoded_indices", "decoded_values", "decoded_shape", "log_probability"}},
      {"CombinedNonMaxSuppression",
       {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"}},
      {"DecodeWav", {"audio", "sample_rate"}},
      {"DenseCountSparseOutput", {"output_indices", "output_values", "output_dense_shape"}},
      {"DenseToDenseSetOperation", {"result_indices", "result_values", "result_shape"}},
      {"DenseToSparseSetOperation", {"result_indices", "result_values", "result_shape"}},
      {"FusedBatchNorm",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
        "reserve_space_3"}},
      {"FusedBatchNormGrad",
       {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"}},
      {"GRUBlockCell", {"r", "u", "c", "h"}},
      {"LSTMBlockCell", {"i", "cs", "f", "o", "ci", "co", "h"}},
      {"ListDiff", {"out", "idx"}},
      {"LogMatrixDeterminant", {"sign", "log_abs_determinant"}},
      {"Lu", {"lu", "p"}},
      {"MaxPoolWithArgmax", {"output", "argmax"}},
      {"Merge", {"output", "value_index"}},
      {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}},
      {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}},
      {"ParseExample",
       {"sparse_indices*Nsparse", "sparse_values*sparse_types", "sparse_shapes*Nsparse",
        "dense_values*Tdense"}},
      {"ParseExampleV2",
       {"sparse_indices*num_sparse", "sparse_values*sparse_types", "sparse_shapes*num_sparse",
        "dense_values*Tdense", "ragged_values*ragged_value_types",
        "ragged_row_splits*ragged_split_types"}},
      {"ParseSingleExample",
       {"sparse_indices*num_sparse", "sparse_values*sparse_types", "sparse_shapes*num_sparse",
        "dense_values*Tdense"}},
      {"Qr", {"q", "r"}},
      {"QuantizeDownAndShrinkRange", {"output", "output_min", "output_max"}},
      {"Quantize", {"output", "output_min", "output_max"}},
      {"QuantizedAdd", {"z", "min_z", "max_z"}},
      {"QuantizedAvgPool", {"output", "min_output", "max_output"}},
      {"QuantizedBiasAdd", {"output", "min_out", "max_out"}},
      {"QuantizedConcat", {"output", "output_min", "output_max"}},
      {"QuantizedConv2D", {"output", "min_output", "max_output"}},
      {"QuantizedDepthwiseConv2D", {"output", "min_output", "max_output"}},
      {"QuantizedMatMul", {"out", "min_out", "max_out"}},
      {"QuantizedMaxPool", {"output", "min_output", "max_output"}},
      {"QuantizedMul", {"z", "min_z", "max_z"}},
      {"QuantizedRelu", {"activations", "min_activations", "max_activations"}},
      {"QuantizedRelu6", {"activations", "min_activations", "max_activations"}},
      {"QuantizedReluX", {"activations", "min_activations", "max_activations"}},
      {"QuantizedReshape", {"output", "output_min", "output_max"}},
      {"RaggedGather", {"output_nested_splits*OUTPUT_RAGGED_RANK", "output_dense_values"}},
      {"RaggedRange", {"rt_nested_splits", "rt_dense_values"}},
      {"RaggedTensorToSparse", {"sparse_indices", "sparse_values", "sparse_dense_shape"}},
      {"RefMerge", {"output", "value_index"}},
      {"RefSwitch", {"output_false", "output_true"}},
      {"RequantizationRange", {"output_min", "output_max"}},
      {"Requantize", {"output", "output_min", "output_max"}},
      {"SelfAdjointEig", {"e", "v"}},
      {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"SparseAdd", {"sum_indices", "sum_values", "sum_shape"}},
      {"SparseConcat", {"output_indices", "output_values", "output_shape"}},
      {"SparseCross", {"output_indices", "output_values", "output_shape"}},
      {"SparseFillEmptyRows",
       {"output_indices", "output_values", "empty_row_indicator", "reverse_index_map"}},
      {"SparseReduceMaxSparse", {"output_indices", "output_values", "output_shape"}},
      {"SparseReduceSumSparse", {"output_indices", "output_values", "output_shape"}},
      {"SparseReorder", {"output_indices", "output_values"}},
      {"SparseReshape", {"output_indices", "output_shape"}},
      {"SparseSlice", {"output_indices", "output_values", "output_shape"}},
      {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"SparseSparseMaximum", {"output_indices", "output_values"}},
      {"SparseSparseMinimum", {"output_indices", "output_values"}},
      {"SparseSplit",
       {"output_indices*num_split", "output_values*num_split", "output_shape*num_split"}},
      {"SparseToSparseSetOperation", {"result_indices", "result_values", "result_shape"}},
      {"StatelessRandomGetKeyCounter", {"key", "counter"}},
      {"StatelessRandomGetKeyCounterAlg", {"key", "counter", "alg"}},
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
      {"_FusedBatchNormEx",
       {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
        "reserve_space_3"}},
  };
  // What is fused behind a product changes none of its outputs.
  for (StringRef product : {"QuantizedConv2D", "QuantizedDepthwiseConv2D", "QuantizedMatMul"})
    if (op.starts_with(product))
      op = product;
  const StringRef digits = op.rtrim("0123456789");
  const StringRef name = digits != op && digits.ends_with("V") ? digits.drop_back() : op;
  auto rowOf = [&](StringRef wanted) {
    return llvm::find_if(rows, [&](const Row &row) { return row.op == wanted; });
  };
  const Row *row = rowOf(op) != std::end(rows) ? rowOf(op) : rowOf(name);
  SmallVector<KnownOutput> outputs;
  for (const char *output : row != std::end(rows) ? ArrayRef(row->names) : ArrayRef<const char *>())
    if (output) {
      auto [single, count] = StringRef(output).split('*');
      outputs.push_back({single, count});
    }
  return outputs;
}

} // namespace atc::tf_import
