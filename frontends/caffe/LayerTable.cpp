//===-- LayerTable.cpp - the layers that have importers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

#include "llvm/ADT/StringSwitch.h"

namespace atc::caffe {

using Family = llvm::ArrayRef<LayerRow> (*)();

static constexpr Family families[] = {windowLayers, elementwiseLayers, normLayers,     moveLayers,
                                      reduceLayers, detectionLayers,   recurrentLayers};

const LayerRow *findLayer(llvm::StringRef type) {
  for (Family family : families)
    for (const LayerRow &row : family())
      if (type == row.type)
        return &row;
  return nullptr;
}

std::string whyNoImporter(llvm::StringRef type) {
  constexpr const char *data =
      "reads training data; put a layer of type Input with the shape in its place";
  constexpr const char *loss =
      "is for training; leave it out, or put Softmax or Sigmoid in its place";
  return llvm::StringSwitch<const char *>(type)
      .Cases({"Data", "ImageData", "HDF5Data", "MemoryData", "WindowData", "AnnotatedData"}, data)
      .Cases({"DATA", "IMAGE_DATA", "HDF5_DATA", "MEMORY_DATA", "WINDOW_DATA"}, data)
      .Cases({"DummyData", "DUMMY_DATA"}, data)
      .Cases({"SoftmaxWithLoss", "EuclideanLoss", "HingeLoss", "ContrastiveLoss", "InfogainLoss"},
             loss)
      .Cases({"SigmoidCrossEntropyLoss", "MultinomialLogisticLoss", "MultiBoxLoss", "Accuracy"},
             loss)
      .Cases({"SOFTMAX_LOSS", "EUCLIDEAN_LOSS", "HINGE_LOSS", "ACCURACY"}, loss)
      .Case("Python", "runs Python code")
      .Default("");
}

} // namespace atc::caffe
