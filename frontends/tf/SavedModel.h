//===-- SavedModel.h - reads TensorFlow SavedModel folders ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_SAVEDMODEL_H
#define OPENATC_FRONTENDS_TF_SAVEDMODEL_H

#include <optional>

#include "frontends/tf/InlineFunctions.h"
#include "frontends/tf/TfImport.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"

namespace atc::tf_import {

class CheckpointBundle;

/// A model with constants instead of variables and no function calls.
struct FrozenModel {
  pb::GraphDef graph;
  /// The inputs and outputs, in the order of their names in the signature. Each `name` is also the
  /// name of the Placeholder or Identity node of `graph`, and `tensor` is the same.
  std::vector<NamedTensor> inputs, outputs;

  /// Returns the inputs and outputs of the selected signature.
  GraphBoundary boundary() const;
};

/// Reads the graph for serving of a SavedModel folder. `signature` chooses among its
/// signatures; empty stands for "serving_default" or the only one. Nothing after an
/// error.
std::optional<FrozenModel> readSavedModel(llvm::StringRef folder, Diagnostics &diagnostics,
                                          llvm::StringRef signature = "");

/// Freezes a model in memory, which is modified. `checkpoint` is null if the model has no
/// variables.
std::optional<FrozenModel> freezeModel(pb::SavedModel &model, llvm::StringRef path,
                                       CheckpointBundle *checkpoint, Diagnostics &diagnostics,
                                       llvm::StringRef signature = "");

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_SAVEDMODEL_H
