//===-- AddOnCube.cpp - the cube of split cores adds residuals --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/kernel/FiniteElements.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/contraction/PackNpuWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUADDONCUBE
#include "passes/npu/Passes.h.inc"

namespace {

Value createIdentity(func::FuncOp main) {
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  Type f16 = builder.getF16Type();
  auto type = RankedTensorType::get({kFractal, kFractal}, f16);
  std::vector<uint16_t> halves(kFractal * kFractal, 0);
  for (int64_t i = 0; i < kFractal; ++i)
    halves[i * kFractal + i] = halfOf(1.0f);
  return om::WeightOp::create(builder, main.getLoc(), MemRefType::get({kFractal, kFractal}, f16),
                              graph::makeConstant(type, ArrayRef<uint16_t>(halves), "identity"));
}

/// Finds buffers of @main that are finite unless a contraction leaves the range of f16. The product
/// of an infinite element with a zero of the identity would be NaN in 15 other channels.
class FiniteBuffers {
public:
  explicit FiniteBuffers(func::FuncOp main) {
    for (auto op : main.getOps<kernel::KernelOpInterface>()) {
      Value root = om::resolveViews(op.output()).root;
      const Maybe written = resultOf(op);
      auto [entry, isFirst] = known.try_emplace(root, written);
      // Parts of a tensor may be written one by one.
      if (!isFirst)
        entry->second = entry->second && written ? Maybe(kernel::Growth()) : std::nullopt;
    }
  }

  /// Returns whether all elements of the blocks of a residual are finite. Parts of a tensor end
  /// with lanes of other channels.
  bool isFinite(Value residual) const {
    const Value root = om::resolveViews(residual).root;
    return known.lookup(root) &&
           bufferTypeOf(root).getNumElements() == bufferTypeOf(residual).getNumElements();
  }

private:
  using Maybe = std::optional<kernel::Growth>;

  Maybe of(Value buffer) const {
    if (auto weight = buffer.getDefiningOp<om::WeightOp>())
      return kernel::growthOf(weight.getValue());
    const Value root = om::resolveViews(buffer).root;
    if (auto weight = root.getDefiningOp<om::WeightOp>())
      return kernel::growthOf(weight.getValue());
    return known.lookup(root);
  }

  /// Sums of the cube; an infinite residual stays one.
  Maybe ofContraction(Value residual, graph::ActivationAttr activation) const {
    if (residual && !of(residual))
      return std::nullopt;
    const bool isSigmoid =
        activation && (activation.getKind() == graph::ActivationKind::Sigmoid ||
                       activation.getKind() == graph::ActivationKind::HardSigmoid ||
                       activation.getKind() == graph::ActivationKind::Tanh);
    return isSigmoid ? kernel::Growth::between(-1, 1) : kernel::Growth();
  }

  Maybe resultOf(kernel::KernelOpInterface op) const {
    return llvm::TypeSwitch<Operation *, Maybe>(op)
        .Case([&](ir::Conv2DOp conv) {
          return ofContraction(conv.getResidual(), conv.getActivationAttr());
        })
        .Case([&](ir::MatMulOp product) {
          return ofContraction(product.getResidual(), product.getActivationAttr());
        })
        .Case([&](kernel::MapOp map) {
          SmallVector<Maybe> arguments;
          for (Value input : map.getInputs())
            arguments.push_back(isa<IntegerType>(bufferTypeOf(input).getElementType())
                                    ? Maybe(kernel::Growth())
                                    : of(input));
          return kernel::growthOf(map.getBody().front(), arguments);
        })
        .Case<kernel::PoolOp, kernel::CopyOp, kernel::PackOp, kernel::UnpackOp, kernel::ResizeOp>(
            [&](auto moved) { return of(moved->getOperand(0)); })
        .Default([](Operation *) { return std::nullopt; });
  }

  DenseMap<Value, Maybe> known; ///< by the memory that is written
};

/// Returns why the vector cores add the residual of `op`, apart from what the cube supports.
StringRef whyNotOnCube(ir::Conv2DOp op, const FiniteBuffers &buffers) {
  if (op.getScales() || !op.getBody().empty())
    return "the sum is one of integers";
  if (op.getSlope())
    return "results leave the cube of a split core without slopes per channel";
  if (op.getResidualLast() && op.getActivation())
    return "the activation is in front of the sum";
  if (!buffers.isFinite(op.getResidual()))
    return "the residual may be infinite, and is NaN in other channels then";
  return "";
}

struct AddOnCubePass : impl::NpuAddOnCubeBase<AddOnCubePass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    const SocTable soc = socOf(main);
    if (!soc.split)
      return;
    const FiniteBuffers buffers(main);
    Value identity;
    for (auto op : main.getOps<ir::Conv2DOp>()) {
      if (!op.getResidual())
        continue;
      std::string reason(whyNotOnCube(op, buffers));
      if (reason.empty()) {
        if (!identity)
          identity = createIdentity(main);
        op.getIdentityMutable().assign(identity);
        reason = whyUnsupportedConv2D(op, soc);
      }
      if (!reason.empty()) {
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
