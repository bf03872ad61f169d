//===-- Cluster.cpp - reads the description of a cluster ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/Cluster.h"

#include "support/InputJson.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace atc::cluster {

namespace {
using Json = nlohmann::json;

/// Reads the fields of one object and remembers the first error.
class Fields {
public:
  Fields(const Json &object, std::string where, std::string &error)
      : object(object), where(std::move(where)), error(error) {
    if (!object.is_object())
      fail("is no object");
  }

  void integer(const char *name, uint32_t &value) {
    double number = value;
    positive(name, number);
    if (number != std::floor(number) || number > 1e6)
      fail("'" + std::string(name) + "' must be a whole number of at most 1000000");
    else
      value = static_cast<uint32_t>(number);
  }
  void bytes(const char *name, uint64_t &value) {
    double number = static_cast<double>(value);
    positive(name, number);
    value = number < 1e18 ? static_cast<uint64_t>(number) : UINT64_MAX / 2;
  }
  void positive(const char *name, double &value) {
    const Json *field = find(name);
    if (!field)
      return;
    if (!field->is_number() || !(field->get<double>() > 0) || !std::isfinite(field->get<double>()))
      return fail("'" + std::string(name) + "' must be a positive number");
    value = field->get<double>();
  }
  void text(const char *name, std::string &value) {
    const Json *field = find(name);
    if (!field)
      return;
    if (!field->is_string())
      return fail("'" + std::string(name) + "' must be a text");
    value = field->get<std::string>();
  }
  void link(const char *name, Link &value) {
    const Json *field = find(name);
    if (!field)
      return;
    Fields fields(*field, where + "." + name, error);
    double gigabytes = value.bytesPerSecond * 1e-9, micros = value.latencySeconds * 1e6;
    fields.text("kind", value.kind);
    fields.positive("gigabytes_per_second", gigabytes);
    fields.positive("latency_us", micros);
    fields.end();
    value.bytesPerSecond = gigabytes * 1e9;
    value.latencySeconds = micros * 1e-6;
  }
  /// The memory of a server, which is used where the object is there.
  void host(const char *name, Cluster &cluster) {
    const Json *field = find(name);
    if (!field)
      return;
    Fields fields(*field, where + "." + name, error);
    double link = 16, micros = 10, memory = 20;
    cluster.host.kind = "PCIe";
    fields.text("kind", cluster.host.kind);
    fields.positive("gigabytes_per_second", link);
    fields.positive("latency_us", micros);
    fields.positive("memory_gigabytes_per_second", memory);
    fields.positive("memory_bytes", cluster.hostBytes);
    fields.end();
    cluster.host.bytesPerSecond = link * 1e9;
    cluster.host.latencySeconds = micros * 1e-6;
    cluster.hostBytesPerSecond = memory * 1e9;
  }
  /// Reports fields that nothing reads: a name with a typing error must not be ignored.
  void end() {
    if (object.is_object())
      for (const auto &[name, value] : object.items())
        if (!known.count(name))
          fail("'" + name + "' is no field of it");
  }

private:
  const Json *find(const char *name) {
    known.insert(name);
    return object.is_object() && object.contains(name) ? &object.at(name) : nullptr;
  }
  void fail(const std::string &what) {
    if (error.empty())
      error = where + ": " + what;
  }

  const Json &object;
  const std::string where;
  std::string &error;
  std::set<std::string> known;
};
} // namespace

std::optional<Cluster> parseCluster(const std::string &text, std::string &error) {
  Json json;
  if (error = parseInputJson(text, json); !error.empty()) {
    error = "it " + error;
    return std::nullopt;
  }
  Cluster cluster;
  cluster.local = {"HCCS", 30e9, 2e-6};
  cluster.network = {"RoCE", 12.5e9, 5e-6};
  Fields fields(json, "cluster", error);
  fields.integer("servers", cluster.servers);
  fields.integer("devices_per_server", cluster.devicesPerServer);
  fields.text("soc", cluster.soc);
  fields.bytes("memory_bytes", cluster.memoryBytes);
  fields.link("local", cluster.local);
  fields.link("network", cluster.network);
  fields.positive("oversubscription", cluster.oversubscription);
  fields.host("host", cluster);
  fields.end();
  if (error.empty() && uint64_t(cluster.servers) * cluster.devicesPerServer > 1000000)
    error = "cluster: more than 1000000 devices";
  if (!error.empty())
    return std::nullopt;
  return cluster;
}

} // namespace atc::cluster
