//===-- ExternalFiles.cpp - the data files beside a model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ExternalFiles.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::onnx_import {

Expected<ExternalFiles::Mapping> ExternalFiles::map(StringRef location) {
  auto fail = [&](const Twine &reason) {
    return createStringError("external data file '" + location + "' " + reason);
  };
  auto known = mappings.find(location);
  if (known != mappings.end())
    return known->second;

  if (location.empty() || location.contains('\0') || sys::path::is_absolute(location))
    return fail("is not a path relative to the model's folder");
  SmallString<128> joined(folder), real, realFolder;
  sys::path::append(joined, location);
  if (std::error_code error = sys::fs::real_path(joined, real))
    return fail("cannot be used: " + error.message());
  if (std::error_code error = sys::fs::real_path(folder, realFolder))
    return fail("cannot be used: " + error.message());
  // Compared after links are resolved, so that neither ".." nor a link leads out.
  StringRef rest = real;
  bool inside =
      rest.consume_front(realFolder) && (realFolder.ends_with("/") || rest.starts_with("/"));
  if (!inside)
    return fail("leads out of the model's folder");

  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(real, status))
    return fail("cannot be used: " + error.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fail("is not a regular file");
  if (status.getSize() == 0)
    return fail("is empty");
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(real);
  if (!file)
    return fail("cannot be opened: " + toString(file.takeError()));
  llvm::scope_exit close([&] { sys::fs::closeFile(*file); });
  std::error_code error;
  auto mapping = std::make_shared<sys::fs::mapped_file_region>(
      *file, sys::fs::mapped_file_region::readonly, status.getSize(), 0, error);
  if (error)
    return fail("cannot be mapped: " + error.message());
  mappings[location] = mapping;
  return mapping;
}

} // namespace atc::onnx_import
