//===-- NodeContext.h - one ONNX node while it is imported ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_NODECONTEXT_H
#define OPENATC_FRONTENDS_ONNX_NODECONTEXT_H

#include <onnx/onnx_pb.h>
#include <optional>
#include <string>

#include "dialects/graph/Graph.h"
#include "frontends/onnx/GraphImporter.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace atc::onnx_import {

/// What a builder of OpTable sees: the inputs and attributes of a node, and the
/// means to make graph ops from them.
///
/// The first fault is reported with the node's name and makes the node failed.
/// From then on values are null, `create` does nothing and the outputs count as
/// failed, so that a builder is written for the good case. It must only not
/// index by values that may be missing: `if (n.failed()) return;`.
class NodeContext {
public:
  NodeContext(GraphImporter &importer, onnx::NodeProto &node, int64_t opset);

  int64_t opset() const { return opsetVersion; }
  onnx::NodeProto &proto() { return node; }
  mlir::OpBuilder &builder() { return opBuilder; }
  GraphImporter &importer() { return owner; }

  //--- Errors.
  bool failed() const { return hasFailed; }
  void fail(llvm::StringRef code, const llvm::Twine &text);
  /// E14001: "attribute 'name' of node ...: reason".
  void failAttribute(llvm::StringRef name, const llvm::Twine &reason);
  /// E14001: "input 2 ('tensor') of node ...: reason".
  void failInput(unsigned index, const llvm::Twine &reason);
  /// E14001: "node ...: reason".
  void failNode(const llvm::Twine &reason);

  //--- Attributes. A value of the wrong type fails the node, and so does an
  //    attribute that nobody asks for: it would silently be taken for its default.
  bool hasAttr(llvm::StringRef name) const { return findAttr(name) != nullptr; }
  onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  /// For what has no meaning here, like the momentum of a training.
  void ignoreAttr(llvm::StringRef name) { findAttr(name); }
  int64_t intAttr(llvm::StringRef name, int64_t defaultValue);
  int64_t requiredInt(llvm::StringRef name);
  bool boolAttr(llvm::StringRef name, bool defaultValue);
  double floatAttr(llvm::StringRef name, double defaultValue);
  /// `allowed` lists the legal values; the first one is the default.
  std::string choiceAttr(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> allowed);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name);

  //--- Inputs.
  unsigned numInputs() const { return node.input_size(); }
  bool hasInput(unsigned index) const;
  mlir::Value input(unsigned index);
  /// Null where the input is left out.
  mlir::Value optionalInput(unsigned index);
  llvm::SmallVector<mlir::Value> inputs();
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

  //--- Types. Empty or null for a null value.
  static llvm::ArrayRef<int64_t> shape(mlir::Value value);
  static int64_t rank(mlir::Value value) { return shape(value).size(); }
  static mlir::Type elementType(mlir::Value value);
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// -rank <= axis < rank becomes 0 <= axis < rank.
  int64_t normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef name = "axis");
  /// The same for a set: sorted, a duplicate fails.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank,
                                           llvm::StringRef name = "axes");
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
  mlir::Value createTyped(mlir::RankedTensorType type, Args &&...args) {
    if (hasFailed)
      return {};
    mlir::OperationState state(nextLocation(), OpTy::getOperationName());
    OpTy::build(opBuilder, state, mlir::Type(type), std::forward<Args>(args)...);
    return finish(state, nullptr);
  }
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value intList(llvm::ArrayRef<int64_t> values);
  /// A constant of rank 0.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalarLike(double value, mlir::Value like) {
    return scalar(value, elementType(like));
  }

  //--- Shorthands of what many builders need.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value value, mlir::Type element);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims = true);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return create<graph::AddOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return create<graph::SubOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return create<graph::MulOp>(lhs, rhs); }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) { return create<graph::DivOp>(lhs, rhs); }

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
  using InferFn = llvm::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>,
                                          mlir::ValueRange, mlir::DictionaryAttr,
                                          mlir::OpaqueProperties, mlir::RegionRange,
                                          llvm::SmallVectorImpl<mlir::Type> &);

  void checkAttrsKnown();
  onnx::AttributeProto *typedAttr(llvm::StringRef name, onnx::AttributeProto::AttributeType type);
  mlir::ElementsAttr constantAttr(unsigned index);
  mlir::Location nextLocation();
  mlir::Value finish(mlir::OperationState &state, InferFn infer);
  bool checkLimits(mlir::Type type);

  GraphImporter &owner;
  onnx::NodeProto &node;
  mlir::OpBuilder &opBuilder;
  int64_t opsetVersion;
  bool hasFailed = false;
  unsigned numLocations = 0;
  /// Of the inputs, those that the builder has asked for are the first ones.
  mutable unsigned numAsked = 0;
  mutable llvm::SmallPtrSet<const onnx::AttributeProto *, 8> knownAttrs;
  // The locations given to ops that do not yet stand for an output.
  llvm::DenseSet<mlir::Attribute> provisional;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_NODECONTEXT_H
