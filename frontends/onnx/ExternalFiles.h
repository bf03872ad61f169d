//===-- ExternalFiles.h - the data files beside a model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_EXTERNALFILES_H
#define OPENATC_FRONTENDS_ONNX_EXTERNALFILES_H

#include <memory>
#include <string>

#include "support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

namespace onnx {
class GraphProto;
} // namespace onnx

namespace atc::onnx_import {

/// Maps the files beside a model that hold its large tensors. Each is mapped once and stays mapped
/// as long as a Mapping refers to it.
class ExternalFiles {
public:
  using Mapping = std::shared_ptr<llvm::sys::fs::mapped_file_region>;

  explicit ExternalFiles(llvm::StringRef folder) : folder(folder.empty() ? "." : folder.str()) {}

  /// Maps `location`, a path relative to the model's folder that must not lead out of it.
  llvm::Expected<Mapping> map(llvm::StringRef location);

private:
  std::string folder;
  llvm::StringMap<Mapping> mappings;
};

/// Puts the data of all initializers that lie in files in `folder` into the graph itself. Returns
/// false after an error.
bool loadExternalData(onnx::GraphProto &graph, llvm::StringRef folder, Diagnostics &diagnostics);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_EXTERNALFILES_H
