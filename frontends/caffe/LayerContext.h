//===-- LayerContext.h - one layer while it becomes ONNX nodes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_CAFFE_LAYERCONTEXT_H
#define OPENATC_FRONTENDS_CAFFE_LAYERCONTEXT_H

#include "frontends/caffe/Net.h"
#include "frontends/onnx/NodeWriter.h"

namespace atc::caffe {

/// A tensor of the ONNX graph. A dim is -1 where it is not known; the rank always is.
struct Tensor {
  std::string name;
  Dims dims;

  int64_t rank() const { return dims.size(); }
};

using Attrs = OnnxAttributes;

/// Gives the importer of a layer its parameters, inputs and weights, and the means to make
/// nodes. After the first error nothing more is made, and `failed()` is true.
class LayerContext {
public:
  LayerContext(onnx::GraphProto &graph, const pb::Layer &layer, const std::vector<Blob> &blobs,
               std::vector<Tensor> bottoms, Diagnostics &diagnostics)
      : graph(graph), proto(layer), blobs(blobs), bottoms(std::move(bottoms)),
        diagnostics(diagnostics) {}

  const pb::Layer &layer() const { return proto; }

  bool failed() const { return hasFailed; }
  /// Reports E14001: "layer 'conv1' (Convolution): text".
  void fail(const llvm::Twine &text);

  //--- Inputs.
  unsigned numBottoms() const { return bottoms.size(); }
  /// Returns input `index`; one without dims, and an error, where there is none.
  const Tensor &bottom(unsigned index = 0);
  /// Returns dim `axis` of input `index`, which must be known.
  int64_t knownDim(unsigned index, int64_t axis, const char *why);
  /// Returns all dims of input `index`, which must be known.
  Dims knownDims(unsigned index, const char *why);
  void requireRank(unsigned index, int64_t rank);
  /// Makes -rank <= axis < rank non-negative, or fails.
  int64_t axis(int64_t axis, int64_t rank);

  //--- Weights.
  /// Returns weights `index` under other dims, as many elements as these have, or fails.
  Tensor weights(unsigned index, const Dims &dims);
  const Blob *blob(unsigned index);
  unsigned numBlobs() const { return blobs.size(); }

  //--- Nodes. Results carry the dims that are given.
  Tensor node(const char *op, const std::vector<Tensor> &inputs, const Dims &dims,
              const Attrs &attributes = {});
  std::vector<Tensor> nodes(const char *op, const std::vector<Tensor> &inputs,
                            const std::vector<Dims> &dims, const Attrs &attributes = {});
  Tensor constant(const Dims &dims, llvm::ArrayRef<float> values);
  Tensor scalar(double value) { return constant({}, static_cast<float>(value)); }
  Tensor ints(llvm::ArrayRef<int64_t> values);
  Tensor reshape(const Tensor &value, const Dims &dims);
  Tensor add(const Tensor &a, const Tensor &b) { return node("Add", {a, b}, a.dims); }
  Tensor mul(const Tensor &a, const Tensor &b) { return node("Mul", {a, b}, a.dims); }
  Tensor empty() const { return {}; } ///< stands for an optional input that is left out

  //--- Outputs.
  void setTop(Tensor value) { setTops({std::move(value)}); }
  void setTops(std::vector<Tensor> values) { tops = std::move(values); }
  std::vector<Tensor> takeTops() { return std::move(tops); }
  /// Reports whether a value was made by this layer, and not by another one.
  bool isOwn(const Tensor &value) const;

private:
  std::string uniqueName(llvm::StringRef what);

  onnx::GraphProto &graph;
  const pb::Layer &proto;
  const std::vector<Blob> &blobs;
  const std::vector<Tensor> bottoms;
  Diagnostics &diagnostics;
  std::vector<Tensor> tops;
  unsigned numNames = 0;
  bool hasFailed = false;
};

/// Returns the product of dims from `begin` up to `end`; -1 where one is not known.
int64_t product(llvm::ArrayRef<int64_t> dims, int64_t begin, int64_t end);

/// Returns "[1, 3, ?, ?]".
std::string printShape(llvm::ArrayRef<int64_t> dims);

} // namespace atc::caffe

#endif // OPENATC_FRONTENDS_CAFFE_LAYERCONTEXT_H
