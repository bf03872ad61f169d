//===-- OnnxModel.h - a mutable ONNX model --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXMODEL_H
#define OPENATC_QUANTIZE_ONNX_ONNXMODEL_H

#include "frontends/onnx/GraphIndex.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <onnx/onnx_pb.h>
#include <optional>
#include <set>

namespace atc::quantize {

/// Return the elements of a constant of type float or int64; nothing for other types.
std::optional<std::vector<float>> readFloats(const onnx::TensorProto &tensor);
std::optional<std::vector<int64_t>> readInts(const onnx::TensorProto &tensor);
int64_t countElements(const onnx::TensorProto &tensor);

/// Return a constant with these values.
onnx::TensorProto makeFloats(const std::string &name, const std::vector<int64_t> &dims,
                             const std::vector<float> &values);
onnx::TensorProto makeInts(const std::string &name, const std::vector<int64_t> &values);

/// Returns a node of the default domain with one output.
onnx::NodeProto makeNode(const std::string &type, const std::string &name,
                         llvm::ArrayRef<std::string> inputs, const std::string &output);

/// Returns the attribute of `node`, which owns it; null when it has none of this name.
const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, const std::string &name);
/// Returns the value of an attribute, or `otherwise` when `node` has none of this name.
int64_t intAttribute(const onnx::NodeProto &node, const std::string &name, int64_t otherwise);
/// Set an attribute, replacing one of this name.
void setAttribute(onnx::NodeProto &node, const std::string &name, int64_t value);
void setAttribute(onnx::NodeProto &node, const std::string &name, const std::string &value);
/// Removes the attribute, if there is one.
void removeAttribute(onnx::NodeProto &node, const std::string &name);

/// A model with an index of its graph by tensor names. `index` must be called after nodes were
/// added or removed.
class OnnxModel {
public:
  /// Read a model from a file or from memory. Return null after an error.
  static std::unique_ptr<OnnxModel> read(const std::string &path, Diagnostics &diagnostics);
  static std::unique_ptr<OnnxModel> parse(llvm::StringRef bytes, const std::string &name,
                                          const std::string &folder, Diagnostics &diagnostics);
  OnnxModel(const OnnxModel &other) : aliases(other.aliases), proto(other.proto) { index(); }

  /// Other names of the nodes that the file has.
  const NodeAliases aliases;

  onnx::ModelProto proto;
  /// Returns the main graph, which the model owns.
  onnx::GraphProto &graph() { return *proto.mutable_graph(); }
  /// Returns the version of the default operator set; 0 where the model states none.
  int64_t opset() const;
  void setOpset(int64_t version);

  /// Rebuilds the index.
  void index();
  /// Return the constant or the node that defines a tensor; null where there is none.
  onnx::TensorProto *findConstant(const std::string &tensor);
  onnx::NodeProto *findProducer(const std::string &tensor);
  /// Returns the nodes that read a tensor, without duplicates.
  std::vector<onnx::NodeProto *> findUsers(const std::string &tensor);
  bool isOutput(const std::string &tensor) const { return outputs.count(tensor) != 0; }
  /// Returns the names of inputs and of tensors that nodes compute.
  std::set<std::string> variableNames();
  /// Returns `wanted`, or `wanted` with a number appended where that name is taken.
  std::string freshName(const std::string &wanted);
  /// Adds an initializer.
  onnx::TensorProto &addConstant(onnx::TensorProto tensor);

  /// Removes the nodes for which `remove` returns true, and constants that become unused.
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

  /// Marks a tensor whose channels are scaled relative to the float model. The file stores the mark
  /// in its metadata.
  void markBalanced(const std::string &tensor);
  std::set<std::string> balancedTensors() const;

private:
  explicit OnnxModel(onnx::ModelProto &&model)
      : aliases(onnx_import::listAliases(model.graph())), proto(std::move(model)) {
    index();
  }
  bool loadExternalData(const std::string &folder, Diagnostics &diagnostics);

  std::map<std::string, onnx::TensorProto *> constants;
  std::map<std::string, onnx::NodeProto *> producers;
  std::map<std::string, std::vector<onnx::NodeProto *>> users;
  std::set<std::string> outputs, names;
};

/// Converts Constant nodes to initializers, removes nodes without effect at inference (Identity,
/// Dropout), and folds batch normalizations and added constants into the convolutions before them,
/// so that the final weights are quantized.
void simplify(OnnxModel &model);

/// Converts a model to opset 13, the first with scales per channel. Returns false after an error,
/// which lists the nodes that prevent it.
bool upgradeOpset(OnnxModel &model, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXMODEL_H
