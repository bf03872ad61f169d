//===-- Planner.h - how a network is divided among devices ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network is a chain of layers. A plan divides it along three axes: every layer among tp devices,
// the chain into pp stages, the batch among dp replicas. Rank = (dp * PP + pp) * TP + tp.

#ifndef OPENATC_CLUSTER_PLANNER_H
#define OPENATC_CLUSTER_PLANNER_H

#include "cluster/Cluster.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace atc::cluster {

/// A layer of a chain. What is "per sample" grows with the batch: a sample is a sequence or an
/// image.
struct ChainLayer {
  std::string name;
  double macs = 0;       ///< of a forward pass, per sample
  double parameters = 0; ///< elements
  double keptBytes = 0;  ///< activations that the backward pass reads, per sample, divided by tp
  double keptWholeBytes = 0;  ///< those that every device of a tp group keeps as a whole
  double recomputedBytes = 0; ///< the part of keptBytes that selective recomputation makes again
  double recomputedMacs = 0;  ///< what that costs
  double outputBytes = 0;     ///< what the next layer reads, per sample
  double reducedBytes = 0;    ///< sum over the tensors that a tp group all-reduces, per sample
  double reductions = 0;      ///< their number in a forward pass
  double stateBytes = 0;      ///< cache of keys and values, per sample, divided by tp
  double tokenMacs = 0;       ///< of one further token of a sample
  uint32_t divisibleBy = 0;   ///< tp divides this number, for example the heads; 0: any tp
};

/// A network for the planner.
struct Chain {
  std::string name;
  std::vector<ChainLayer> layers;
  double batch = 1;           ///< samples per step, over all devices
  double tokens = 1;          ///< positions of a sample
  double weightBytes = 2;     ///< per parameter
  double gradientBytes = 2;   ///< per parameter
  double optimizerBytes = 12; ///< per parameter: f32 copy and two moments of Adam
};

/// Returns the chain that the JSON `text` describes (docs/sharding.md): a "transformer" or a list
/// of "layers"; nothing, and a sentence in `error`, where it describes none.
std::optional<Chain> parseChain(const std::string &text, std::string &error);

/// The rates and the memory of one device.
struct Device {
  double macsPerSecond = 0;  ///< the peak
  double bytesPerSecond = 0; ///< of its memory
  double memoryBytes = 0;    ///< that a plan may use
  double utilization = 0.7;  ///< the share of the peak that large products reach
};

/// The purpose of a plan.
enum class Purpose { Training, Inference };

/// The values that the backward pass computes again instead of keeping them, or reads from the
/// server's memory, to which the forward pass has copied them.
enum class Recompute { None, Selective, Full, Offload };
const char *nameOf(Recompute recompute);

/// The ZeRO stages that divide what the replicas would hold equally.
enum class Zero { None, Optimizer, Gradients };
const char *nameOf(Zero zero);

/// Bytes on the device that needs the most.
struct PlanMemory {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, states = 0;
  double host = 0; ///< in the memory of the server, per device; no part of the total
  double total() const { return weights + gradients + optimizer + activations + states; }
};

/// Seconds of a step on the critical path: a training step, or the forward pass of one token
/// (inference of a chain with token costs) or of one sample.
struct PlanTime {
  double compute = 0;  ///< of the slowest stage, all micro-batches
  double tensor = 0;   ///< all_reduces of its tp group
  double bubble = 0;   ///< waiting of a stage for the first and last micro-batches
  double pipeline = 0; ///< messages between stages
  double data = 0; ///< reductions of gradients that the backward pass does not hide, and the update
  double host = 0; ///< copies from and to the server's memory that the passes do not hide
  double total() const { return compute + tensor + bubble + pipeline + data + host; }
};

struct Plan {
  uint32_t tensor = 1, pipeline = 1, data = 1;
  double microBatch = 1;     ///< samples that pass a stage together
  uint32_t microBatches = 1; ///< per replica and step
  Recompute recompute = Recompute::None;
  Zero zero = Zero::None;
  bool offloadOptimizer = false; ///< whether the server's processor keeps the state and updates
  std::vector<Recompute> modes;  ///< of each layer; empty: all are as `recompute` says
  std::vector<uint32_t> stages;  ///< the first layer of each stage
  PlanMemory memory;
  PlanTime time;
  double alikeSeconds = 0; ///< with `modes`: the step of the best plan whose layers are alike
  uint32_t variables = 0;  ///< with `modes`: of the integer program that found them
  uint32_t devices() const { return tensor * pipeline * data; }
};

/// The result of a search.
struct PlanSearch {
  std::vector<Plan> best;  ///< the fastest plan, then the best of other divisions
  uint64_t considered = 0; ///< plans whose time was computed
  uint64_t overMemory = 0; ///< plans that need more memory than a device has
  double minBytes = 0;     ///< the least that a device would need in any plan
};

/// Searches the division of `chain` over exactly `devices` devices with the shortest step; stages
/// are found by dynamic programming over the chain. Returns up to `count` plans of different tp, pp
/// and dp. `best` is empty where no plan fits into the memory.
PlanSearch searchPlans(const Cluster &cluster, const Device &device, const Chain &chain,
                       Purpose purpose, uint32_t devices, uint32_t count);

/// Calls `each` with every micro-batch, ZeRO stage and place of the optimizer that a training of
/// the plan's tp, pp and dp can have.
void forEachSetting(const Cluster &cluster, const Chain &chain, Plan plan,
                    const std::function<void(const Plan &)> &each);

/// Returns the layer behind the last one of a stage; `stages` has the first layer of each.
inline uint32_t endOfStage(const std::vector<uint32_t> &stages, size_t stage, uint32_t layers) {
  return stage + 1 < stages.size() ? stages[stage + 1] : layers;
}

/// Sorts plans by the time of a step; of equally fast ones the one that divides layers less is
/// first.
void sortPlans(std::vector<Plan> &plans);

/// A part of another plan's weights: layers [firstLayer, endLayer), rows [from, to) of their
/// divided dims as shares of 1, on `rank` of that plan.
struct WeightSource {
  uint32_t rank, firstLayer, endLayer;
  double from, to;
};

/// Returns what rank `rank` of plan `to` reads from the ranks of plan `from`, each layer and share
/// once, from the first replica. Both plans are about the chain's layers.
std::vector<WeightSource> convertWeights(const Plan &from, const Plan &to, uint32_t rank,
                                         uint32_t layers);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_PLANNER_H
