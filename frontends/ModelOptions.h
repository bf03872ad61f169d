//===-- ModelOptions.h - options of a model as users type them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELOPTIONS_H
#define OPENATC_FRONTENDS_MODELOPTIONS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

namespace atc {

using InputShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// Reads `--input_shape`: "name:1,3,224,224;other:1,4"; "name:" is a scalar.
inline bool parseInputShapes(llvm::StringRef text, InputShapes &shapes, Diagnostics &diagnostics) {
  unsigned before = diagnostics.numErrors();
  llvm::SmallVector<llvm::StringRef> entries;
  text.split(entries, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef entry : entries) {
    auto fail = [&](const llvm::Twine &reason) {
      diagnostics.error("E10002", "--input_shape=\"" + text + "\" is not valid: '" + entry + "' " +
                                      reason + "; write it like \"input1:1,3,224,224;input2:1,4\"");
    };
    // Names may have colons themselves ("input:0").
    size_t colon = entry.rfind(':');
    if (colon == llvm::StringRef::npos || colon == 0) {
      fail("has no \"name:\" before the dims");
      continue;
    }
    llvm::StringRef list = entry.drop_front(colon + 1).trim();
    llvm::SmallVector<llvm::StringRef> items;
    if (!list.empty())
      list.split(items, ',');
    std::vector<int64_t> dims;
    for (llvm::StringRef item : items) {
      int64_t dim;
      if (item.trim().getAsInteger(10, dim)) {
        fail("has '" + item + "' where a number must be");
        break;
      }
      dims.push_back(dim);
    }
    shapes.emplace_back(entry.take_front(colon).trim().str(), std::move(dims));
  }
  return diagnostics.numErrors() == before;
}

/// Reads `--out_nodes`: "node1:0;node2:0" or names of tensors.
inline std::vector<std::string> parseOutNodes(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> entries;
  text.split(entries, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::vector<std::string> names;
  for (llvm::StringRef entry : entries)
    names.push_back(entry.trim().str());
  return names;
}

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELOPTIONS_H
