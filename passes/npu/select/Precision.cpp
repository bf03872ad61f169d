//===-- Precision.cpp - which tensors are f16 -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/select/HalfRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPRECISION
#include "passes/npu/Passes.h.inc"

namespace {

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isFloat32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

bool isContraction(Operation *op) {
  return op->hasTrait<graph::IsContraction>() && !isa<graph::ConvTransposeOp>(op);
}

bool isBias(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    return conv.getBias() && operand.get() == conv.getBias() &&
           operand.getOperandNumber() == conv.getBiasMutable().begin()->getOperandNumber();
  auto fullyConnected = dyn_cast<graph::FullyConnectedOp>(op);
  return fullyConnected && operand.getOperandNumber() == 2;
}

/// Integer contractions that stay on the CPU: their bodies compute with the model's f32
/// scales, and what they store is right only as f32.
bool isIntegerContraction(Operation *op) {
  return isa<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(op);
}

/// Returns whether `op` makes whole numbers: integers, or of f32 numbers on the way to its results,
/// for numbers that are almost the same in f16 may be rounded to others.
bool makesIntegers(Operation *op) {
  for (Value result : op->getResults())
    if (tensorType(result).getElementType().isInteger())
      return true;
  const bool readsFloats = llvm::any_of(op->getOperands(), isFloat32);
  return op
      ->walk([&](Operation *inner) {
        const bool isWhole = isa<arith::FPToUIOp, arith::FPToSIOp>(inner) ||
                             (readsFloats && isa<math::FloorOp, math::RoundEvenOp>(inner));
        return isWhole ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether an argument of a map's body is only added or chosen, as masks and bounds are.
bool isMaskOrBound(Value argument) {
  return llvm::all_of(
      argument.getUsers(),
      llvm::IsaPred<arith::AddFOp, arith::SelectOp, arith::CmpFOp, arith::MaximumFOp,
                    arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>);
}

/// Returns whether maps divide by `value`, and do nothing else with it.
bool isDivisorOfMaps(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (auto reshape = dyn_cast<graph::ReshapeOp>(use.getOwner()))
      return isDivisorOfMaps(reshape.getResult());
    auto map = dyn_cast<graph::MapOp>(use.getOwner());
    return map && llvm::all_of(map.getBody().getArgument(use.getOperandNumber()).getUses(),
                               [](OpOperand &inner) {
                                 return isa<arith::DivFOp>(inner.getOwner()) &&
                                        inner.getOperandNumber() == 1;
                               });
  });
}

/// Returns a number that a value of a map's body is never below; minus infinity where none is
/// known.
double lowerBound(graph::MapOp map, Value value, unsigned depth = 0) {
  constexpr double unknown = -std::numeric_limits<double>::infinity();
  llvm::APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return constant.isFinite() ? constant.convertToDouble() : unknown;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto reduce = map.getInputs()[argument.getArgNumber()].getDefiningOp<graph::ReduceOp>();
    const bool isNorm = reduce && (reduce.getKind() == graph::ReduceKind::L1 ||
                                   reduce.getKind() == graph::ReduceKind::L2 ||
                                   reduce.getKind() == graph::ReduceKind::SumSquare);
    return isNorm ? 0 : unknown;
  }
  Operation *op = value.getDefiningOp();
  constexpr unsigned maxDepth = 8;
  if (!op || depth == maxDepth)
    return unknown;
  auto bound = [&](unsigned operand) {
    return lowerBound(map, op->getOperand(operand), depth + 1);
  };
  if (isa<arith::ExtFOp>(op))
    return bound(0);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return std::max(bound(0), bound(1));
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return std::min(bound(0), bound(1));
  if (isa<arith::AddFOp>(op))
    return bound(0) + bound(1);
  if (isa<math::SqrtOp>(op))
    return std::sqrt(std::max(bound(0), 0.0));
  if (isa<math::AbsFOp>(op) || (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1)))
    return 0;
  return unknown;
}

/// Returns `value` (f32), in front of a conversion to f16, such that a small number that keeps it
/// above zero does so there, too: a quotient by the norm of a vector of zeros would be NaN.
Value keepPositive(OpBuilder &builder, graph::MapOp map, Value value) {
  constexpr double smallestHalf = 0x1p-24;
  const double bound = lowerBound(map, value);
  if (!(bound > 0 && bound < smallestHalf))
    return value;
  Value smallest = arith::ConstantOp::create(builder, value.getLoc(),
                                             builder.getF32FloatAttr(float(smallestHalf)));
  return arith::MaximumFOp::create(builder, value.getLoc(), value, smallest);
}

