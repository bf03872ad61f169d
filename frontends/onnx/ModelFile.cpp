//===-- ModelFile.cpp - reads ONNX files and their external data ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ModelFile.h"

#include <climits>
#include <onnx/onnx_pb.h>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
namespace io = google::protobuf::io;

namespace atc::onnx_import {

static std::unique_ptr<onnx::ModelProto> parseStream(io::ZeroCopyInputStream &stream,
                                                     StringRef name, Diagnostics &diagnostics) {
  // The parser would write its own lines to stderr.
  google::protobuf::LogSilencer silencer;
  io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  auto model = std::make_unique<onnx::ModelProto>();
  if (model->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage())
    return model;
  diagnostics.error("E13005", "'" + name +
                                  "' cannot be parsed as an ONNX model: the file is damaged, cut "
                                  "short or of another format");
  return nullptr;
}

std::unique_ptr<onnx::ModelProto> parseModel(StringRef bytes, StringRef name,
                                             Diagnostics &diagnostics) {
  if (bytes.size() > INT_MAX) {
    diagnostics.error("E13005", "'" + name + "' has 2 GB or more, the limit of the ONNX format");
    return nullptr;
  }
  io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return parseStream(stream, name, diagnostics);
}

std::unique_ptr<onnx::ModelProto> readModelFile(StringRef path, Diagnostics &diagnostics) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status)) {
    if (error == errc::no_such_file_or_directory)
      diagnostics.error("E10410", "file '" + path + "' does not exist");
    else
      diagnostics.error("E13000", "path '" + path + "' cannot be used: " + error.message());
    return nullptr;
  }
  if (status.type() != sys::fs::file_type::regular_file) {
    diagnostics.error("E13000", "path '" + path + "' is not a regular file");
    return nullptr;
  }
  if (status.getSize() == 0) {
    diagnostics.error("E13003", "file '" + path + "' is empty");
    return nullptr;
  }
  if (status.getSize() > INT_MAX) {
    diagnostics.error("E13003", "file '" + path +
                                    "' has 2 GB or more, the limit of the ONNX format: store the "
                                    "weights as external data");
    return nullptr;
  }
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file) {
    diagnostics.error("E13001",
                      "file '" + path + "' cannot be opened: " + toString(file.takeError()));
    return nullptr;
  }
  llvm::scope_exit close([&] { sys::fs::closeFile(*file); });

  static constexpr StringLiteral lfsMark = "version https://git-lfs";
  char head[lfsMark.size()];
  Expected<size_t> got = sys::fs::readNativeFileSlice(*file, MutableArrayRef(head), 0);
  if (!got) {
    diagnostics.error("E13003", "file '" + path + "' cannot be read: " + toString(got.takeError()));
    return nullptr;
  }
  if (StringRef(head, *got) == lfsMark) {
    diagnostics.error("E13005", "'" + path +
                                    "' is a Git LFS pointer, not the model: fetch it with "
                                    "'git lfs pull'");
    return nullptr;
  }

  // Read through a stream and not a mapping of the whole file: what the parser
  // takes is then in memory once.
  io::FileInputStream stream(*file, /*block_size=*/1 << 20);
  return parseStream(stream, path, diagnostics);
}

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
