//===-- PruneConfig.h - the settings of pruning ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_PRUNECONFIG_H
#define OPENATC_QUANTIZE_PRUNECONFIG_H

#include "frontends/ModelNodes.h"
#include "support/Diagnostics.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace atc::quantize {

/// Nothing, whole channels (filter_pruner), or two of four weights (n_out_of_m_pruner).
enum class PruneKind { Nothing, Channels, TwoOfFour };

/// The settings of a layer.
struct LayerPruning {
  PruneKind kind = PruneKind::Nothing;
  double ratio = 0;            ///< of the channels to remove
  bool ascendOptimized = true; ///< the channels that stay are a multiple of 16
};

/// The settings of a model, by the names of `prune_config`.
struct PruneConfig {
  LayerPruning common;
  /// The settings by operator type and by node name.
  std::map<std::string, LayerPruning> types, layers;
  std::set<std::string> skipLayers, skipTypes;
  /// The factor by which the multiply-accumulates are to be reduced. If it is set, the ratios of
  /// layers without settings of their own are searched.
  std::optional<double> compressRatio;
  double maxRatio = 1;    ///< of a layer, in the search (max_prune_ratio)
  int64_t numSamples = 0; ///< for the search (test_iteration); 0: all

  /// Returns the settings of a node: its own, else those of its type, else the common ones.
  LayerPruning of(const std::string &node, const std::string &type) const;
  /// Replaces other names of nodes by those that the compiler calls them by.
  void resolve(const NodeAliases &aliases);
  /// Returns whether any layer is pruned in this way.
  bool has(PruneKind kind) const;
};

/// Reads a configuration: the vendor's text form (`prune_config { filter_pruner { ... } }`, or
/// `compress_ratio: 1.5` for the search) or JSON with the same keys. Reports all errors and returns
/// false where there are some.
bool readPruneConfig(const std::string &path, PruneConfig &config, Diagnostics &diagnostics);
bool parsePruneConfig(const std::string &text, const std::string &name, PruneConfig &config,
                      Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_PRUNECONFIG_H