struct PrecisionPass : impl::NpuPrecisionBase<PrecisionPass> {
  using NpuPrecisionBase::NpuPrecisionBase;

  LogicalResult initialize(MLIRContext *) override {
    if (mode == "force_fp16" || mode == "cube_fp16" || mode == "origin")
      return success();
    llvm::errs() << "npu-precision: mode must be force_fp16, cube_fp16 or origin, but is '" << mode
                 << "'\n";
    return failure();
  }

  void runOnOperation() override {
    // Kernels of CPU functions are on buffers: only graphs are of interest.
    if (getOperation().isExternal())
      return;
    narrowed.clear();
    widened.clear();
    masks.clear();
    // Between integers the model's numbers are f32: in f16 integers would change. Only products of
    // two activations read f16, as the cube has nothing else for them.
    if (llvm::any_of(getOperation().getOps(),
                     [](Operation &op) { return op.hasAttr(kernel::kCubeSumsAttr); })) {
      if (mode != "origin") {
        narrowContractions();
        joinCasts();
      }
      return;
    }
    const graph::Float32Nodes float32Nodes(getOperation());
    // A list of nodes says more than the mode: what is not in it is f16.
    if (mode == "force_fp16" || float32Nodes.isGiven())
      narrowAll(float32Nodes);
    else if (mode == "cube_fp16")
      narrowContractions();
    for (Operation &op : llvm::make_early_inc_range(getOperation().getOps()))
      widenBias(&op);
    for (Operation &op : llvm::make_early_inc_range(getOperation().getOps()))
      if (isIntegerContraction(&op))
        keepOperandTypes(&op);
  }

private:
  RankedTensorType withElement(Value value, Type element) {
    RankedTensorType type = tensorType(value);
    return RankedTensorType::get(type.getShape(), element, type.getEncoding());
  }
  RankedTensorType halfType(Value value) {
    return withElement(value, Float16Type::get(&getContext()));
  }

  /// `value` (f32) as f16, converted where it is made.
  Value asHalf(Value value) {
    Value &result = narrowed[value];
    if (result)
      return result;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    // Masks and bounds are clamped always: only weights may become infinite.
    const bool clip = clipWeights || llvm::none_of(value.getUsers(), isContraction);
    if (auto constant = value.getDefiningOp<graph::ConstantOp>())
      if (FailureOr<ElementsAttr> half =
              narrow(masks.contains(value) ? clampMask(constant) : constant.getValue(), clip);
          succeeded(half)) {
        result = graph::ConstantOp::create(builder, value.getLoc(), halfType(value), *half);
        return result;
      }
    result = masks.contains(value)
                 ? narrowMask(builder, value)
                 : graph::CastOp::create(builder, value.getLoc(), halfType(value), value);
    return result;
  }

  /// Returns a mask (f32) that is an input as f16.
  Value narrowMask(OpBuilder &builder, Value value) {
    Location loc = value.getLoc();
    auto map = graph::MapOp::create(builder, loc, halfType(value), value);
    Block *body = builder.createBlock(&map.getBody());
    Value clamped = clampMask(builder, body->addArgument(builder.getF32Type(), loc));
    Value half = arith::TruncFOp::create(builder, loc, builder.getF16Type(), clamped);
    graph::YieldOp::create(builder, loc, half);
    return map.getResult();
  }

  //===--- force_fp16 -----------------------------------------------------===//

  /// Ops between the inputs and what becomes integers, without a contraction: in
  /// f16 a quantized value or an index could come out as the next one.
  DenseSet<Operation *> findDecisions() {
    DenseSet<Value> lost; // Made by a contraction or behind one.
    for (Operation &op : getOperation().getOps())
      if (isContraction(&op) ||
          llvm::any_of(op.getOperands(), [&](Value value) { return lost.contains(value); }))
        lost.insert_range(op.getResults());
    DenseSet<Operation *> decisions;
    for (Operation &op : llvm::reverse(getOperation().front())) {
      // Ops without f32 operands and results, and ops on lost values, are no decisions.
      if ((llvm::none_of(op.getOperands(), isFloat32) &&
           llvm::none_of(op.getResults(), isFloat32)) ||
          llvm::any_of(op.getOperands(), [&](Value value) { return lost.contains(value); }))
        continue;
      if (makesIntegers(&op) ||
          llvm::any_of(op.getUsers(), [&](Operation *user) { return decisions.contains(user); }))
        decisions.insert(&op);
    }
    return decisions;
  }

