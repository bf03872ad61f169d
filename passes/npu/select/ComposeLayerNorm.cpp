//===-- ComposeLayerNorm.cpp - recognizes decomposed layer norms -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/kernel/LayerNormFormula.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUCOMPOSELAYERNORM
#include "passes/npu/Passes.h.inc"

namespace {

struct ComposeLayerNormPass : impl::NpuComposeLayerNormBase<ComposeLayerNormPass> {
  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    SmallVector<kernel::MapOp> maps(main->function.getOps<kernel::MapOp>());
    bool any = false;
    for (kernel::MapOp map : maps)
      any |= !main->hostNodes.contains(map) && compose(map, main->soc);
    if (any)
      kernel::eraseUnread(main->function);
  }

private:
  bool compose(kernel::MapOp map, const SocTable &soc) {
    std::optional<kernel::LayerNorm> formula = kernel::matchLayerNorm(map);
    if (!formula)
      return false;
    MemRefType type = bufferTypeOf(map.getOutput());
    SmallVector<int64_t> shape{type.getNumElements() / type.getShape().back(),
                               type.getShape().back()};
    std::optional<kernel::Storage> input = storageOf(formula->input).reshaped(shape),
                                   output = storageOf(map.getOutput()).reshaped(shape);
    if (!input || !output)
      return false;
    OpBuilder builder(map);
    Location location = map.getLoc();
    auto parameter = [&](Value weight) -> FailureOr<Value> {
      if (!weight)
        return Value();
      FailureOr<ElementsAttr> wide = padChannels(weight.getDefiningOp<om::WeightOp>().getValue(),
                                                 shape[1], builder.getF32Type());
      if (failed(wide))
        return failure();
      auto buffer = MemRefType::get(shape[1], builder.getF32Type());
      return om::WeightOp::create(builder, location, buffer, *wide).getResult();
    };
    FailureOr<Value> gamma = parameter(formula->gamma), beta = parameter(formula->beta);
    if (failed(gamma) || failed(beta))
      return false;
    auto norm = ir::LayerNormOp::create(builder, location, bufferOf(builder, location, *input),
                                        *gamma, *beta, bufferOf(builder, location, *output),
                                        APFloat(formula->epsilon), !formula->isCentered);
    if (std::string reason = whyNotOnNpu(norm, soc); !reason.empty()) {
      remarkMissed(getArgument(), location, "NotComposed")
          << remark::add("the norm stays several kernels: {0}", reason);
      norm.erase();
      return false;
    }
    kernel::copyTensorAttr(map, norm);
    map.erase();
    remarkPassed(getArgument(), location, "Composed")
        << remark::add("means and maps become one {0} norm", formula->isCentered ? "layer" : "RMS");
    ++numComposed;
    return true;
  }
};
} // namespace
} // namespace atc::npu
