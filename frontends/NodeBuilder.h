//===-- NodeBuilder.h - graph ops from one node of a model ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_NODEBUILDER_H
#define OPENATC_FRONTENDS_NODEBUILDER_H

#include <optional>
#include <string>

#include "dialects/graph/Graph.h"
#include "mlir/IR/Builders.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"

namespace atc {

/// What the builders of all operators see, whatever format the node comes from:
/// its inputs, and the means to make graph ops from them. Each format has its own
/// NodeContext, which adds the attributes and outputs.
///
/// The first fault is reported with the node's name and makes the node failed.
/// From then on values are null, `create` does nothing and the outputs count as
/// failed, so that a builder is written for the good case. It must only not
/// index by values that may be missing: `if (n.failed()) return;`.
class NodeBuilder {
public:
  NodeBuilder(mlir::OpBuilder &builder, Diagnostics &diagnostics)
      : opBuilder(builder), diags(diagnostics) {}
  virtual ~NodeBuilder() = default;

  mlir::OpBuilder &builder() { return opBuilder; }

  //--- Errors.
  bool failed() const { return hasFailed; }
  void fail(ErrorCode code, const llvm::Twine &text);
  /// E14001: "attribute 'name' of node ...: reason".
  void failAttribute(llvm::StringRef name, const llvm::Twine &reason);
  /// E14001: "input 2 ('tensor') of node ...: reason".
  void failInput(unsigned index, const llvm::Twine &reason);
  /// E14001: "node ...: reason".
  void failNode(const llvm::Twine &reason);

  //--- Attributes.
  virtual bool hasAttr(llvm::StringRef name) const = 0;
  virtual int64_t intAttr(llvm::StringRef name, int64_t defaultValue) = 0;
  int64_t requiredInt(llvm::StringRef name);

  //--- Inputs.
  virtual unsigned numInputs() const = 0;
  virtual mlir::Value input(unsigned index) = 0;
  llvm::SmallVector<mlir::Value> inputs();

  //--- Types. Empty or null for a null value.
  static llvm::ArrayRef<int64_t> shape(mlir::Value value);
  static int64_t rank(mlir::Value value) { return shape(value).size(); }
  static mlir::Type elementType(mlir::Value value);
  static bool isFloat(mlir::Value value) {
    return llvm::isa_and_nonnull<mlir::FloatType>(elementType(value));
  }
  void requireRank(unsigned index, int64_t atLeast, int64_t atMost);
  /// Indices into `axis` of `size` elements that are known must be `least` or more
  /// and less than `size`.
  void requireIndices(unsigned index, int64_t axis, int64_t least, int64_t size);

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
  /// One op over all inputs: op(op(a, b), c).
  template <typename OpTy> mlir::Value combineInputs() {
    mlir::Value result;
    for (mlir::Value input : inputs())
      result = result ? create<OpTy>(result, input) : input;
    return hasFailed ? mlir::Value() : result;
  }
  mlir::Value constant(mlir::ElementsAttr value);
  /// Integers of 32 or 64 bits by `element`; of 64 where it is left out.
  mlir::Value intList(llvm::ArrayRef<int64_t> values, mlir::Type element = {});
  /// A constant of rank 0.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalarLike(double value, mlir::Value like) {
    return scalar(value, elementType(like));
  }
  /// `shape` filled with one value of rank 0.
  mlir::Value fill(llvm::ArrayRef<int64_t> shape, mlir::Value value);

  //--- Shorthands of what many builders need.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// To the shape that input 1 states: one dim may be -1 and is what is left of the
  /// elements; with `copyZeros` a dim of 0 is that of `value`.
  mlir::Value reshapeAs(mlir::Value value, llvm::ArrayRef<int64_t> stated, bool copyZeros);
  mlir::Value cast(mlir::Value value, mlir::Type element);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims = true);
  mlir::Value compare(mlir::Value lhs, mlir::Value rhs, graph::ComparePredicate predicate) {
    return create<graph::CompareOp>(lhs, rhs, predicate);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return create<graph::AddOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return create<graph::SubOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return create<graph::MulOp>(lhs, rhs); }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) { return create<graph::DivOp>(lhs, rhs); }

protected:
  /// "node 'conv1' (Conv2D)".
  virtual std::string describe() const = 0;
  /// The tensor that input `index` reads; empty where there is none.
  virtual std::string inputName(unsigned index) const = 0;
  /// The location of the next op; no tensor of the model has the name.
  virtual mlir::Location makeLocation(unsigned number) = 0;
  /// What an op that was just made can be replaced by; null keeps it.
  virtual mlir::Value fold(mlir::Operation *op) = 0;
  /// What the op's own folder gives.
  mlir::Value foldOnce(mlir::Operation *op);

  /// The constant that input `index` is, `value`, for what must be known at compile
  /// time; null for a null value or after a fault.
  mlir::ElementsAttr constantAttr(unsigned index, mlir::Value value);
  mlir::ElementsAttr integerAttr(unsigned index, mlir::Value value);

  /// Gives the op that makes `value` the location of an output. What another node
  /// made keeps its name.
  void setLocation(mlir::Value value, mlir::Location loc);

  mlir::OpBuilder &opBuilder;
  Diagnostics &diags;
  bool hasFailed = false;

private:
  using InferFn = llvm::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>,
                                          mlir::ValueRange, mlir::DictionaryAttr,
                                          mlir::OpaqueProperties, mlir::RegionRange,
                                          llvm::SmallVectorImpl<mlir::Type> &);

  mlir::Location nextLocation();
  mlir::Value finish(mlir::OperationState &state, InferFn infer);
  bool checkShape(llvm::ArrayRef<int64_t> shape);
  bool checkLimits(mlir::Type type);

  unsigned numLocations = 0;
  // The locations given to ops that do not yet stand for an output.
  llvm::DenseSet<mlir::Attribute> provisional;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_NODEBUILDER_H
