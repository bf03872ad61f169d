//===-- SingleOpAttributes.cpp - attributes that change no result ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::single_op {

namespace {

/// An attribute that operators have and that their rows do not read.
struct Attribute {
  StringLiteral name;
  StringLiteral operators; ///< separated by spaces
  /// The one value with which rows compute; any where there is none.
  std::optional<int> only = {};
  StringLiteral text = ""; ///< that value where it is text
};

// Operators that share attributes.
constexpr StringLiteral joins = "AccumulateNV2 AddN Concat ConcatD ConcatV2 ConcatV2D Eltwise Pack",
                        splits = "Split SplitD SplitV SplitVD",
                        positions = "ArgMaxD ArgMaxV2 ArgMaxWithValue ArgMin ArgMinD "
                                    "ArgMinWithValue",
                        largest = "TopK TopKD TopKV2",
                        norms = "BNInfer BNInference BNInferenceD "
                                "BatchNorm",
                        gathers = "Gather GatherNd GatherV2 GatherV2D",
                        pools = "AvgPool AvgPoolV2 MaxPool MaxPoolV3 Pooling",
                        reductions = "ReduceAll ReduceAllD ReduceAny ReduceAnyD ReduceMax "
                                     "ReduceMaxD ReduceMean ReduceMeanD ReduceMin ReduceMinD "
                                     "ReduceProd ReduceProdD ReduceSum ReduceSumD",
                        products = "BatchMatMul BatchMatMulV2 BatchMatMulV3 FullyConnection GEMM "
                                   "MatMul MatMulV2 MatMulV3",
                        transposedConvs = "Conv2DTranspose Conv2DTransposeD Deconvolution",
                        images = "BiasAdd Conv2D Conv2DTranspose Conv2DTransposeD Deconvolution "
                                 "DepthToSpace DepthwiseConv2D InstanceNorm LRN ResizeBilinear "
                                 "ResizeBilinearV2 ResizeBilinearV2D ResizeNearestNeighborV2 "
                                 "ResizeNearestNeighborV2D SpaceToDepth Upsample";

constexpr Attribute attributes[] = {
    // What the tensors of the operator say as well.
    {"N", joins},
    {"num", "Unpack"},
    {"num_split", splits},
    {"num_output", "FullyConnection"},
    {"input_size", transposedConvs},
    {"dtype", positions},
    {"dtype", "AscendAntiQuant AscendDequant ResizeBilinearV2 ResizeBilinearV2D"},
    {"output_type", positions},
    {"indices_dtype", largest},
    {"dst_type", "AscendQuant Cast"},
    {"src_type", "Cast"},
    {"DstT", "Cast"},
    {"SrcT", "Cast"},
    {"half_to_float", "LogSoftmaxV2 SoftmaxV2"},
    {"begin_params_axis", "LayerNorm LayerNormV3"},
    {"src_format", "TransData"},
    {"dst_format", "TransData"},
    {"data_format", images},
    {"data_format", norms},
    {"data_format", pools},
    // What only training or the vendor's kernels need.
    {"momentum", norms},
    {"sorted", largest},
    {"use_locking", "ScatterNdAdd ScatterNdUpdate"},
    {"truncate", "Cast"},
    {"validate_indices", gathers},
    {"is_preprocessed", gathers},
    {"negative_index_support", gathers},
    {"noop_with_empty_axes", reductions},
    // Forms of which the rows compute one.
    {"dilation", "Pooling", 1},
    {"dilations", pools, 1},
    {"groups", "TransData", 1},
    {"use_global_stats", norms, 1},
    {"mode", "BNInference BNInferenceD", 1},
    {"scale", "Elu", 1},
    {"input_scale", "Elu", 1},
    {"pool_mode", "ROIAlign", {}, "avg"},
    {"scales", "ResizeBilinearV2 ResizeNearestNeighborV2", 0},
    {"batch_dims", gathers, 0},
    {"decimals", "Round", 0},
    {"keep_dims", positions, 0},
    {"offset_x", products, 0},
    {"offset_x", transposedConvs, 0},
};

/// Attributes that any operator may have: how exactly the vendor's kernels compute, and the type
/// in TensorFlow's operators, which the tensors say as well.
constexpr StringLiteral common[] = {"T",          "enable_hf32", "hf32",
                                    "opImplMode", "impl_mode",   "op_impl_mode"};

} // namespace

bool isWithoutEffect(StringRef type, StringRef name, const nlohmann::ordered_json &value) {
  if (name.starts_with("_") || is_contained(common, name))
    return true;
  return any_of(attributes, [&](const Attribute &row) {
    if (row.name != name || !is_contained(split(row.operators, ' '), type))
      return false;
    if (!row.text.empty())
      return value == row.text.str();
    const auto isComputed = [&](const nlohmann::ordered_json &item) {
      return item == *row.only || item == (*row.only != 0);
    };
    return !row.only || (value.is_array() ? all_of(value, isComputed) : isComputed(value));
  });
}

} // namespace atc::single_op
