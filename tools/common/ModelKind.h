//===-- ModelKind.h - what a model file really is -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_MODELKIND_H
#define OPENATC_TOOLS_COMMON_MODELKIND_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace atc::tools {

enum class ModelKind {
  Unknown, ///< nothing recognizable: an importer says what is wrong
  Onnx,
  GraphDef,
  SavedModel, ///< the file saved_model.pb
  PrototxtText,
  CaffeModel,
  PyTorch,
  TorchExport,
  TfLite,
  Hdf5,
  Keras,
  Air,
  MindIr,
  Om,
  Safetensors,
  Archive,
  LfsPointer,
  WebPage
};

/// Returns what a file is, by its first bytes and, where these leave it open, by the ending of
/// its name. Unknown for a folder and a file that cannot be read.
ModelKind findModelKind(const std::string &path);

/// Returns the value of --framework that reads the kind; empty where there is none.
llvm::StringRef frameworkOf(ModelKind kind);

/// Returns why --framework=`framework` ("0", "1", "3", "5", "6") cannot read a file of another
/// kind, and what to do about it; empty where it may.
std::string wrongKindReason(ModelKind kind, llvm::StringRef framework);

/// Returns why amct, which reads ONNX models, cannot read a file, and what to do about it; empty
/// where it may.
std::string whyNotQuantized(ModelKind kind);

/// Returns why a file cannot be described as a compiled model, and what to do about it; empty where
/// it may be one.
std::string whyNotCompiled(ModelKind kind);

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_MODELKIND_H
