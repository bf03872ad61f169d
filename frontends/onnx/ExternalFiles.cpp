//===-- ExternalFiles.cpp - the data files beside a model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ExternalFiles.h"

#include <onnx/onnx_pb.h>

#include "frontends/ModelFile.h"
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
  SmallString<128> joined(folder);
  sys::path::append(joined, location);
  Expected<std::string> found = findInside(folder, joined);
  if (!found)
    return fail(toString(found.takeError()));
  const std::string &real = *found;
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
  llvm::scope_exit close([&] { (void)sys::fs::closeFile(*file); });
  std::error_code error;
  auto mapping = std::make_shared<sys::fs::mapped_file_region>(
      *file, sys::fs::mapped_file_region::readonly, status.getSize(), 0, error);
  if (error)
    return fail("cannot be mapped: " + error.message());
  mappings[location] = mapping;
  return mapping;
}

bool loadExternalData(onnx::GraphProto &graph, StringRef folder, Diagnostics &diagnostics) {
  ExternalFiles files(folder);
  bool done = true;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
      continue;
    std::string location;
    uint64_t offset = 0, length = UINT64_MAX;
    for (const auto &entry : tensor.external_data()) {
      if (entry.key() == "location")
        location = entry.value();
      else if (entry.key() == "offset")
        offset = std::strtoull(entry.value().c_str(), nullptr, 10);
      else if (entry.key() == "length")
        length = std::strtoull(entry.value().c_str(), nullptr, 10);
    }
    auto mapping = files.map(location);
    if (!mapping) {
      done = false;
      diagnostics.error("E13001", "the data of initializer '" + tensor.name() +
                                      "' cannot be read: " + toString(mapping.takeError()));
      continue;
    }
    const uint64_t size = (*mapping)->size();
    if (length == UINT64_MAX && offset <= size)
      length = size - offset;
    if (offset > size || length > size - offset) {
      done = false;
      diagnostics.error("E13002", "the data of initializer '" + tensor.name() +
                                      "' lies behind the end of the file '" + location + "'");
      continue;
    }
    tensor.set_raw_data((*mapping)->const_data() + offset, length);
    tensor.clear_data_location();
    tensor.clear_external_data();
  }
  return done;
}

} // namespace atc::onnx_import
