//===-- Manifest.h - the files of a model that was split over ranks -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_MANIFEST_H
#define OPENATC_TOOLS_OMRUN_MANIFEST_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::tools {

/// The content of a manifest that a run needs.
struct Manifest {
  struct Output {
    std::string name;
    uint32_t rank; ///< that writes it
  };
  std::string path; ///< the file that it was read from
  std::string model, parallel;
  std::vector<std::string> files; ///< paths, one per rank
  /// Returned by omIdentity() for each of them; empty in manifests of earlier versions.
  std::vector<std::string> identities;
  std::vector<std::string> inputs; ///< of the whole model, in its order
  std::vector<Output> outputs;
};

/// Reads a manifest that atc --parallel has written. On failure returns false and sets `error` to
/// one line with an error code.
bool readManifest(const std::string &path, Manifest &manifest, std::string &error);

} // namespace atc::tools

#endif
