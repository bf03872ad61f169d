//===-- OnnxModel.h - an ONNX model that is being rewritten ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXMODEL_H
#define OPENATC_QUANTIZE_ONNX_ONNXMODEL_H

#include "support/Diagnostics.h"

#include <map>
#include <onnx/onnx_pb.h>
#include <optional>
#include <set>

namespace atc::quantize {

/// The numbers of a constant of element type float; nothing for other types.
std::optional<std::vector<float>> readFloats(const onnx::TensorProto &tensor);
std::optional<std::vector<int64_t>> readInts(const onnx::TensorProto &tensor);
int64_t countElements(const onnx::TensorProto &tensor);

onnx::TensorProto makeFloats(const std::string &name, const std::vector<int64_t> &dims,
                             const std::vector<float> &values);
onnx::TensorProto makeInts(const std::string &name, const std::vector<int64_t> &values);

const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, const std::string &name);
int64_t intAttribute(const onnx::NodeProto &node, const std::string &name, int64_t otherwise);
void setAttribute(onnx::NodeProto &node, const std::string &name, int64_t value);
void setAttribute(onnx::NodeProto &node, const std::string &name, const std::string &value);
void removeAttribute(onnx::NodeProto &node, const std::string &name);

/// The graph of a model by the names of its tensors. After nodes were added or
/// removed, `index` finds them again.
class OnnxModel {
public:
  /// Null after an error.
  static std::unique_ptr<OnnxModel> read(const std::string &path, Diagnostics &diagnostics);
  static std::unique_ptr<OnnxModel> parse(llvm::StringRef bytes, const std::string &name,
                                          const std::string &folder, Diagnostics &diagnostics);
  OnnxModel(const OnnxModel &other) : proto(other.proto) { index(); }

  onnx::ModelProto proto;
  onnx::GraphProto &graph() { return *proto.mutable_graph(); }
  int64_t opset() const;
  void setOpset(int64_t version);

  void index();
  onnx::TensorProto *findConstant(const std::string &tensor);
  onnx::NodeProto *findProducer(const std::string &tensor);
  /// The nodes that read a tensor, each once.
  std::vector<onnx::NodeProto *> findUsers(const std::string &tensor);
  bool isOutput(const std::string &tensor) const { return outputs.count(tensor) != 0; }
  /// Tensors that nodes make, and inputs.
  std::set<std::string> variableNames();
  /// `wanted`, or with a number behind it where that is taken.
  std::string freshName(const std::string &wanted);
  onnx::TensorProto &addConstant(onnx::TensorProto tensor);

  /// Nodes for which `remove` holds, and constants that nothing reads, go.
  template <typename Predicate> void removeNodes(Predicate &&remove) {
    auto &nodes = *graph().mutable_node();
    int kept = 0;
    for (int i = 0; i < nodes.size(); ++i)
      if (!remove(nodes[i])) {
        if (kept != i)
          nodes.SwapElements(kept, i);
        ++kept;
      }
    nodes.DeleteSubrange(kept, nodes.size() - kept);
    removeUnusedConstants();
    index();
  }
  void removeUnusedConstants();

  /// Tensors whose channels have other sizes than in the float model. The file says so
  /// in its metadata.
  void markBalanced(const std::string &tensor);
  std::set<std::string> balancedTensors() const;

private:
  explicit OnnxModel(onnx::ModelProto &&model) : proto(std::move(model)) { index(); }
  bool loadExternalData(const std::string &folder, Diagnostics &diagnostics);

  std::map<std::string, onnx::TensorProto *> constants;
  std::map<std::string, onnx::NodeProto *> producers;
  std::map<std::string, std::vector<onnx::NodeProto *>> users;
  std::set<std::string> outputs, names;
};

/// Makes constants of Constant nodes, takes out what does nothing at inference
/// (Identity, Dropout), and folds batch normalizations and added constants into the
/// convolutions before them, so that the weights are what is quantized.
void simplify(OnnxModel &model);

/// Brings a model to opset 13, from which on there are scales per channel. False
/// after an error, which lists the nodes that stand against it.
bool upgradeOpset(OnnxModel &model, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXMODEL_H
