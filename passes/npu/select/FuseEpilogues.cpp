//===-- FuseEpilogues.cpp - fuses maps into contractions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs on buffers and not on the graph, because here the strides of every operand are known, and
// the expander can be asked whether it supports the result.

#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUFUSEEPILOGUES
#include "passes/npu/Passes.h.inc"

namespace {

/// The function x * scale + residual that a map applies to the result of a product.
struct Epilogue {
  double scale = 1;
  std::optional<unsigned> residual; ///< of the map's inputs
};

/// Returns the value behind conversions between float types: accumulators are f32 anyway.
Value unconverted(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

std::optional<double> constantOf(Value value) {
  auto constant = unconverted(value).getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : nullptr;
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

std::optional<double> scaleOf(Value value, Value x) {
  value = unconverted(value);
  if (value == x)
    return 1.0;
  if (auto mul = value.getDefiningOp<arith::MulFOp>())
    for (auto [factor, number] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> inner = scaleOf(factor, x), scale = constantOf(number);
          inner && scale)
        return *inner * *scale;
  if (auto div = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> inner = scaleOf(div.getLhs(), x), scale = constantOf(div.getRhs());
        inner && scale && *scale != 0)
      return *inner / *scale;
  return std::nullopt;
}

std::optional<Epilogue> epilogueOf(kernel::MapOp map, unsigned input) {
  Block &body = map.getBody().front();
  Value x = body.getArgument(input), result = unconverted(body.getTerminator()->getOperand(0));
  if (std::optional<double> scale = scaleOf(result, x))
    return Epilogue{*scale, std::nullopt};
  auto add = result.getDefiningOp<arith::AddFOp>();
  if (!add)
    return std::nullopt;
  for (auto [sum, other] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    std::optional<double> scale = scaleOf(sum, x);
    auto argument = dyn_cast<BlockArgument>(unconverted(other));
    if (scale && argument && argument != x)
      return Epilogue{*scale, argument.getArgNumber()};
  }
  return std::nullopt;
}

struct FuseEpiloguesPass : impl::NpuFuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    main = MainFunction::find(getOperation());
    if (!main)
      return;
    const SocTable &soc = main->soc;
    SmallVector<ir::MatMulOp> products(main->function.getOps<ir::MatMulOp>());
    for (ir::MatMulOp product : products)
      while (product)
        product = fuse(product, soc);
    for (auto conv : llvm::make_early_inc_range(main->function.getOps<ir::Conv2DOp>()))
      fuse(conv, soc);
  }

private:
  /// Returns the use of a contraction's result in a map that alone reads it, element by element;
  /// null where there is none.
  OpOperand *readingMap(Operation *op, Value output) {
    kernel::Storage result = storageOf(output);
    if (!result.base.getDefiningOp<om::AllocOp>() || !isWhole(result))
      return nullptr;
    SmallVector<OpOperand *> uses = usesOf(result.base);
    if (uses.size() != 2)
      return nullptr;
    OpOperand *use = uses[uses[0]->getOwner() == op ? 1 : 0];
    auto map = dyn_cast<kernel::MapOp>(use->getOwner());
    if (!map || map->getBlock() != op->getBlock() || !op->isBeforeInBlock(map) ||
        use->get() == map.getOutput() || main->hostNodes.contains(map))
      return nullptr;
    ArrayRef<int64_t> mapShape = cast<MemRefType>(map.getOutput().getType()).getShape();
    const bool readsAll = cast<MemRefType>(use->get().getType()).getShape() == mapShape &&
                          isWhole(storageOf(use->get()));
    return readsAll && !isWrittenBetween(op, map) ? use : nullptr;
  }

  /// Returns the product fused with the map behind it, or null.
  ir::MatMulOp fuse(ir::MatMulOp op, const SocTable &soc) {
    OpOperand *use = readingMap(op, op.getOutput());
    if (!use)
      return nullptr;
    auto map = cast<kernel::MapOp>(use->getOwner());
    std::optional<Epilogue> epilogue = epilogueOf(map, use->getOperandNumber());
    if (!epilogue || !fits(op, *epilogue))
      return nullptr;
    return replace(op, map, *epilogue, storageOf(op.getOutput()).shape, soc);
  }

  /// Lets a convolution compute the map behind it, of its result and of at most one other tensor,
  /// while results leave the cube.
  void fuse(ir::Conv2DOp op, const SocTable &soc) {
    const bool isRelu =
        op.getActivation() && op.getActivation()->getKind() == graph::ActivationKind::Relu;
    if (op.getScales() || !op.getBody().empty() || op.getResidual() ||
        (op.getActivation() && !isRelu))
      return;
    OpOperand *use = readingMap(op, op.getOutput());
    if (!use)
      return;
    auto map = cast<kernel::MapOp>(use->getOwner());
    const unsigned number = use->getOperandNumber(), inputs = unsigned(map.getInputs().size());
    if (inputs > 2 || map.getOutput().getType() != op.getOutput().getType() ||
        !llvm::all_of(map.getInputs(), [&](Value input) {
          return cast<MemRefType>(input.getType()).getShape() ==
                 cast<MemRefType>(map.getOutput().getType()).getShape();
        }))
      return;
    OpBuilder builder(map);
    auto fused = cast<ir::Conv2DOp>(builder.clone(*op));
    fused->setLoc(map.getLoc());
    fused.getOutputMutable().assign(map.getOutput());
    if (inputs == 2) {
      fused.getResidualMutable().assign(map.getInputs()[1 - number]);
      fused.setResidualLast(true);
    }
    takeBody(fused, map, number);
    if (std::string reason = whyUnsupportedConv2D(fused, soc); !reason.empty()) {
      remarkMissed(getArgument(), map.getLoc(), "NotFused")
          << remark::add("the map behind the convolution stays a kernel: {0}", reason);
      fused.erase();
      return;
    }
    remarkPassed(getArgument(), map.getLoc(), "Fused")
        << "the map becomes the epilogue of the convolution in front of it";
    kernel::copyTensorAttr(map, fused);
    op.erase();
    map.erase();
    ++numFused;
  }

  /// Copies the code of a map, of which input `number` is the result, to the convolution's body.
  static void takeBody(ir::Conv2DOp conv, kernel::MapOp map, unsigned number) {
    Block &code = map.getBody().front();
    OpBuilder builder(conv.getContext());
    Block *body = builder.createBlock(&conv.getBody());
    IRMapping mapping;
    auto take = [&](unsigned input) {
      BlockArgument from = code.getArgument(input);
      mapping.map(from, body->addArgument(from.getType(), from.getLoc()));
    };
    take(number);
    if (map.getInputs().size() == 2)
      take(1 - number);
    for (Operation &inner : code.without_terminator())
      builder.clone(inner, mapping);
    ir::YieldOp::create(builder, conv.getLoc(),
                        mapping.lookup(code.getTerminator()->getOperand(0)));
  }

  /// Returns whether the product can take the epilogue: scale, bias, residual and activation come
  /// in this order.
  static bool fits(ir::MatMulOp op, const Epilogue &epilogue) {
    bool last = op.getActivation() || op.getResidual();
    if (epilogue.scale != 1 && (op.getBias() || last))
      return false;
    return !epilogue.residual || !op.getResidual();
  }

  ir::MatMulOp replace(ir::MatMulOp op, kernel::MapOp map, const Epilogue &epilogue,
                       ArrayRef<int64_t> shape, const SocTable &soc) {
    auto asProducts = [&](Value buffer) -> std::optional<kernel::Storage> {
      ArrayRef<int64_t> mapShape = cast<MemRefType>(map.getOutput().getType()).getShape();
      auto view = broadcast(storageOf(buffer), mapShape).reshaped(shape);
      bool dense = view && (view->shape.back() == 1 || view->strides.back() == 1);
      return dense ? view : std::nullopt;
    };
    std::optional<kernel::Storage> output = asProducts(map.getOutput()), residual;
    if (epilogue.residual)
      residual = asProducts(map.getInputs()[*epilogue.residual]);
    if (!output || (epilogue.residual && !residual))
      return nullptr;
    OpBuilder builder(map);
    Value residualBuffer = residual ? bufferOf(builder, map.getLoc(), *residual) : op.getResidual();
    auto fused = ir::MatMulOp::create(
        builder, map.getLoc(), op.getLhs(), op.getRhs(), op.getBias(), residualBuffer,
        bufferOf(builder, map.getLoc(), *output), op.getPacked(), op.getTransposeRhs(),
        APFloat(op.getScale().convertToDouble() * epilogue.scale),
        op.getActivation().value_or(nullptr),
        op.getResidualLast() || (residual && op.getActivation()), ir::TileAttr());
    if (std::string reason = whyUnsupportedMatMul(fused, soc); !reason.empty()) {
      remarkMissed(getArgument(), map.getLoc(), "NotFused")
          << remark::add("the map behind the product stays a kernel: {0}", reason);
      fused.erase();
      return nullptr;
    }
    remarkPassed(getArgument(), map.getLoc(), "Fused")
        << "the map becomes the epilogue of the product in front of it";
    kernel::copyTensorAttr(map, fused);
    op.erase();
    map.erase();
    ++numFused;
    return fused;
  }

  std::optional<MainFunction> main;
};
} // namespace
} // namespace atc::npu
