//===-- Partition.cpp - which kernels the NPU runs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/Partition.h"
#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/kernel/KernelMacs.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/vector/VectorSupport.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPARTITION
#define GEN_PASS_DEF_NPUSETSOC
#include "passes/npu/Passes.h.inc"

/// Returns why a tensor of a kernel cannot be in the memory of the device; empty where all can.
static std::string whyTooLarge(Operation *op, const SocTable &soc) {
  for (Type type : op->getOperandTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || !buffer.hasStaticShape() || !buffer.getElementType().isIntOrFloat())
      continue;
    double bytes = buffer.getElementTypeBitWidth() / 8.0;
    for (int64_t dim : buffer.getShape())
      bytes *= static_cast<double>(dim);
    if (bytes > static_cast<double>(soc.gmBytes))
      return llvm::formatv("a tensor of {0:f1} GB does not fit into the {1:f1} GB of memory of {2}",
                           bytes * 1e-9, static_cast<double>(soc.gmBytes) * 1e-9, soc.name);
  }
  return "";
}

std::string whyNotOnNpu(Operation *op, const SocTable &soc) {
  if (std::string reason = whyTooLarge(op, soc); !reason.empty())
    return reason;
  if (auto conv = dyn_cast<ir::Conv2DOp>(op))
    return whyUnsupportedConv2D(conv, soc);
  if (auto product = dyn_cast<ir::MatMulOp>(op))
    return whyUnsupportedMatMul(product, soc);
  if (op->getName().getDialectNamespace() == "cpu")
    return op->getName().stripDialect().starts_with("integer")
               ? "the cube computes int8 contractions only where it can compute all of a network"
               : "it computes on f32 weights";
  return whyUnsupportedVectorKernel(op, soc);
}

std::optional<MainFunction> MainFunction::find(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return std::nullopt;
  return MainFunction{main, socOf(main), graph::HostNodes(main)};
}

/// Returns whether only programs of the NPU compute what a kernel op does.
static bool isOnlyForNpu(Operation *op) { return isa<ir::NpuDialect>(op->getDialect()); }

namespace {

struct SetSocPass : impl::NpuSetSocBase<SetSocPass> {
  using NpuSetSocBase::NpuSetSocBase;

  void runOnOperation() override {
    // A module that already names its SoC may have a table of its own.
    if (getOperation()->hasAttr(om::kNpuSocAttr))
      return;
    if (!findSoc(soc)) {
      getOperation().emitError() << "E10001: there is no SoC named '" << soc << "'";
      return signalPassFailure();
    }
    getOperation()->setAttr(om::kNpuSocAttr, StringAttr::get(&getContext(), soc));
  }
};

struct PartitionPass : impl::NpuPartitionBase<PartitionPass> {
  using NpuPartitionBase::NpuPartitionBase;

  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    Builder builder(&getContext());
    int64_t macs = 0, deviceMacs = 0, deviceKernels = 0, hostKernels = 0;
    main->function.walk([&](kernel::KernelOpInterface op) {
      macs += kernel::macsOf(op);
      std::string reason = whyNotOnNpu(op, main->soc);
      if (reason.empty() && main->hostNodes.contains(op) && !isOnlyForNpu(op))
        reason = kPlacedOnHost.str();
      if (reason.empty()) {
        op->setAttr(om::kNpuDeviceAttr, builder.getUnitAttr());
        deviceMacs += kernel::macsOf(op);
        ++deviceKernels;
        return;
      }
      // Nothing else than the cube computes it, and without it nothing behind it.
      if (isOnlyForNpu(op)) {
        auto name = op.getLoc()->findInstanceOf<NameLoc>();
        op.emitError() << "E10055: the NPU cannot compute "
                       << (name ? "node '" + name.getName().str() + "' (" + op.kernelName() + ")"
                                : op.kernelName())
                       << ": " << reason
                       << "; make its dims smaller, or place the node on the CPU with "
                          "--op_placement";
        return signalPassFailure();
      }
      ++hostKernels;
      remarkMissed(getArgument(), op.getLoc(), "OnCpu")
          << remark::add("{0} stays on the CPU: {1}", op.kernelName(), reason);
      if (report)
        op->emitRemark() << op.kernelName() << " stays on the CPU: " << reason;
    });
    numDevice += deviceKernels;
    numHost += hostKernels;
    macsShare = macs ? deviceMacs * 1000 / macs : 1000;
    remarkAnalysis(getArgument(), main->function.getLoc(), "Partition")
        << remark::add("{0} kernels run on the NPU, {1} on the CPU", deviceKernels, hostKernels)
        << remark::metric("macs", macs) << remark::metric("macs on the NPU", deviceMacs);
  }
};
} // namespace
} // namespace atc::npu
