//===-- NodeDefs.h - reads nodes of a graph that is not imported yet ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_NODEDEFS_H
#define OPENATC_FRONTENDS_TF_NODEDEFS_H

#include "frontends/tf/schema/tensorflow.pb.h"

#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

/// Returns the node's attribute, which the node owns, or null where it has none of that name.
inline const atc::tf::pb::AttrValue *attributeOf(const atc::tf::pb::NodeDef &node,
                                                 const char *name) {
  auto found = node.attr().find(name);
  return found == node.attr().end() ? nullptr : &found->second;
}

/// Returns the node that "node:1" is an output of.
inline llvm::StringRef nodeOf(llvm::StringRef tensor) { return tensor.split(':').first; }

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_NODEDEFS_H
