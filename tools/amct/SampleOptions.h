//===-- SampleOptions.h - the flags of samples ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AMCT_SAMPLEOPTIONS_H
#define OPENATC_TOOLS_AMCT_SAMPLEOPTIONS_H

#include "quantize/ImageOptions.h"
#include "support/Diagnostics.h"

#include <CLI/CLI.hpp>

namespace atc::tools {

/// The flags of a model and of its samples.
struct SampleOptions {
  std::string model, data, inputShape, dataType, imageFormat, inputFormat;
  std::vector<double> mean, min, factor, deviation;
  int64_t batchNum = 0;
  bool json = false;
};

/// Adds the flags to a command; --data must be given where `areRequired`.
void addSampleOptions(CLI::App &app, SampleOptions &options, bool areRequired);

/// Reports a file of a flag ("config") that does not exist or is a folder; returns whether it is
/// neither.
bool checkFile(const char *flag, const std::string &path, Diagnostics &diagnostics);
/// Reports also a file that is no model of ONNX.
void checkModel(const char *flag, const std::string &path, Diagnostics &diagnostics);

/// Reports what is wrong with the model's file and the folders of samples before anything is read.
/// An empty --data is an error.
void checkSources(const SampleOptions &options, Diagnostics &diagnostics);

/// Reports a number of samples that is not valid.
void checkBatchNum(const SampleOptions &options, Diagnostics &diagnostics);

/// Applies the flags of images.
void checkImages(const SampleOptions &options, quantize::ImageOptions &images,
                 Diagnostics &diagnostics);

/// Prints errors and warnings, each as a line.
void printMessages(const Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_AMCT_SAMPLEOPTIONS_H
