//===-- NodeContext.h - one TensorFlow node while it is imported ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_NODECONTEXT_H
#define OPENATC_FRONTENDS_TF_NODECONTEXT_H

#include <string>

#include "frontends/NodeBuilder.h"
#include "frontends/tf/GraphImporter.h"

namespace atc::tf_import {

/// The interface for builders of OpTable: extends NodeBuilder by attributes, inputs and outputs as
/// TensorFlow defines them.
class NodeContext : public NodeBuilder {
public:
  NodeContext(GraphImporter &importer, pb::NodeDef &node);

  pb::NodeDef &proto() { return node; }
  llvm::StringRef op() const { return node.op(); }
  GraphImporter &importer() { return owner; }
  /// The tensor that an input reads.
  const TensorName &tensor(unsigned index) const { return tensors[index]; }

  //--- Attributes.
  bool hasAttr(llvm::StringRef name) const override { return node.attr().count(name.str()) != 0; }
  int64_t intAttr(llvm::StringRef name, int64_t defaultValue) override;
  bool boolAttr(llvm::StringRef name, bool defaultValue);
  double floatAttr(llvm::StringRef name, double defaultValue);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef defaultValue);
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name);
  /// The element type that an attribute names; `defaultType` where it is left out.
  mlir::Type typeAttr(llvm::StringRef name, pb::DataType defaultType);

  //--- Inputs.
  unsigned numInputs() const override { return tensors.size(); }
  mlir::Value input(unsigned index) override;
  /// The imaginary part of a complex input; an error where it is real.
  mlir::Value imaginaryInput(unsigned index);
  /// The elements of an input that must be known at compile time; empty after a
  /// error.
  llvm::SmallVector<int64_t> constantInts(unsigned index);
  llvm::SmallVector<double> constantFloats(unsigned index);
  /// Returns the integer of a constant input of one element.
  int64_t constantInt(unsigned index);

  //--- Axes.
  /// -rank <= axis < rank becomes 0 <= axis < rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Normalizes a set of axes and sorts it; fails on a duplicate.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //--- Outputs. `setOutput` of output 0 may be all that a node has.
  void setOutput(unsigned index, mlir::Value value);
  void setOutput(mlir::Value value) { setOutput(0, value); }
  /// Makes output 0 complex.
  void setOutput(mlir::Value real, mlir::Value imaginary) {
    setOutput(0, real);
    imaginaryResult = imaginary;
  }
  /// Hands the outputs to the importer.
  void finishOutputs();

private:
  std::string describe() const override { return describeNode(node); }
  std::string inputName(unsigned index) const override {
    return index < numInputs() ? tensors[index].str() : "";
  }
  mlir::Location makeLocation(unsigned number) override;
  bool isAlwaysRun() override;
  bool canGenerate(mlir::Operation *op) override;
  mlir::Value fold(mlir::Operation *op) override;
  mlir::Value tryEvaluate(mlir::Operation *op);
  const pb::AttrValue *findAttr(llvm::StringRef name, pb::AttrValue::ValueCase kind);

  GraphImporter &owner;
  pb::NodeDef &node;
  llvm::SmallVector<TensorName> tensors; // without the control inputs
  llvm::SmallVector<mlir::Value> results;
  mlir::Value imaginaryResult;
};

/// The positions of the dims of an image tensor, by its data_format: NHWC, NCHW, NDHWC or NCDHW.
/// The graph dialect has channels first.
class ImageLayout {
public:
  ImageLayout(NodeContext &n, int64_t rank, llvm::StringRef defaultFormat = "");

  bool channelsLast = true;
  int64_t rank;

  /// Transpose a value to and from the layout of the graph dialect.
  mlir::Value toCanonical(NodeContext &n, mlir::Value value) const;
  mlir::Value fromCanonical(NodeContext &n, mlir::Value value) const;
  /// Transpose a value to and from the layout with the channels last.
  mlir::Value toChannelsLast(NodeContext &n, mlir::Value value) const;
  mlir::Value fromChannelsLast(NodeContext &n, mlir::Value value) const;
  int64_t channelAxis() const { return channelsLast ? rank - 1 : 1; }
  int64_t spatialAxis(int64_t dim) const { return dim + (channelsLast ? 1 : 2); }
  /// The entries of an attribute with one number for each dim that belong to the
  /// spatial dims; the others must be 1. All 1 where the attribute is left out.
  llvm::SmallVector<int64_t> spatial(NodeContext &n, llvm::StringRef attribute) const;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_NODECONTEXT_H
