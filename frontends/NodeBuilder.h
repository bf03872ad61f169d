//===-- NodeBuilder.h - graph ops from one node of a model ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_NODEBUILDER_H
#define OPENATC_FRONTENDS_NODEBUILDER_H

#include <optional>
#include <string>

#include "dialects/graph/ops/BinaryOps.h"
#include "frontends/HostCallBuilder.h"
#include "mlir/IR/Builders.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"

namespace atc {

/// The common base of the operator builders of all formats: a node's inputs, and functions that
/// create graph ops from them. Each format has its own NodeContext, which adds the attributes and
/// outputs.
///
/// The first error is reported with the node's name and makes the node failed. From then on values
/// are null, `create` does nothing and the outputs count as failed, so that a builder needs no
/// error handling. It must only not index by values that may be missing: `if (n.failed()) return;`.
class NodeBuilder {
public:
  NodeBuilder(mlir::OpBuilder &builder, Diagnostics &diagnostics)
      : opBuilder(builder), diags(diagnostics) {}
  virtual ~NodeBuilder() = default;

  mlir::OpBuilder &builder() { return opBuilder; }

  // Errors. Each function makes the node failed.
  bool failed() const { return hasFailed; }
  /// Notes that a host kernel may do what the builder then refuses: what is wrong is not the
  /// model, but that something is only known when the model runs.
  void leaveToHost() { hostMayServe = true; }
  bool isLeftToHost() const { return hasFailed && hostMayServe; }
  void fail(ErrorCode code, const llvm::Twine &text);
  /// Reports E14001: "attribute 'name' of node ...: reason".
  void failAttribute(llvm::StringRef name, const llvm::Twine &reason);
  /// Reports E14001: "input 2 ('tensor') of node ...: reason".
  void failInput(unsigned index, const llvm::Twine &reason);
  /// Reports E14001: "node ...: reason".
  void failNode(const llvm::Twine &reason);

  //--- Attributes.
  virtual bool hasAttr(llvm::StringRef name) const = 0;
  virtual int64_t intAttr(llvm::StringRef name, int64_t defaultValue) = 0;
  int64_t requiredInt(llvm::StringRef name);

  //--- Inputs.
  virtual unsigned numInputs() const = 0;
  virtual mlir::Value input(unsigned index) = 0;
  llvm::SmallVector<mlir::Value> inputs();

  //--- Types. Empty or null for a null value; the shape of what has no rank is empty, too.
  static llvm::ArrayRef<int64_t> shape(mlir::Value value);
  static int64_t rank(mlir::Value value) { return shape(value).size(); }
  static mlir::Type elementType(mlir::Value value);
  /// Whether a value is a tensor whose rank is known, its dims perhaps not.
  static bool hasRank(mlir::Value value) {
    return value && llvm::isa<mlir::RankedTensorType>(value.getType());
  }
  /// Whether a value is a tensor of fixed shape. Others go through host calls.
  static bool isStatic(mlir::Value value) { return value && isStaticType(value.getType()); }
  static bool isStaticType(mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  }
  static bool isFloat(mlir::Value value) {
    return llvm::isa_and_nonnull<mlir::FloatType>(elementType(value));
  }
  /// Fails the node unless the rank of input `index` is in [atLeast, atMost].
  void requireRank(unsigned index, int64_t atLeast, int64_t atMost);
  /// Fails the node where known elements of an index input are out of range: element i is for axis
  /// `first` + i % n with sizes[i % n] elements, of n sizes; with `wraps` negative ones count from
  /// the end.
  void requireIndices(unsigned index, bool wraps, llvm::ArrayRef<int64_t> sizes, int64_t first);
  /// Does the same as requireIndices for indices of a gather. If they are an input of the model,
  /// each run checks them as well, since generated code clamps indices into range.
  void requireGathered(unsigned index, bool wraps, llvm::ArrayRef<int64_t> sizes, int64_t first);

