//===-- AddOnCube.cpp - the cube of split cores adds residuals --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/contraction/PackNpuWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUADDONCUBE
#include "passes/npu/Passes.h.inc"

namespace {

ElementsAttr identityMatrix(MLIRContext *context) {
  auto type = RankedTensorType::get({kFractal, kFractal}, Float16Type::get(context));
  std::vector<uint16_t> halves(kFractal * kFractal, 0);
  for (int64_t i = 0; i < kFractal; ++i)
    halves[i * kFractal + i] = halfOf(1.0f);
  return graph::makeConstant(type, ArrayRef<uint16_t>(halves), "identity");
}

struct AddOnCubePass : impl::NpuAddOnCubeBase<AddOnCubePass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    const SocTable soc = socOf(main);
    if (!soc.split)
      return;
    Value identity;
    for (auto op : main.getOps<ir::Conv2DOp>()) {
      if (!op.getResidual() || op.getScales() || !op.getBody().empty() || op.getSlope() ||
          (op.getResidualLast() && op.getActivation()))
        continue;
      if (!identity) {
        OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
        ElementsAttr value = identityMatrix(&getContext());
        identity = om::WeightOp::create(builder, main.getLoc(),
                                        MemRefType::get({kFractal, kFractal}, builder.getF16Type()),
                                        value);
      }
      op.getIdentityMutable().assign(identity);
      if (std::string reason = whyUnsupportedConv2D(op, soc); !reason.empty()) {
        op.getIdentityMutable().clear();
        remarkMissed(getArgument(), op.getLoc(), "NotAdded")
            << remark::add("the cube does not add the residual: {0}", reason);
        continue;
      }
      remarkPassed(getArgument(), op.getLoc(), "Added")
          << "the cube adds the residual, as its product with the identity";
      ++numAdded;
    }
    if (identity && identity.use_empty())
      identity.getDefiningOp()->erase();
  }
};
} // namespace
} // namespace atc::npu
