//===-- ComposeLayerNorm.cpp - means and maps become layer norms ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Transformer.h"
#include "passes/Remarks.h"
#include "passes/cpu/Passes.h"
#include "passes/kernel/BufferViews.h"
#include "passes/kernel/LayerNormFormula.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUCOMPOSELAYERNORM
#include "passes/cpu/Passes.h.inc"

namespace {

struct ComposeLayerNormPass : impl::CpuComposeLayerNormBase<ComposeLayerNormPass> {
  void runOnOperation() override {
    func::FuncOp main = om::findMain(getOperation());
    if (!main)
      return;
    bool any = false;
    for (MapOp map : llvm::to_vector(main.getOps<MapOp>()))
      any |= compose(map);
    if (any)
      kernel::eraseUnread(main);
  }

private:
  bool compose(MapOp map) {
    auto type = cast<MemRefType>(map.getOutput().getType());
    std::optional<kernel::LayerNorm> norm;
    if (!type.getElementType().isF32() || !(norm = kernel::matchLayerNorm(map)) ||
        !norm->isCentered)
      return false;
    const int64_t columns = type.getShape().back();
    const SmallVector<int64_t> shape{type.getNumElements() / columns, columns};
    std::optional<kernel::Storage> input = kernel::storageOf(norm->input).reshaped(shape),
                                   output = kernel::storageOf(map.getOutput()).reshaped(shape);
    auto areDense = [&](const std::optional<kernel::Storage> &rows) {
      return rows && rows->element.isF32() && (columns == 1 || rows->strides.back() == 1);
    };
    if (!areDense(input) || !areDense(output)) {
      remarkMissed(getArgument(), map.getLoc(), "NotComposed")
          << "the layer norm stays several kernels: its rows are not dense";
      return false;
    }
    OpBuilder builder(map);
    Location location = map.getLoc();
    auto parameter = [&](Value weight) -> Value {
      if (!weight)
        return {};
      kernel::Storage vector = *kernel::storageOf(weight).reshaped(columns);
      return kernel::bufferOf(builder, location, vector);
    };
    auto op =
        LayerNormOp::create(builder, location, kernel::bufferOf(builder, location, *input),
                            parameter(norm->gamma), parameter(norm->beta),
                            kernel::bufferOf(builder, location, *output), APFloat(norm->epsilon));
    kernel::copyTensorAttr(map, op);
    map.erase();
    remarkPassed(getArgument(), location, "Composed") << "means and maps become one layer norm";
    ++numComposed;
    return true;
  }
};

} // namespace
} // namespace atc::cpu