  // Graph ops. Every op is checked (type inference, verifier) and folded. On operands that graph
  // ops do not take, and for ops that canGenerate() refuses, calls of host kernels with the same
  // meaning are created instead.
  template <typename OpTy, typename... Args> mlir::Value create(Args &&...args) {
    if (hasFailed)
      return {};
    mlir::OperationState state(nextLocation(), OpTy::getOperationName());
    OpTy::build(opBuilder, state, mlir::Type(opBuilder.getNoneType()), std::forward<Args>(args)...);
    return finish(state, &OpTy::inferReturnTypes);
  }
  /// Creates an op whose result type is given, not inferred.
  template <typename OpTy, typename... Args>
  mlir::Value createTyped(llvm::ArrayRef<int64_t> shape, mlir::Type element, Args &&...args) {
    if (hasFailed || !checkShape(shape))
      return {};
    mlir::OperationState state(nextLocation(), OpTy::getOperationName());
    OpTy::build(opBuilder, state, mlir::Type(mlir::RankedTensorType::get(shape, element)),
                std::forward<Args>(args)...);
    return finish(state, nullptr);
  }
  /// Combines all inputs with one op: op(op(a, b), c).
  template <typename OpTy> mlir::Value combineInputs() {
    mlir::Value result;
    for (mlir::Value input : inputs())
      result = result ? create<OpTy>(result, input) : input;
    return hasFailed ? mlir::Value() : result;
  }
  /// Calls a host kernel for what has no graph op, or operands of dynamic shapes. Null after
  /// an error, or where an input is null.
  mlir::Value callHost(llvm::StringRef kernel, llvm::ArrayRef<mlir::Value> inputs,
                       llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
  /// Calls a host kernel with several results; an input may be null where it is optional.
  llvm::SmallVector<mlir::Value> callHost(const graph::HostCall &call);
  /// Attributes of host calls: a list of integers or of numbers, a text.
  mlir::NamedAttribute hostInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute hostFloats(llvm::StringRef name, llvm::ArrayRef<double> values);
  mlir::NamedAttribute hostText(llvm::StringRef name, llvm::StringRef value);
  mlir::Value constant(mlir::ElementsAttr value);
  /// Creates a list of i32 or i64 according to `element`; i64 by default.
  mlir::Value intList(llvm::ArrayRef<int64_t> values, mlir::Type element = {});
  /// Creates a constant of rank 0.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalarLike(double value, mlir::Value like) {
    return scalar(value, elementType(like));
  }
  /// Creates a tensor of `shape` filled with a value of rank 0.
  mlir::Value fill(llvm::ArrayRef<int64_t> shape, mlir::Value value);

  //--- Shorthands of what many builders need.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Reshapes to the shape that the model states: one dim may be -1 and is inferred; with
  /// `copyZeros` a dim of 0 is copied from `value`.
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
  /// Returns the node in the form "node 'conv1' (Conv2D)".
  virtual std::string describe() const = 0;
  /// Returns the name of the tensor that input `index` reads; empty where there is none.
  virtual std::string inputName(unsigned index) const = 0;
  /// Returns the location of the next op, with a name that no tensor of the model has.
  virtual mlir::Location makeLocation(unsigned number) = 0;
  /// Returns whether every run computes the node; not so on one side of a condition.
  virtual bool isAlwaysRun() { return true; }
  /// Returns whether the target can generate code for an op that was just created.
  virtual bool canGenerate(mlir::Operation *) { return true; }
  /// Returns a value that replaces an op that was just created; null keeps it.
  virtual mlir::Value fold(mlir::Operation *op) = 0;
  /// Returns the result of the op's own folder.
  mlir::Value foldOnce(mlir::Operation *op);

  /// Returns the constant `value` of input `index`, which must be known at compile time; null for a
  /// null value or after an error.
  mlir::ElementsAttr constantAttr(unsigned index, mlir::Value value);
  mlir::ElementsAttr integerAttr(unsigned index, mlir::Value value);

  /// Sets the location of an output on the op that computes `value`. An op of another node keeps
  /// its name.
  void setLocation(mlir::Value value, mlir::Location loc);

  mlir::OpBuilder &opBuilder;
  Diagnostics &diags;
  bool hasFailed = false, hostMayServe = false;

private:
  using InferFn = llvm::LogicalResult (*)(mlir::MLIRContext *, std::optional<mlir::Location>,
                                          mlir::ValueRange, mlir::DictionaryAttr,
                                          mlir::OpaqueProperties, mlir::RegionRange,
                                          llvm::SmallVectorImpl<mlir::Type> &);

  mlir::Location nextLocation();
  mlir::Value finish(mlir::OperationState &state, InferFn infer);
  mlir::Value finishOnHost(mlir::OperationState &state);
  bool checkShape(llvm::ArrayRef<int64_t> shape);
  bool checkLimits(mlir::Type type);

  unsigned numLocations = 0;
  // The locations given to ops that do not yet stand for an output.
  llvm::DenseSet<mlir::Attribute> provisional;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_NODEBUILDER_H
