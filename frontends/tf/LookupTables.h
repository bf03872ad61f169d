//===-- LookupTables.h - lookup tables become constants -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_LOOKUPTABLES_H
#define OPENATC_FRONTENDS_TF_LOOKUPTABLES_H

#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// The location of the files from which tables are filled.
struct TableFiles {
  llvm::StringRef folder;
  /// The files of a SavedModel; null for a frozen graph, whose files are beside it by their names.
  const google::protobuf::RepeatedPtrField<pb::AssetFileDef> *assets = nullptr;
};

/// The nodes of the main graph that run: those from which the outputs, or what runs when the model
/// is loaded, can be reached.
class RunNodes {
public:
  explicit RunNodes(const pb::GraphDef &graph);
  /// Adds a node or tensor, and what leads to it.
  void add(llvm::StringRef name);
  /// Adds the outputs of a frozen graph, or what nothing reads where there are none, and the
  /// groups of nodes (NoOp) that initialize it, which nothing reads either.
  void addFrozen(llvm::ArrayRef<std::string> outputs);
  bool contains(llvm::StringRef node) const { return names.contains(node); }

private:
  const pb::GraphDef &graph;
  llvm::StringMap<const pb::NodeDef *> nodes;
  llvm::StringSet<> names;
};

/// The attribute of a table that says why it has no contents.
inline constexpr const char *tableErrorAttribute = "_table_error";

/// Notes on every lookup table of the main graph the keys and values that the initializers of the
/// model fill it with: nodes of the main graph, or of functions that it calls, whose operands are
/// constants or files; where these are missing or wrong, the reason (tableErrorAttribute). A table
/// that may change has what is in `run` alone: a node that nothing runs changes nothing. Returns
/// false after an error.
bool bindTables(pb::GraphDef &graph, const TableFiles &files, const RunNodes &run,
                Diagnostics &diagnostics);

/// Turns every table of a graph without calls into two constants, which what searches the table
/// reads as its first inputs. A table that nothing fills stays.
void freezeTables(pb::GraphDef &graph);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_LOOKUPTABLES_H
