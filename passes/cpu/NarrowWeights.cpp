//===-- NarrowWeights.cpp - packed weights in 16 bits ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/pack/NarrowWeights.h"
#include "dialects/om/Om.h"
#include "passes/cpu/WeightPasses.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUNARROWWEIGHTS
#include "passes/cpu/WeightPasses.h.inc"

namespace {

using kernel::WeightStorage;

/// Smaller weights stay as they are: reading them costs less than a launch.
constexpr int64_t kMinElements = 1 << 12;

/// Returns whether a kernel reads `use` as weights of 16 bits, too. Products gain where they wait
/// for memory; a convolution does not, but becomes smaller.
bool readsNarrow(OpOperand &use, const WeightStorage &storage) {
  if (auto product = dyn_cast<MatMulOp>(use.getOwner()))
    return product.getPacked() && &use == &product.getRhsMutable();
  auto conv = dyn_cast<Conv2DOp>(use.getOwner());
  return conv && storage.kind != WeightStorage::Exact && &use == &conv.getFilterMutable();
}

struct NarrowWeightsPass : impl::CpuNarrowWeightsBase<NarrowWeightsPass> {
  using CpuNarrowWeightsBase::CpuNarrowWeightsBase;

  void runOnOperation() override {
    const auto wanted = WeightStorage::parse(storage, convertsHalfs);
    if (!wanted) {
      getOperation().emitError("storage must be f32, exact, f16 or bf16, not ") << storage;
      return signalPassFailure();
    }
    func::FuncOp main = om::findMain(getOperation());
    if (!main || wanted->kind == WeightStorage::Float32)
      return;
    for (auto weight : llvm::make_early_inc_range(main.getOps<om::WeightOp>()))
      narrow(weight, *wanted);
  }

private:
  void narrow(om::WeightOp weight, const WeightStorage &wanted) {
    auto type = cast<MemRefType>(weight.getType());
    if (!type.getElementType().isF32() || type.getNumElements() < kMinElements ||
        weight.use_empty() ||
        !llvm::all_of(weight->getUses(), [&](OpOperand &use) { return readsNarrow(use, wanted); }))
      return;
    ElementsAttr narrowed = wanted.narrow(weight.getValue());
    if (!narrowed)
      return;
    OpBuilder builder(weight);
    auto narrowType = MemRefType::get(type.getShape(), narrowed.getElementType(), type.getLayout(),
                                      type.getMemorySpace());
    auto made = om::WeightOp::create(builder, weight.getLoc(), narrowType, narrowed);
    made->setDiscardableAttrs(weight->getDiscardableAttrDictionary());
    weight->replaceAllUsesWith(made);
    weight.erase();
    ++numNarrowed;
  }
};

} // namespace
} // namespace atc::cpu