  /// Returns `value`, which was f32 and is f16 now, as f32 again.
  Value asFloat(Value value) {
    Value &result = widened[value];
    if (result)
      return result;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    result = graph::CastOp::create(builder, value.getLoc(),
                                   withElement(value, builder.getF32Type()), value);
    return result;
  }

  /// Returns whether `value` is a square of each element, which only reductions read.
  static bool isReducedSquare(Value value) {
    if (!isFloat32(value) || !llvm::all_of(value.getUsers(), llvm::IsaPred<graph::ReduceOp>))
      return false;
    if (auto product = value.getDefiningOp<graph::MulOp>())
      return product.getLhs() == product.getRhs();
    auto map = value.getDefiningOp<graph::MapOp>();
    auto product =
        map ? map.getBody().front().getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>()
            : arith::MulFOp();
    return product && product.getLhs() == product.getRhs();
  }

  /// Finds squares whose mean or sum norms need, and what is computed of them up to the next map.
  /// In f16 the square of 256 is infinite.
  void findSquares() {
    for (auto reduce : getOperation().getOps<graph::ReduceOp>()) {
      if (!isFloat32(reduce.getResult()))
        continue;
      const bool isSum =
          reduce.getKind() == graph::ReduceKind::Mean || reduce.getKind() == graph::ReduceKind::Sum;
      if (isSum && isReducedSquare(reduce.getInput()))
        wide.insert(reduce.getInput());
      else if (!isWideReduction(reduce))
        continue;
      SmallVector<Value> values{reduce.getResult()};
      while (!values.empty()) {
        Value value = values.pop_back_val();
        wide.insert(value);
        for (Operation *user : value.getUsers())
          if (isa<graph::ReshapeOp>(user))
            values.push_back(user->getResult(0));
      }
    }
  }

  /// Returns whether a reduction makes numbers that leave f16 long before what is computed of them
  /// does: sums of squares, sums that are divided by, as in a softmax of single operators, whose
  /// quotients would be zeros, which nobody notices, and sums of many elements.
  static bool isWideReduction(Operation *op) {
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    if (!reduce)
      return false;
    const bool isSum = reduce.getKind() == graph::ReduceKind::Sum;
    return reduce.getKind() == graph::ReduceKind::SumSquare ||
           (isSum && isDivisorOfMaps(reduce.getResult())) ||
           ((isSum || reduce.getKind() == graph::ReduceKind::L1) && isSumOfMany(reduce));
  }

  /// Returns whether a sum is of so many elements that numbers of usual size leave f16 in it, and
  /// is read by what computes with f32.
  static bool isSumOfMany(graph::ReduceOp reduce) {
    constexpr int64_t many = 64;
    return tensorType(reduce.getInput()).getNumElements() >
               many * tensorType(reduce.getResult()).getNumElements() &&
           isReadWide(reduce.getResult());
  }

