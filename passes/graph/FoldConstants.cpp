//===-- FoldConstants.cpp - evaluate constant ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFOLDCONSTANTS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct FoldConstants : atc::graph::impl::GraphFoldConstantsBase<FoldConstants> {
  using GraphFoldConstantsBase::GraphFoldConstantsBase;

  void runOnOperation() override {
    weightSources.clear();
    isFixed.clear();
    workLeft = maxWork;
    getOperation().walk([&](Operation *op) {
      if (auto constant = dyn_cast<ConstantOp>(op); constant && !constant.getValue().isSplat())
        workLeft += double(maxWorkPerElement) * getTensorType(constant).getNumElements();
      if (isa<ConvOp, ConvTransposeOp, FullyConnectedOp, BatchNormOp>(op))
        for (Value weight : op->getOperands().drop_front())
          if (dependsOnConstants(weight))
            markSources(weight);
    });
    // In program order: what a folded op reads is folded before it.
    getOperation().walk([&](Operation *op) {
      // Integers and their parameters stay apart until a pass has used them. Dynamic schedules have
      // ops whose results are sequences.
      if (isa_and_nonnull<GraphDialect>(op->getDialect()) && !isa<ConstantOp>(op) &&
          !op->hasTrait<ConvertsQuantized>() && op->getNumResults() == 1 &&
          isa<RankedTensorType>(op->getResult(0).getType()))
        fold(op);
    });
  }

  /// Returns whether a value is computed of constants only.
  bool dependsOnConstants(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<ConstantOp>(op))
      return op != nullptr;
    if (auto known = isFixed.find(op); known != isFixed.end())
      return known->second;
    const bool fixed =
        op->getNumOperands() > 0 && !op->hasTrait<ConvertsQuantized>() &&
        llvm::all_of(op->getOperands(), [&](Value operand) { return dependsOnConstants(operand); });
    return isFixed[op] = fixed;
  }

  void markSources(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !weightSources.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      markSources(operand);
  }

  /// Returns whether a host call makes more bytes of its inputs, or dequantizes them: weights of
  /// few bits are read as they are stored.
  static bool expandsWeights(HostCallOp op) {
    auto bitsOf = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.hasStaticShape() && type.getElementType().isIntOrFloat()
                 ? type.getNumElements() * int64_t(type.getElementTypeBitWidth())
                 : 0;
    };
    int64_t read = 0;
    for (Value input : op.getInputs())
      read += bitsOf(input);
    constexpr int64_t small = 4096 * 8;
    return op.getKernel() == "DequantizeLinear" || bitsOf(op->getResult(0)) > std::max(read, small);
  }

  /// Returns how many multiplications, comparisons or copies the result of an op takes, about.
  static double workOf(Operation *op) {
    auto elements = [](Value value) { return double(getTensorType(value).getNumElements()); };
    const double results = elements(op->getResult(0));
    // A filter without its first dim: that of the outputs, or of a transposed convolution's inputs.
    auto perFilter = [&](Value filter) {
      return elements(filter) / std::max<int64_t>(getTensorType(filter).getDimSize(0), 1);
    };
    return TypeSwitch<Operation *, double>(op)
        .Case<ConvOp, IntegerConvOp>(
            [&](auto conv) { return results * perFilter(conv.getFilter()); })
        .Case([&](ConvTransposeOp conv) {
          return elements(conv.getInput()) * perFilter(conv.getFilter());
        })
        .Case<FullyConnectedOp, IntegerFullyConnectedOp>([&](auto product) {
          return results * double(getTensorType(product.getInput()).getShape().back());
        })
        .Case([&](MatMulOp product) {
          return results * double(getTensorType(product.getLhs()).getShape().back());
        })
        .Case<MaxPoolOp, AveragePoolOp>([&](auto pool) {
          double window = 1;
          for (int64_t size : pool.getKernel())
            window *= double(size);
          return results * window;
        })
        .Default([&](Operation *) { return results; });
  }

  bool isWorthwhile(Operation *op) const {
    RankedTensorType type = getTensorType(op->getResult(0));
    if (!type.hasStaticShape() || type.getEncoding() || type.getNumElements() > maxElements)
      return false;
    if (auto call = dyn_cast<HostCallOp>(op); call && expandsWeights(call))
      return false;
    if (weightSources.contains(op))
      return true;
    // By elements, not bytes: weights stored in a smaller type should be folded.
    int64_t operandElements = 0;
    for (Value operand : op->getOperands())
      operandElements += getTensorType(operand).getNumElements();
    // Indices, as those of relative positions, take many operators that the result of a run never
    // changes, and their tables are small.
    const int64_t max = maxGrownElements * (type.getElementType().isInteger(64) ? 64 : 1);
    return type.getNumElements() <= std::max<int64_t>(operandElements, max);
  }

  /// The work that may still be done: without a limit a file of a few bytes, whose constants are
  /// all one number, keeps the compiler busy for hours.
  double workLeft = 0;

  /// The ops that compute weights of constants. Targets have no code for weights that are no
  /// constants, and the importer has promised that these become some.
  llvm::SmallPtrSet<Operation *, 16> weightSources;
  llvm::DenseMap<Operation *, bool> isFixed;

  void fold(Operation *op) {
    auto isConstant = [](Value operand) { return getConstant(operand) != nullptr; };
    if (!llvm::all_of(op->getOperands(), isConstant) || !isWorthwhile(op))
      return;
    const double work = workOf(op);
    if (work > workLeft)
      return;
    workLeft -= work;
    ElementsAttr value = isa<HostCallOp>(op) ? callKernel(cast<HostCallOp>(op)) : compute(op);
    if (!value)
      return;
    OpBuilder builder(op);
    op->replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), value));
    SmallVector<Value> read(op->getOperands());
    op->erase();
    for (Value operand : llvm::SmallPtrSet<Value, 4>(read.begin(), read.end()))
      if (operand.use_empty())
        operand.getDefiningOp()->erase();
    ++numFolded;
  }

  /// Returns the result of a host kernel; null where it is not known at compile time.
  static ElementsAttr callKernel(HostCallOp op) {
    HostCall call;
    call.kernel = op.getKernel();
    call.inputs = op.inputsByPosition();
    call.parameters = op.getParameters();
    constexpr int64_t max = 1 << 18;
    auto values = foldHostCall(call, op.getContext(), max);
    if (failed(values) || values->empty() || !values->front() ||
        values->front().getType() != op->getResult(0).getType())
      return {};
    return values->front();
  }

  /// Returns the result of an op by the reference interpreter; null where it has none.
  static ElementsAttr compute(Operation *op) {
    SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Tensor> tensor = Tensor::fromAttribute(getConstant(operand));
      if (failed(tensor))
        return {};
      operands.push_back(std::move(*tensor));
    }
    auto pointers = llvm::map_to_vector(operands, [](const Tensor &tensor) { return &tensor; });
    SmallVector<Tensor> results;
    // An op that cannot be evaluated (a division by zero) is kept: it is only an error if a run
    // reaches it.
    std::string error;
    if (failed(evaluate(op, pointers, results, &error)))
      return {};
    return std::move(results[0]).toAttribute(getTensorType(op->getResult(0)));
  }
};

} // namespace
