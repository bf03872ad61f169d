//===-- FuseResiduals.cpp - additions behind matrix products --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/om/Om.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Remarks.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/kernel/BufferViews.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUFUSERESIDUALS
#include "passes/cpu/Passes.h.inc"

namespace {

/// Returns whether `map` only adds two tensors of the result's shape.
bool isAddition(MapOp map) {
  Block &body = map.getBody().front();
  auto yield = cast<kernel::YieldOp>(body.getTerminator());
  auto add = yield.getValue() ? yield.getValue().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  auto isElement = [&](Value value, unsigned input) {
    return value == body.getArgument(input) &&
           shapeOf(map.getInputs()[input]) == shapeOf(map.getOutput());
  };
  if (!add || map.getInputs().size() != 2 || body.getOperations().size() != 2)
    return false;
  return (isElement(add.getLhs(), 0) && isElement(add.getRhs(), 1)) ||
         (isElement(add.getLhs(), 1) && isElement(add.getRhs(), 0));
}

struct FuseResidualsPass : impl::CpuFuseResidualsBase<FuseResidualsPass> {
  void runOnOperation() override {
    func::FuncOp main = om::findMain(getOperation());
    if (!main)
      return;
    bool any = false;
    for (MapOp map : llvm::to_vector(main.getOps<MapOp>()))
      any |= isAddition(map) && (fuse(map, 0) || fuse(map, 1));
    if (any)
      kernel::eraseUnread(main);
  }

private:
  /// Fuses `map` into the product that writes its input `index`.
  bool fuse(MapOp map, unsigned index) {
    Value sum = map.getInputs()[index];
    auto product = dyn_cast_or_null<MatMulOp>(kernel::writerOf(sum));
    if (!product || product->getBlock() != map->getBlock() || !product.getPacked() ||
        product.getActivation() || product.getResidual())
      return false;
    Value root = om::resolveViews(sum).root;
    auto skip = [&](StringRef reason) {
      remarkMissed(getArgument(), map.getLoc(), "NotFused")
          << remark::add("the addition stays a kernel: {0}", reason);
      return false;
    };
    if (!root.getDefiningOp<om::AllocOp>() || kernel::usesOf(root).size() != 2)
      return skip("something else reads the product");
    if (kernel::isWrittenBetween(product, map))
      return skip("an operand of the product is overwritten before the addition");
    ArrayRef<int64_t> shape = cast<MemRefType>(product.getOutput().getType()).getShape();
    std::optional<kernel::Storage> written = kernel::storageOf(product.getOutput()),
                                   read = kernel::storageOf(sum).reshaped(shape);
    std::optional<kernel::Storage> output = kernel::storageOf(map.getOutput()).reshaped(shape),
                                   residual = kernel::storageOf(map.getInputs()[1 - index])
                                                  .reshaped(shape);
    auto areRows = [](const std::optional<kernel::Storage> &storage) {
      return storage && storage->element.isF32() && storage->strides.back() == 1;
    };
    if (!read || !(*read == *written) || !areRows(output) || !areRows(residual))
      return skip("it has other rows than the product");
    OpBuilder builder(map);
    Location location = map.getLoc();
    auto fused = MatMulOp::create(builder, location, product.getLhs(), product.getRhs(),
                                  product.getBias(), kernel::bufferOf(builder, location, *residual),
                                  kernel::bufferOf(builder, location, *output), /*packed=*/true,
                                  graph::ActivationAttr(), product.getTileAttr());
    kernel::copyTensorAttr(map, fused);
    map.erase();
    product.erase();
    remarkPassed(getArgument(), location, "Fused") << "the addition becomes the residual";
    ++numFused;
    return true;
  }
};

} // namespace
} // namespace atc::cpu
