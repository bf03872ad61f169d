//===-- NodeContext.h - one ONNX node while it is imported ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_NODECONTEXT_H
#define OPENATC_FRONTENDS_ONNX_NODECONTEXT_H

#include <onnx/onnx_pb.h>
#include <optional>
#include <string>

#include "frontends/NodeBuilder.h"
#include "frontends/onnx/GraphImporter.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace atc::onnx_import {

/// What a builder of OpTable sees: besides what NodeBuilder has, the attributes,
/// inputs and outputs as ONNX has them.
class NodeContext : public NodeBuilder {
public:
  NodeContext(GraphImporter &importer, onnx::NodeProto &node, int64_t opset);

  int64_t opset() const { return opsetVersion; }
  onnx::NodeProto &proto() { return node; }
  GraphImporter &importer() { return owner; }

  //--- Attributes. A value of the wrong type fails the node, and so does an
  //    attribute that nobody asks for: it would silently be taken for its default.
  bool hasAttr(llvm::StringRef name) const override { return findAttr(name) != nullptr; }
  onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  /// For what has no meaning here, like the momentum of a training.
  void ignoreAttr(llvm::StringRef name) { findAttr(name); }
  int64_t intAttr(llvm::StringRef name, int64_t defaultValue) override;
  bool boolAttr(llvm::StringRef name, bool defaultValue);
  double floatAttr(llvm::StringRef name, double defaultValue);
  /// `allowed` lists the legal values; the first one is the default.
  std::string choiceAttr(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> allowed);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name);

  //--- Inputs.
  unsigned numInputs() const override { return node.input_size(); }
  bool hasInput(unsigned index) const;
  mlir::Value input(unsigned index) override;
  /// Null where the input is left out.
  mlir::Value optionalInput(unsigned index);
  /// The elements of an input that must be known at compile time; nothing where
  /// it is left out or the node failed.
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned index);
  std::optional<llvm::SmallVector<double>> constantFloats(unsigned index);
  bool isConstantInput(unsigned index);
  /// Whether an input is there whose elements depend on those of the model.
  bool isRuntimeInput(unsigned index) { return hasInput(index) && !isConstantInput(index); }
  /// Where the elements of input `index`, which decide the shape of an output,
  /// are not known: the shape that the model declares for output `output`. Fails
  /// where there is none.
  std::optional<llvm::SmallVector<int64_t>> declaredShape(unsigned index, unsigned output = 0);

  //--- Types.
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// -rank <= axis < rank becomes 0 <= axis < rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef name = "axis");
  /// The same for a set: sorted, a duplicate fails.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank,
                                           llvm::StringRef name = "axes");

  //--- Outputs.
  unsigned numOutputs() const { return node.output_size(); }
  bool wantsOutput(unsigned index) const;
  void setOutput(unsigned index, mlir::Value value);
  void setOutput(mlir::Value value) { setOutput(0, value); }
  /// Fails when output `index` is used by the graph.
  void refuseOutput(unsigned index, llvm::StringRef what);
  /// Hands the outputs to the importer.
  void finishOutputs();

private:
  std::string describe() const override { return describeNode(node); }
  std::string inputName(unsigned index) const override {
    return index < numInputs() ? node.input(index) : "";
  }
  mlir::Location makeLocation(unsigned number) override;
  mlir::Value fold(mlir::Operation *op) override;
  void checkAttrsKnown();
  onnx::AttributeProto *typedAttr(llvm::StringRef name, onnx::AttributeProto::AttributeType type);

  GraphImporter &owner;
  onnx::NodeProto &node;
  int64_t opsetVersion;
  /// Of the inputs, those that the builder has asked for are the first ones.
  mutable unsigned numAsked = 0;
  mutable llvm::SmallPtrSet<const onnx::AttributeProto *, 8> knownAttrs;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_NODECONTEXT_H
