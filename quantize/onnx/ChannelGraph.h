//===-- ChannelGraph.h - which channels of a model belong together --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_CHANNELGRAPH_H
#define OPENATC_QUANTIZE_ONNX_CHANNELGRAPH_H

#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// The channels along a dim of a tensor: a label for each of them, which stands for `repeat`
/// elements that follow each other.
struct ChannelDim {
  std::vector<int> labels;
  int64_t repeat = 1;
};

/// A layer whose outputs are channels of their own, by the tensor that it computes.
struct ChannelLayer {
  std::string node, type, output;
  int nodeIndex = 0;
  ChannelDim inputs; ///< no labels: not known
  std::vector<int> outputs;
  int64_t inputAxis = 1, outputAxis = 0; ///< of the weights
};

/// The channels of all tensors of a model. Channels that must stay or go together, such as those of
/// two summands, have equal labels; those of which an operator needs all, or that the model
/// returns, are locked.
class ChannelGraph {
public:
  explicit ChannelGraph(OnnxModel &model);

  /// Returns the label that stands for all that are equal to it.
  int find(int label) const;
  bool isLocked(int label) const { return locked[find(label)]; }
  /// Makes channels stay.
  void lock(llvm::ArrayRef<int> labels);
  const std::vector<ChannelLayer> &layers() const { return foundLayers; }

  /// Removes the channels for whose labels, as `find` returns them, `goes` is true, from all
  /// constants of the model. The graph does not fit the model afterwards.
  void remove(const std::vector<bool> &goes);
  size_t numLabels() const { return parents.size(); }

private:
  struct Tensor {
    ChannelDim channels;
    int64_t rank = 0;
  };
  /// A constant operand of a node that has channels along an axis.
  struct Cut {
    int node, input;
    int64_t axis;
    ChannelDim channels;
  };

  std::vector<int> makeLabels(int64_t count);
  void join(int a, int b);
  bool isConstant(const std::string &name) { return model.findConstant(name) != nullptr; }
  const Tensor *tensorOf(const std::string &name) const;
  void lockTensor(const std::string &name);
  void lockInputs(const onnx::NodeProto &node);

  void addConvolution(int index, const onnx::NodeProto &node);
  void addProduct(int index, const onnx::NodeProto &node);
  void addBinary(int index, const onnx::NodeProto &node);
  void addConcat(const onnx::NodeProto &node);
  void addFlatten(int index, const onnx::NodeProto &node);
  void addNorm(int index, const onnx::NodeProto &node);
  bool addOperand(int index, int input, const Tensor &tensor);
  void addNode(int index, const onnx::NodeProto &node);
  void addLayer(int index, const onnx::NodeProto &node, const ChannelDim &inputs, int64_t inputAxis,
                int64_t outputAxis, int64_t rank);

  OnnxModel &model;
  mutable std::vector<int> parents;
  std::vector<bool> locked;
  std::map<std::string, Tensor> tensors;
  std::vector<ChannelLayer> foundLayers;
  std::vector<Cut> cuts;
  std::vector<std::pair<int, std::vector<int>>> depthwise; ///< nodes with a group per channel
  std::vector<std::pair<int, ChannelDim>> shapes; ///< Reshape nodes whose last size is of channels
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_CHANNELGRAPH_H