  /// Returns whether maps and results of the function are all that read `value`.
  static bool isReadWide(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<graph::MapOp, func::ReturnOp>(user) ||
             (isa<graph::ReshapeOp>(user) && isReadWide(user->getResult(0)));
    });
  }

  /// Finds constants beyond f16 that elements are multiplied with: maps read them as they are.
  void findFactors() {
    for (auto constant : getOperation().getOps<graph::ConstantOp>())
      if (llvm::any_of(constant.getResult().getUses(),
                       [](OpOperand &use) {
                         auto map = dyn_cast<graph::MapOp>(use.getOwner());
                         return map &&
                                !isMaskOrBound(map.getBody().getArgument(use.getOperandNumber()));
                       }) &&
          countTooLarge(constant))
        wide.insert(constant.getResult());
  }

  /// Warns of weights that change because f16 does not hold them.
  void warnOfWeights(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto constant = operand.get().getDefiningOp<graph::ConstantOp>();
      const int64_t count = constant && !isBias(operand) ? countTooLarge(constant) : 0;
      if (count)
        op->emitWarning("W11012: ")
            << count << " of " << tensorType(operand.get()).getNumElements() << " weights of node '"
            << graph::nodeNameOf(op->getLoc()) << "' are beyond 65504, where f16 ends, and become "
            << (clipWeights ? "65504 or -65504" : "infinite")
            << "; name the node in a file of --keep_dtype to compute it in f32";
    }
  }

  /// Returns whether a map computes with integers that it reads.
  static bool readsIntegers(graph::MapOp map) {
    return map
        .walk([](Operation *inner) {
          return isa<arith::SIToFPOp, arith::UIToFPOp>(inner) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Finds scales of integers: what maps that read integers read beside them, with fewer elements
  /// than their result, and what it is computed of. The product of the scales of an image and of
  /// weights is often below the normal numbers of f16. `decisions` are f32 anyway.
  void findScales(const DenseSet<Operation *> &decisions) {
    SmallVector<Value> scales;
    auto add = [&](Value value) {
      if (isFloat32(value) && !wide.contains(value))
        scales.push_back(value);
    };
    for (auto map : getOperation().getOps<graph::MapOp>())
      if (readsIntegers(map))
        for (Value input : map.getInputs())
          if (tensorType(input).getNumElements() < tensorType(map.getResult()).getNumElements())
            add(input);
    while (!scales.empty()) {
      Value value = scales.pop_back_val();
      Operation *op = value.getDefiningOp();
      const bool isComputed = isa_and_nonnull<graph::MapOp, graph::MulOp, graph::ReshapeOp>(op);
      // Other ops, such as reductions, have operands and results of one type.
      if (!isComputed && op && !isa<graph::ConstantOp>(op) && !decisions.contains(op))
        continue;
      wide.insert(value);
      if (isComputed && !decisions.contains(op))
        llvm::for_each(op->getOperands(), add);
    }
  }

  /// Returns whether an operand that stays f32 is read as it is. Maps may read several types.
  bool readsWide(OpOperand &operand) {
    Operation *op = operand.getOwner();
    return wide.contains(operand.get()) &&
           (isa<graph::MapOp>(op) || wide.contains(op->getResult(0)));
  }

  void narrowAll(const graph::Float32Nodes &float32Nodes) {
    DenseSet<Operation *> decisions = findDecisions();
    wide.clear();
    findSquares();
    findFactors();
    findScales(decisions);
    const SmallVector<CentredMask> centred = centreMasks(getOperation());
    masks = findMasks(getOperation());
    for (const CentredMask &mask : centred) {
      masks.insert(mask.result);
      wide.insert_range(mask.exact);
    }
    const DenseSet<Operation *> maskedRows = findSoftmaxesOfMaskedRows(getOperation());
    DenseSet<Value> halved; // Were f32 in the model.
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getOps())
      if (!decisions.contains(&op) && !isIntegerContraction(&op))
        ops.push_back(&op);
    for (Operation *op : ops) {
      if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
        keepResultTypes(returnOp);
        continue;
      }
      if (isa<graph::ConstantOp>(op))
        continue;
      const bool isWide = op->getNumResults() == 1 && wide.contains(op->getResult(0)) &&
                          (isa<graph::MulOp, graph::ReshapeOp>(op) || isWideReduction(op));
      if (float32Nodes.contains(op) || isWide || maskedRows.contains(op)) {
        for (OpOperand &operand : op->getOpOperands())
          if (halved.contains(operand.get()))
            operand.set(asFloat(operand.get()));
        continue;
      }
      // Without its cast, an f16 of the model would not be f32 for who asks for that.
      if (isa<graph::CastOp>(op) && isFloat32(op->getResult(0)) &&
          llvm::any_of(op->getUsers(),
                       [&](Operation *user) { return float32Nodes.contains(user); }))
        continue;
      if (isContraction(op))
        warnOfWeights(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isFloat32(operand.get()) && !isBias(operand) && !isa<graph::CastOp>(op) &&
            !readsWide(operand))
          operand.set(asHalf(operand.get()));
      for (Value result : op->getResults())
        if (isFloat32(result) && !wide.contains(result)) {
          result.setType(halfType(result));
          halved.insert(result);
          ++numNarrowed;
        }
      if (auto map = dyn_cast<graph::MapOp>(op))
        widenBody(map);
      if (isa<graph::CastOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType()) {
        halved.erase(op->getResult(0));
        op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
        op->erase();
      }
    }
  }

  /// The scalar code of a map stays in f32: what of it is safe in f16 is known
  /// where it becomes instructions.
  void widenBody(graph::MapOp map) {
    Block &body = map.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Type f16 = builder.getF16Type(), f32 = builder.getF32Type();
    for (auto [argument, input] : llvm::zip(body.getArguments(), map.getInputs())) {
      if (!tensorType(input).getElementType().isF16() || !argument.getType().isF32())
        continue;
      argument.setType(f16);
      auto wide = arith::ExtFOp::create(builder, map.getLoc(), f32, argument);
      argument.replaceAllUsesExcept(wide, wide);
    }
    Operation *yield = body.getTerminator();
    if (tensorType(map.getResult()).getElementType().isF16() &&
        yield->getOperand(0).getType().isF32()) {
      builder.setInsertionPoint(yield);
      Value result = keepFinite(builder, keepPositive(builder, map, yield->getOperand(0)));
      if (masks.contains(map.getResult()))
        result = clampMask(builder, result);
      yield->setOperand(0, arith::TruncFOp::create(builder, map.getLoc(), f16, result));
    }
  }

  /// Floats that were narrowed where they are made are f32 again for the body of an integer
  /// contraction, which takes the elements of its inputs.
  void keepOperandTypes(Operation *op) {
    OpBuilder builder(op);
    Type f32 = builder.getF32Type();
    Region &body = op->getRegion(0);
    if (body.empty())
      return;
    // The first argument is the accumulator.
    auto arguments = body.getArguments().drop_front();
    auto inputs = op->getOpOperands().take_back(arguments.size());
    for (auto [argument, operand] : llvm::zip_equal(arguments, inputs))
      if (argument.getType().isF32() && !isFloat32(operand.get()))
        operand.set(graph::CastOp::create(builder, operand.get().getLoc(),
                                          withElement(operand.get(), f32), operand.get()));
  }

  void keepResultTypes(func::ReturnOp op) {
    OpBuilder builder(op);
    for (auto [operand, type] :
         llvm::zip(op->getOpOperands(), getOperation().getFunctionType().getResults()))
      if (operand.get().getType() != type)
        operand.set(graph::CastOp::create(builder, operand.get().getLoc(), type, operand.get()));
  }

  //===--- cube_fp16 ------------------------------------------------------===//

  void narrowContractions() {
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getOps())
      if (isContraction(&op) && isFloat32(op.getResult(0)))
        ops.push_back(&op);
    for (Operation *op : ops) {
      warnOfWeights(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isFloat32(operand.get()) && !isBias(operand))
          operand.set(asHalf(operand.get()));
      Value result = op->getResult(0);
      Type wide = result.getType();
      result.setType(halfType(result));
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(op);
      auto cast = graph::CastOp::create(builder, result.getLoc(), wide, result);
      result.replaceAllUsesExcept(cast, cast);
      ++numNarrowed;
    }
  }

  /// Lets maps beside casts of f32 and f16 convert in their own code.
  void joinCasts() {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<graph::CastOp>())) {
      Value from = op->getOperand(0), to = op->getResult(0);
      auto maker = from.getDefiningOp<graph::MapOp>();
      SmallVector<graph::MapOp> maps;
      if (isFloat32(from) && tensorType(to).getElementType().isF16() && maker && from.hasOneUse()) {
        from.setType(to.getType());
        maps.push_back(maker);
      } else if (tensorType(from).getElementType().isF16() && isFloat32(to) &&
                 llvm::all_of(to.getUsers(), llvm::IsaPred<graph::MapOp>)) {
        for (Operation *user : to.getUsers())
          maps.push_back(cast<graph::MapOp>(user));
      } else {
        continue;
      }
      to.replaceAllUsesWith(from);
      op->erase();
      for (graph::MapOp map : maps)
        widenBody(map);
    }
  }

  //===--- All modes ------------------------------------------------------===//

  /// The cube adds biases to its sums, in f32.
  void widenBias(Operation *op) {
    if (!isContraction(op) || !tensorType(op->getResult(0)).getElementType().isF16())
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      auto constant = operand.get().getDefiningOp<graph::ConstantOp>();
      if (!constant || !isBias(operand) || !tensorType(operand.get()).getElementType().isF16())
        continue;
      OpBuilder builder(op);
      Type f32 = builder.getF32Type();
      FailureOr<ElementsAttr> wide =
          padChannels(constant.getValue(), tensorType(operand.get()).getNumElements(), f32);
      if (succeeded(wide))
        operand.set(graph::ConstantOp::create(builder, constant.getLoc(),
                                              withElement(operand.get(), f32), *wide));
    }
  }

  DenseMap<Value, Value> narrowed, widened;
  DenseSet<Value> wide;   ///< stay f32 between values of f16
  SetVector<Value> masks; ///< are clamped where they become f16
};
} // namespace
} // namespace atc::npu
