//===-- FoldConstants.cpp - evaluate constant ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/TypeInference.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
    folded.clear();
    // What an earlier run has computed is no reason for more work.
    const auto earlier = getOperation()->getAttrOfType<FloatAttr>(kWorkLeftAttr);
    workLeft = earlier ? earlier.getValueAsDouble() : double(maxWork);
    getOperation().walk([&](Operation *op) {
      auto constant = dyn_cast<ConstantOp>(op);
      if (constant && !earlier && !constant.getValue().isSplat())
        workLeft += double(maxWorkPerElement) * elementsOf(constant);
      if (isa<ConvOp, ConvTransposeOp, FullyConnectedOp, BatchNormOp>(op))
        for (Value weight : op->getOperands().drop_front())
          if (dependsOnConstants(weight))
            markSources(weight);
    });
    const double workAtFirst = workLeft;
    // In program order: what a folded op reads is folded before it.
    getOperation().walk([&](Operation *op) {
      // Integers and their parameters stay apart until a pass has used them. Dynamic schedules have
      // ops whose results are sequences.
      if (isa_and_nonnull<GraphDialect>(op->getDialect()) && !isa<ConstantOp>(op) &&
          !op->hasTrait<ConvertsQuantized>() && op->getNumResults() == 1 &&
          isa<RankedTensorType>(op->getResult(0).getType()))
        fold(op);
    });
    // Few models take so much that later runs have to know of it.
    constexpr double negligible = 1 << 20;
    if (workAtFirst - workLeft > negligible)
      getOperation()->setAttr(kWorkLeftAttr, Builder(&getContext()).getF64FloatAttr(workLeft));
  }

  /// On a function: what earlier runs of the pass have left of the work that may be done.
  static constexpr StringLiteral kWorkLeftAttr = "graph.fold_work_left";

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

  static double elementsOf(Value value) { return double(getTensorType(value).getNumElements()); }

  /// Returns how many functions such as exp an op computes per element of its result.
  static int64_t countFunctions(Operation *op) {
    Block formula;
    Block *body = &formula;
    if (auto map = dyn_cast<MapOp>(op)) {
      body = &map.getBody().front();
    } else if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op)) {
      for (Value operand : op->getOperands()) {
        Type element = getTensorType(operand).getElementType();
        if (!element.isIntOrFloat())
          return 0;
        formula.addArgument(getScalarType(element), op->getLoc());
      }
      OpBuilder builder(op->getContext());
      builder.setInsertionPointToEnd(&formula);
      elementwise.buildScalar(builder, op->getLoc(), formula.getArguments());
    }
    return llvm::count_if(
        *body, [](Operation &inner) { return isa<math::MathDialect>(inner.getDialect()); });
  }

  /// Returns how many products of a convolution, matrix product or pool the result of an op takes.
  static double countProducts(Operation *op) {
    const double results = elementsOf(op->getResult(0));
    // A filter without its first dim: that of the outputs, or of a transposed convolution's inputs.
    auto perFilter = [&](Value filter) {
      return elementsOf(filter) / std::max<int64_t>(getTensorType(filter).getDimSize(0), 1);
    };
    return TypeSwitch<Operation *, double>(op)
        .Case<ConvOp, IntegerConvOp>(
            [&](auto conv) { return results * perFilter(conv.getFilter()); })
        .Case([&](ConvTransposeOp conv) {
          return elementsOf(conv.getInput()) * perFilter(conv.getFilter());
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
        .Default([](Operation *) { return 0.0; });
  }

  /// Returns the shape that is enough of an operand of an op whose operands are each all one
  /// number: all elements of the result are then equal, too, and one of them is computed. Null if
  /// this is not known of the op.
  static std::optional<SmallVector<int64_t>> shapeForOne(Operation *op, Value operand) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce && !isa<ElementwiseOpInterface>(op))
      return std::nullopt;
    if (!isa_and_nonnull<SplatElementsAttr>(getConstant(operand)) || elementsOf(operand) == 0 ||
        !getTensorType(operand).getElementType().isIntOrFloat())
      return std::nullopt;
    SmallVector<int64_t> shape(getTensorType(operand).getRank(), 1);
    if (reduce)
      for (int64_t axis : reduce.getAxes())
        shape[axis] = getTensorType(operand).getDimSize(axis);
    return shape;
  }

  static bool isAllOne(Operation *op) {
    const RankedTensorType type = getTensorType(op->getResult(0));
    return type.getNumElements() > 1 && type.getElementType().isIntOrFloat() &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return shapeForOne(op, operand).has_value(); });
  }

  /// Returns how long the result of an op takes, about, in multiplications of a matrix product.
  static double workOf(Operation *op) {
    // The interpreter visits elements one by one and computes in double precision.
    constexpr double perElement = 16, perFunction = 16;
    const bool allOne = isAllOne(op);
    double operands = 0;
    for (Value operand : op->getOperands())
      operands += allOne ? double(ShapedType::getNumElements(*shapeForOne(op, operand)))
                         : elementsOf(operand);
    const double results = (allOne ? 1 : elementsOf(op->getResult(0))) *
                           (perElement + perFunction * double(countFunctions(op)));
    // What only moves elements does not visit those that it leaves out.
    const double read = operands * (op->hasTrait<OnlyMovesElements>() ? 1 : perElement);
    return std::max(results, read) + countProducts(op);
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

  /// The constants that this run of the pass has made: nothing but their ops has their bytes.
  llvm::SmallPtrSet<Operation *, 16> folded;

  /// Erases a constant that nothing reads any more. What a chain of ops computes on its way would
  /// otherwise be in memory all at once.
  void eraseConstant(ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (folded.erase(constant) && resource)
      setBytes(resource, {});
    constant.erase();
  }

  /// Returns the constant that a transpose is, which is transposed only where something reads it;
  /// null for other ops, and for what the interpreter may compute. Products pack their matrix from
  /// either form, as the last one of language models that share it with their embedding.
  ElementsAttr transposeLater(Operation *op) const {
    auto transpose = dyn_cast<TransposeOp>(op);
    if (!transpose || transpose.getType().getEncoding() || !transpose.getType().hasStaticShape() ||
        elementsOf(transpose) <= double(maxElements))
      return {};
    return transposeConstant(getConstant(transpose.getInput()), transpose.getPermutation(),
                             /*later=*/true);
  }

  void fold(Operation *op) {
    auto isConstant = [](Value operand) { return getConstant(operand) != nullptr; };
    if (!llvm::all_of(op->getOperands(), isConstant))
      return;
    ElementsAttr value = transposeLater(op);
    if (!value && !isWorthwhile(op))
      return;
    const double work = workOf(op);
    if (work > workLeft)
      return;
    workLeft -= work;
    if (!value)
      value = isa<HostCallOp>(op) ? callKernel(cast<HostCallOp>(op)) : compute(op);
    if (!value)
      return;
    OpBuilder builder(op);
    auto constant = ConstantOp::create(builder, op->getLoc(), value);
    folded.insert(constant);
    op->replaceAllUsesWith(constant);
    SmallVector<Value> read(op->getOperands());
    op->erase();
    for (Value operand : llvm::SmallPtrSet<Value, 4>(read.begin(), read.end()))
      if (operand.use_empty())
        eraseConstant(operand.getDefiningOp<ConstantOp>());
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
    const RankedTensorType type = getTensorType(op->getResult(0));
    const bool allOne = isAllOne(op);
    SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      ElementsAttr value = getConstant(operand);
      if (allOne)
        value = DenseElementsAttr::get(
            getTensorType(operand).clone(*shapeForOne(op, operand)).dropEncoding(),
            value.getSplatValue<Attribute>());
      FailureOr<Tensor> tensor = Tensor::fromAttribute(value);
      if (failed(tensor))
        return {};
      operands.push_back(std::move(*tensor));
    }
    if (!allOne)
      return interpret(op, type, operands);
    Operation *one = op->clone();
    const RankedTensorType oneType = type.clone(SmallVector<int64_t>(type.getRank(), 1));
    one->getResult(0).setType(oneType);
    ElementsAttr value = interpret(one, oneType, operands);
    one->destroy();
    return value ? DenseElementsAttr::get(type, *value.getValues<Attribute>().begin())
                 : ElementsAttr();
  }

  static ElementsAttr interpret(Operation *op, RankedTensorType type, ArrayRef<Tensor> operands) {
    auto pointers = llvm::map_to_vector(operands, [](const Tensor &tensor) { return &tensor; });
    SmallVector<Tensor> results;
    // An op that cannot be evaluated (a division by zero) is kept: it is only an error if a run
    // reaches it.
    std::string error;
    if (failed(evaluate(op, pointers, results, &error)))
      return {};
    return std::move(results[0]).toAttribute(type);
  }
};

} // namespace
