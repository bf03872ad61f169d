//===-- TensorName.h - names of tensors in a TensorFlow graph -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_TENSORNAME_H
#define OPENATC_FRONTENDS_TF_TENSORNAME_H

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace atc::tf_import {

/// "node:1", "node" (output 0) or "^node" (only an order of execution).
struct TensorName {
  llvm::StringRef node;
  int64_t index = 0;
  bool isControl = false;

  /// Parses "node:index", "node" (index 0) or "^node" (a control input).
  static TensorName parse(llvm::StringRef text);
  /// Returns the name as messages and the compiled model have it: "node", "node:1".
  std::string str() const {
    return index == 0 ? node.str() : (node + ":" + llvm::Twine(index)).str();
  }
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_TENSORNAME_H
