//===-- FuseInputQuantization.cpp - images quantized while they are loaded -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/vector/StoredNumber.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUFUSEINPUTQUANTIZATION
#include "passes/npu/Passes.h.inc"

namespace {

/// Returns the scale of a map that only quantizes f32, and the stored value.
std::optional<std::pair<double, StoredNumber>> quantizationOf(kernel::MapOp map) {
  Block &body = map.getBody().front();
  std::optional<StoredNumber> stored =
      storedNumberOf(body.getTerminator()->getOperand(0).getDefiningOp());
  if (!stored || body.getNumArguments() != 1 || !body.getArgument(0).getType().isF32())
    return std::nullopt;
  Value value = stored->real;
  std::optional<double> scale = peelConstant<arith::DivFOp>(value);
  if (!scale || *scale <= 0 || value != body.getArgument(0))
    return std::nullopt;
  return std::pair(*scale, *stored);
}

struct FuseInputQuantizationPass : impl::NpuFuseInputQuantizationBase<FuseInputQuantizationPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SocTable soc = socOf(main);
    for (ir::Conv2DOp conv : llvm::make_early_inc_range(main.getOps<ir::Conv2DOp>()))
      if (conv.getImage() && conv.getScales() && !conv.getImageScale())
        fuse(conv, soc);
  }

private:
  void fuse(ir::Conv2DOp conv, const SocTable &soc) {
    kernel::Storage bytes = storageOf(conv.getInput());
    SmallVector<OpOperand *> uses = usesOf(bytes.base);
    if (!bytes.base.getDefiningOp<om::AllocOp>() || !isWhole(bytes) || uses.size() != 2)
      return;
    auto map = dyn_cast<kernel::MapOp>(uses[uses[0]->getOwner() == conv ? 1 : 0]->getOwner());
    if (!map || map->getBlock() != conv->getBlock() || !map->isBeforeInBlock(conv) ||
        map.getInputs().size() != 1 || isWrittenBetween(map, conv))
      return;
    auto shapeOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getShape(); };
    Value image = map.getInputs()[0];
    auto quantization = quantizationOf(map);
    if (!quantization || shapeOf(image) != shapeOf(conv.getInput()) ||
        shapeOf(map.getOutput()) != shapeOf(conv.getInput()) ||
        !isWhole(storageOf(map.getOutput())))
      return;
    // The padding around the image is zero before it is quantized.
    auto [scale, stored] = *quantization;
    if (stored.offset != double(conv.getPadValue()) ||
        stored.type.isUnsignedInteger() != conv.getUnsignedInput())
      return;
    Value before = conv.getInput();
    conv.getInputMutable().assign(image);
    conv.setImageScale(APFloat(scale));
    if (std::string reason = whyUnsupportedConv2D(conv, soc); !reason.empty()) {
      remarkMissed(getArgument(), map.getLoc(), "NotFused")
          << remark::add("the input is quantized by a kernel of its own: {0}", reason);
      conv.getInputMutable().assign(before);
      conv.removeImageScaleAttr();
      return;
    }
    remarkPassed(getArgument(), map.getLoc(), "Fused")
        << "the input is quantized while the convolution loads it";
    map.erase();
    ++numFused;
  }
};

} // namespace
} // namespace atc::npu
