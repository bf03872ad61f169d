//===-- ChoosePlan.cpp - --parallel=auto ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner orders the divisions of the devices by its estimate; the first one that the passes
// can make of the model is taken.

#include "driver/ContextMessages.h"
#include "driver/shard/ModelChain.h"
#include "driver/shard/ShardCompiler.h"
#include "npu/soc/Soc.h"
#include "passes/om/Schedule.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::driver {

/// A model is tried to be split this often.
static constexpr size_t maxTrials = 24;

static std::string divisionOf(const cluster::Plan &plan) {
  return llvm::formatv("tp:{0},pp:{1},dp:{2}", plan.tensor, plan.pipeline, plan.data);
}

/// Returns why the model cannot be split as the request says; empty: it can.
std::string ShardCompiler::trySplit(ModuleOp whole) {
  if (request.ranks() == 1)
    return "";
  Diagnostics own;
  for (int64_t rank : {int64_t(0), request.ranks() - 1}) {
    auto context = makeCompilerContext();
    OwningOpRef<ModuleOp> module = copyModule(whole, *context);
    ContextMessages messages(*context, own);
    ShardCompiler trial(options, request, own);
    if (module && trial.split(*module, rank) && !own.hasErrors())
      continue;
    for (const CodedMessage &message : own.all())
      if (message.isError)
        return message.text;
    return "the passes fail";
  }
  return "";
}

bool ShardCompiler::choose(ModuleOp module) {
  const cluster::Cluster &cluster = *request.automatic;
  const npu::SocTable *soc = npu::findSoc(cluster.soc);
  if (!soc) {
    diagnostics.error("E13018", "the soc '" + cluster.soc + "' of --cluster is not known");
    return false;
  }
  const double hertz = static_cast<double>(soc->mhz) * 1e6;
  const auto cores = static_cast<double>(soc->cubeCores);
  cluster::Device device;
  device.macsPerSecond = cores * soc->macsPerCycle(npu::DataType::F16) * hertz;
  device.bytesPerSecond = cores * soc->ddrRate() * hertz;
  device.memoryBytes =
      static_cast<double>(cluster.memoryBytes ? cluster.memoryBytes : soc->gmBytes);
  const cluster::Chain chain = chainOf(om::findMain(module));
  double min = 0;
  // Fewer devices where no division over all of them is possible.
  for (uint32_t devices = cluster.devices(); devices >= 1; --devices) {
    if (cluster.devices() % devices)
      continue;
    const cluster::PlanSearch search = cluster::searchPlans(
        cluster, device, chain, cluster::Purpose::Inference, devices, maxTrials);
    min = search.minBytes;
    bool isChosen = false;
    for (const cluster::Plan &plan : search.best) {
      Candidate candidate = {divisionOf(plan), plan.time.total() * 1e3, plan.memory.total(), ""};
      if (isChosen) {
        candidate.outcome = "next best";
        candidates.push_back(candidate);
        return true;
      }
      request.tensor = plan.tensor, request.pipeline = plan.pipeline, request.data = plan.data;
      candidate.outcome = trySplit(module);
      isChosen = candidate.outcome.empty();
      if (isChosen)
        candidate.outcome = "chosen";
      candidates.push_back(candidate);
    }
    if (isChosen)
      return true;
  }
  if (candidates.empty())
    diagnostics.error("E10061", llvm::formatv("the model does not fit onto the cluster of "
                                              "--cluster: a device has {0:f2} GB, but a part of "
                                              "the model needs at least {1:f2} GB",
                                              device.memoryBytes * 1e-9, min * 1e-9));
  else
    diagnostics.error("E10061", "no division over the devices of --cluster is possible; " +
                                    candidates.front().parallel + ": " +
                                    candidates.front().outcome);
  return false;
}

} // namespace atc::driver
