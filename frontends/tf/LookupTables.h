//===-- LookupTables.h - lookup tables become constants -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_LOOKUPTABLES_H
#define OPENATC_FRONTENDS_TF_LOOKUPTABLES_H

#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// Notes on every lookup table of the main graph the keys and values that the initializers of the
/// model fill it with: nodes of the main graph, or of functions that it calls, whose operands are
/// constants or files of the folder of the model. Returns false after an error.
bool bindTables(pb::MetaGraphDef &model, llvm::StringRef folder, Diagnostics &diagnostics);

/// Turns every table of a graph without calls into two constants, which what searches the table
/// reads as its first inputs. Returns false after an error.
bool freezeTables(pb::GraphDef &graph, Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_LOOKUPTABLES_H
