//===-- Cluster.h - devices and the network between them --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CLUSTER_CLUSTER_H
#define OPENATC_CLUSTER_CLUSTER_H

#include <cstdint>
#include <optional>
#include <string>

namespace atc::cluster {

/// A connection of one device, or of one server.
struct Link {
  std::string kind;          ///< what it is called: HCCS, PCIe, RoCE
  double bytesPerSecond = 0; ///< in each direction
  double latencySeconds = 0; ///< from the begin of a message to its first byte at the other end
};

/// Servers of equal devices. Devices are numbered server by server.
struct Cluster {
  uint32_t servers = 1, devicesPerServer = 8;
  std::string soc = "Ascend910A"; ///< a name of npu/soc
  uint64_t memoryBytes = 0;       ///< per device; 0: that of the SoC's table, or no limit
  Link local;                     ///< of a device to the others of its server
  Link network;                   ///< of a device to those of other servers
  /// The bandwidth of all network links together, divided by that of the network core. 1: full
  /// bisection.
  double oversubscription = 1;
  Link host;                     ///< of a device to its server's memory; 0 bytes/s: it is not used
  double hostBytesPerSecond = 0; ///< a device's share of what the server's processor reads there
  double hostBytes = 0;          ///< a device's share of that memory; 0: no limit

  /// Returns the devices of all servers.
  uint32_t devices() const { return servers * devicesPerServer; }
};

/// Returns the cluster that the JSON `text` describes (docs/sharding.md); nothing, and a sentence
/// in `error`, where it describes none.
std::optional<Cluster> parseCluster(const std::string &text, std::string &error);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_CLUSTER_H
