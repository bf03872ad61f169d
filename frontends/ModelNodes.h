//===-- ModelNodes.h - the nodes of a model file --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELNODES_H
#define OPENATC_FRONTENDS_MODELNODES_H

#include <string>
#include <vector>

namespace atc {

/// A node as the model file has it.
struct ModelNode {
  std::string name; ///< of the node; where it has none, of its first output
  std::string type; ///< "Conv", "MatMul": in the words of its framework
};

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELNODES_H
