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

/// The view of a node for the builders of OpTable: adds the attributes, inputs and outputs of ONNX
/// to NodeBuilder.
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
  /// Accepts an attribute that has no meaning here, such as the momentum of a training.
  void ignoreAttr(llvm::StringRef name);
  int64_t intAttr(llvm::StringRef name, int64_t defaultValue) override;
  bool boolAttr(llvm::StringRef name, bool defaultValue);
  double floatAttr(llvm::StringRef name, double defaultValue);
  /// Returns a string attribute; `allowed` lists the valid values, of which the first is the
  /// default.
  std::string choiceAttr(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> allowed);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name);

  //--- Inputs.
  unsigned numInputs() const override { return node.input_size(); }
  bool hasInput(unsigned index) const;
  mlir::Value input(unsigned index) override;
  /// Returns an input; null where it is omitted.
  mlir::Value optionalInput(unsigned index);
  /// Return the elements of an input that must be known at compile time; nothing where it is
  /// omitted or the node failed.
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned index);
  std::optional<llvm::SmallVector<double>> constantFloats(unsigned index);
  bool isConstantInput(unsigned index);
  /// Returns whether an input exists whose elements depend on those of the model's inputs.
  bool isRuntimeInput(unsigned index) { return hasInput(index) && !isConstantInput(index); }
  /// Returns the shape that the model declares for output `output`, for the case that the elements
  /// of input `index`, which decide that shape, are not known. Fails the node where there is none.
  std::optional<llvm::SmallVector<int64_t>> declaredShape(unsigned index, unsigned output = 0);

  //--- Types.
  /// Fails the node unless input `index` has elements of a float type.
  void requireFloats(unsigned index);
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// Returns an axis in -rank <= axis < rank as 0 <= axis < rank; fails the node for others.
  int64_t normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef name = "axis");
  /// Returns a set of axes, normalized and sorted; a duplicate fails the node.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank,
                                           llvm::StringRef name = "axes");

  //--- Outputs.
  unsigned numOutputs() const { return node.output_size(); }
  bool wantsOutput(unsigned index) const;
  void setOutput(unsigned index, mlir::Value value);
  void setOutput(mlir::Value value) { setOutput(0, value); }
  /// Fails the node when output `index` is used by the graph.
  void refuseOutput(unsigned index, llvm::StringRef what);
  /// Passes the outputs to the importer.
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
  /// The number of inputs that the builder has asked for; those are the first ones.
  mutable unsigned numAsked = 0;
  mutable llvm::SmallPtrSet<const onnx::AttributeProto *, 8> knownAttrs;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_NODECONTEXT_H
