//===-- NodeContext.h - one TensorFlow node while it is imported ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_NODECONTEXT_H
#define OPENATC_FRONTENDS_TF_NODECONTEXT_H

#include <optional>
#include <string>

#include "dialects/graph/Graph.h"
#include "frontends/tf/GraphImporter.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace atc::tf_import {

/// What a builder of OpTable sees: the inputs and attributes of a node, and the
/// means to make graph ops from them.
///
/// The first fault is reported with the node's name and makes the node failed.
/// From then on values are null, `create` does nothing and the outputs count as
/// failed, so that a builder is written for the good case. It must only not
/// index by values that may be missing: `if (n.failed()) return;`.
class NodeContext {
public:
  NodeContext(GraphImporter &importer, pb::NodeDef &node);

  pb::NodeDef &proto() { return node; }
  llvm::StringRef op() const { return node.op(); }
  mlir::OpBuilder &builder() { return opBuilder; }

  //--- Errors, all E14001.
  bool failed() const { return hasFailed; }
  void failAttribute(llvm::StringRef name, const llvm::Twine &reason);
  void failInput(unsigned index, const llvm::Twine &reason);
  void failNode(const llvm::Twine &reason);

  //--- Attributes.
  bool hasAttr(llvm::StringRef name) const { return node.attr().count(name.str()) != 0; }
  int64_t intAttr(llvm::StringRef name, int64_t defaultValue);
  int64_t requiredInt(llvm::StringRef name);
  bool boolAttr(llvm::StringRef name, bool defaultValue);
  double floatAttr(llvm::StringRef name, double defaultValue);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef defaultValue);
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name);
  /// The element type that an attribute names; `defaultType` where it is left out.
  mlir::Type typeAttr(llvm::StringRef name, pb::DataType defaultType);

  //--- Inputs.
  unsigned numInputs() const { return tensors.size(); }
  mlir::Value input(unsigned index);
  llvm::SmallVector<mlir::Value> inputs();
  /// The elements of an input that must be known at compile time; empty after a
  /// fault.
  llvm::SmallVector<int64_t> constantInts(unsigned index);
  llvm::SmallVector<double> constantFloats(unsigned index);
  /// The same for an input of one element.
  int64_t constantInt(unsigned index);

  //--- Types. Empty or null for a null value.
  static llvm::ArrayRef<int64_t> shape(mlir::Value value);
  static int64_t rank(mlir::Value value) { return shape(value).size(); }
  static mlir::Type elementType(mlir::Value value);
  static bool isFloat(mlir::Value value) {
    return llvm::isa_and_nonnull<mlir::FloatType>(elementType(value));
  }
  /// -rank <= axis < rank becomes 0 <= axis < rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// The same for a set: sorted, a duplicate fails.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  void requireRank(unsigned index, int64_t atLeast, int64_t atMost);

  //--- Graph ops. Every op is checked (type inference, verifier) and folded.
  template <typename OpTy, typename... Args> mlir::Value create(Args &&...args) {
    if (hasFailed)
      return {};
    mlir::OperationState state(nextLocation(), OpTy::getOperationName());
    OpTy::build(opBuilder, state, mlir::Type(opBuilder.getNoneType()), std::forward<Args>(args)...);
    return finish(state, &OpTy::inferReturnTypes);
  }
  /// For the ops whose result type is stated, not inferred.
  template <typename OpTy, typename... Args>
  mlir::Value createTyped(llvm::ArrayRef<int64_t> shape, mlir::Type element, Args &&...args) {
    if (hasFailed || !checkShape(shape))
      return {};
    mlir::OperationState state(nextLocation(), OpTy::getOperationName());
    OpTy::build(opBuilder, state, mlir::Type(mlir::RankedTensorType::get(shape, element)),
                std::forward<Args>(args)...);
    return finish(state, nullptr);
  }
  mlir::Value constant(mlir::ElementsAttr value);
  /// Integers of 32 or 64 bits, by `element`.
  mlir::Value intList(llvm::ArrayRef<int64_t> values, mlir::Type element);
  /// A constant of rank 0.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalarLike(double value, mlir::Value like) {
    return scalar(value, elementType(like));
  }
  /// `shape` filled with one value of rank 0.
  mlir::Value fill(llvm::ArrayRef<int64_t> shape, mlir::Value value);

  //--- Shorthands of what many builders need.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value value, mlir::Type element);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims);
  mlir::Value compare(mlir::Value lhs, mlir::Value rhs, graph::ComparePredicate predicate) {
    return create<graph::CompareOp>(lhs, rhs, predicate);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return create<graph::AddOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return create<graph::SubOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return create<graph::MulOp>(lhs, rhs); }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) { return create<graph::DivOp>(lhs, rhs); }

  //--- Outputs. `setOutput` of output 0 may be all that a node has.
  void setOutput(unsigned index, mlir::Value value);
  void setOutput(mlir::Value value) { setOutput(0, value); }
  /// Hands the outputs to the importer.
  void finishOutputs();

private:
  using InferFn = llvm::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>,
                                          mlir::ValueRange, mlir::DictionaryAttr,
                                          mlir::OpaqueProperties, mlir::RegionRange,
                                          llvm::SmallVectorImpl<mlir::Type> &);

  void fail(const llvm::Twine &text);
  const pb::AttrValue *findAttr(llvm::StringRef name, pb::AttrValue::ValueCase kind);
  mlir::ElementsAttr constantAttr(unsigned index);
  mlir::Location nextLocation();
  mlir::Value finish(mlir::OperationState &state, InferFn infer);
  mlir::Value tryEvaluate(mlir::Operation *op);
  bool checkShape(llvm::ArrayRef<int64_t> shape);

  GraphImporter &owner;
  pb::NodeDef &node;
  mlir::OpBuilder &opBuilder;
  bool hasFailed = false;
  unsigned numLocations = 0;
  llvm::SmallVector<TensorName> tensors; // without the control inputs
  // The locations given to ops that do not yet stand for an output.
  llvm::DenseSet<mlir::Attribute> provisional;
  llvm::SmallVector<mlir::Value> results;
};

/// Where the dims of an image tensor are: data_format is one of NHWC, NCHW, NDHWC,
/// NCDHW. The graph dialect has channels first.
class ImageLayout {
public:
  ImageLayout(NodeContext &n, int64_t rank, llvm::StringRef defaultFormat = "");

  bool channelsLast = true;
  int64_t rank;

  /// To and from the layout of the graph dialect.
  mlir::Value toCanonical(NodeContext &n, mlir::Value value) const;
  mlir::Value fromCanonical(NodeContext &n, mlir::Value value) const;
  int64_t channelAxis() const { return channelsLast ? rank - 1 : 1; }
  int64_t spatialAxis(int64_t dim) const { return dim + (channelsLast ? 1 : 2); }
  /// The entries of an attribute with one number for each dim that belong to the
  /// spatial dims; the others must be 1. All 1 where the attribute is left out.
  llvm::SmallVector<int64_t> spatial(NodeContext &n, llvm::StringRef attribute) const;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_NODECONTEXT_H
