//===-- UnsupportedOps.h - the operators that have no importer ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_UNSUPPORTEDOPS_H
#define OPENATC_FRONTENDS_UNSUPPORTEDOPS_H

#include <map>
#include <string>
#include <vector>

namespace atc {

/// Collects the nodes that cannot be imported, for one error that lists them all.
class UnsupportedOps {
public:
  /// Adds a node. `why` is known for some operators; the last reason is kept.
  void add(const std::string &op, const std::string &node, const std::string &why = "");

  bool empty() const { return ops.empty(); }
  /// Returns the list "Mfcc x2 (a, c); Mish x1 [supported in opset 18+] (b)".
  std::string str() const;

private:
  struct Entry {
    std::string why;
    std::vector<std::string> nodes;
  };
  std::map<std::string, Entry> ops;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_UNSUPPORTEDOPS_H
