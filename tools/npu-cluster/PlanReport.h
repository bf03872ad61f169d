//===-- PlanReport.h - plans for a network on a cluster ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_NPU_CLUSTER_PLANREPORT_H
#define OPENATC_TOOLS_NPU_CLUSTER_PLANREPORT_H

#include "cluster/Cluster.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace atc::tools {

struct PlanOptions {
  bool isTraining = false, json = false;
  uint32_t devices = 0; ///< 0: all of the cluster
  uint32_t batch = 0;   ///< samples over all devices; 0: that of the network's file
  uint32_t count = 5;   ///< plans that are shown
  std::string convert;  ///< the file of a plan whose weights the chosen plan reads, or empty
};

/// Adds --plan, which sets `purpose`, and the options that belong to it.
void addPlanOptions(CLI::App &app, std::string &purpose, PlanOptions &options);

/// Prints the best plans for the network that the JSON `text` of the file `path` describes, and why
/// the first one is best. Returns the exit status.
int reportPlans(const cluster::Cluster &cluster, const std::string &text, const std::string &path,
                const PlanOptions &options);

/// Prints an error line; returns the exit status 1.
int fail(const std::string &line);

} // namespace atc::tools

#endif // OPENATC_TOOLS_NPU_CLUSTER_PLANREPORT_H
