//===-- ModelNodes.h - the nodes of a model file --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELNODES_H
#define OPENATC_FRONTENDS_MODELNODES_H

#include <map>
#include <string>
#include <vector>

namespace atc {

/// A node as the model file has it.
struct ModelNode {
  std::string name; ///< of the node; where it has none, of its first output
  std::string type; ///< "Conv", "MatMul": in the words of its framework
  /// Another name by which users may call the node: an ONNX node without a name has that of the
  /// Ascend toolchain. Empty: none.
  std::string alias = {};

  /// Returns whether users call the node so.
  bool isCalled(const std::string &other) const {
    return other == name || (!alias.empty() && other == alias);
  }
};

/// Other names of nodes, with the names that the compiler calls them by.
using NodeAliases = std::map<std::string, std::string>;

/// Returns the other names of nodes that have one.
inline NodeAliases listAliases(const std::vector<ModelNode> &nodes) {
  NodeAliases aliases;
  for (const ModelNode &node : nodes)
    if (!node.alias.empty())
      aliases.emplace(node.alias, node.name);
  return aliases;
}

/// Replaces the keys of a set or map that are other names of nodes. What is there by the name that
/// the compiler calls the node by stays.
template <typename Names> void resolveNames(Names &names, const NodeAliases &aliases) {
  for (const auto &[alias, name] : aliases)
    if (auto entry = names.extract(alias)) {
      if constexpr (requires { entry.key(); })
        entry.key() = name;
      else
        entry.value() = name;
      names.insert(std::move(entry));
    }
}

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELNODES_H
