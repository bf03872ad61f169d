//===-- LayerTable.h - the layers that have importers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_CAFFE_LAYERTABLE_H
#define OPENATC_FRONTENDS_CAFFE_LAYERTABLE_H

#include "frontends/caffe/LayerContext.h"

namespace atc::caffe {

struct LayerRow {
  const char *type;
  void (*import)(LayerContext &);
};

/// Rows of a family of layers.
llvm::ArrayRef<LayerRow> windowLayers();
llvm::ArrayRef<LayerRow> elementwiseLayers();
llvm::ArrayRef<LayerRow> normLayers();
llvm::ArrayRef<LayerRow> moveLayers();
llvm::ArrayRef<LayerRow> reduceLayers();
llvm::ArrayRef<LayerRow> detectionLayers();
llvm::ArrayRef<LayerRow> recurrentLayers();

/// Import SSD's layers of detections, which have a file of their own.
void importDetectionOutput(LayerContext &context);
void importSsdDetectionOutput(LayerContext &context);

/// Returns the row of a type; null where it has no importer.
const LayerRow *findLayer(llvm::StringRef type);

/// Returns why a known type has no importer and what to do, such as that it only reads
/// training data; empty for types that are not known.
std::string whyNoImporter(llvm::StringRef type);

} // namespace atc::caffe

#endif // OPENATC_FRONTENDS_CAFFE_LAYERTABLE_H
