//===-- ModelFile.cpp - opens and parses the files of a model -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/ModelFile.h"

#include <climits>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace io = google::protobuf::io;

namespace atc {

/// Calls `use` with the open file and its size. Rejects everything else that a user may pass
/// instead of a model first. A file of a `format` has less than 2 GB.
static bool withOpenFile(StringRef path, const FileFormat *format, Diagnostics &diagnostics,
                         function_ref<bool(sys::fs::file_t, uint64_t)> use) {
  auto fail = [&](ErrorCode code, const Twine &text) {
    diagnostics.error(code, text);
    return false;
  };
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status)) {
    if (error == errc::no_such_file_or_directory)
      return fail("E10410", "file '" + path + "' does not exist");
    return fail("E13000", "path '" + path + "' cannot be used: " + error.message());
  }
  if (status.type() != sys::fs::file_type::regular_file)
    return fail("E13000", "path '" + path + "' is not a regular file");
  if (status.getSize() == 0)
    return fail("E13003", "file '" + path + "' is empty");
  if (format && status.getSize() > INT_MAX)
    return fail("E13003", "file '" + path + "' has 2 GB or more, the limit of the " +
                              format->limit + " format" + format->advice);
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return fail("E13001", "file '" + path + "' cannot be opened: " + toString(file.takeError()));
  llvm::scope_exit close([&] { (void)sys::fs::closeFile(*file); });

  static constexpr StringLiteral lfsMark = "version https://git-lfs";
  char head[lfsMark.size()];
  Expected<size_t> got = sys::fs::readNativeFileSlice(*file, MutableArrayRef(head), 0);
  if (!got)
    return fail("E13003", "file '" + path + "' cannot be read: " + toString(got.takeError()));
  if (StringRef(head, *got) == lfsMark)
    return fail("E13005", "'" + path +
                              "' is a Git LFS pointer, not the model: fetch it with 'git lfs "
                              "pull'");
  return use(*file, status.getSize());
}

std::unique_ptr<MemoryBuffer> readWholeFile(StringRef path, Diagnostics &diagnostics) {
  std::unique_ptr<MemoryBuffer> whole;
  withOpenFile(path, /*format=*/nullptr, diagnostics, [&](sys::fs::file_t file, uint64_t size) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getOpenFile(file, path, size, /*RequiresNullTerminator=*/false);
    if (!buffer)
      diagnostics.error("E13003",
                        "file '" + path + "' cannot be read: " + buffer.getError().message());
    else
      whole = std::move(*buffer);
    return whole != nullptr;
  });
  return whole;
}

/// Whether the file `real` is one of the blobs that the cache of a model hub keeps for the model in
/// `folder`. There a model is a folder `snapshots/REVISION` of links into the folder `blobs` beside
/// `snapshots`, which holds the files of this model only. Both paths have no links.
static bool isBlobOf(StringRef folder, StringRef real) {
  const StringRef blobs = sys::path::parent_path(real);
  if (sys::path::filename(blobs) != "blobs")
    return false;
  const StringRef cache = sys::path::parent_path(blobs);
  for (; !folder.empty(); folder = sys::path::parent_path(folder))
    if (sys::path::filename(folder) == "snapshots" && sys::path::parent_path(folder) == cache)
      return true;
  return false;
}

Expected<std::string> findInside(StringRef folder, const Twine &path) {
  SmallString<128> real, realFolder;
  if (std::error_code error = sys::fs::real_path(path, real))
    return createStringError("cannot be used: " + error.message());
  if (std::error_code error = sys::fs::real_path(folder.empty() ? "." : folder, realFolder))
    return createStringError("cannot be used: " + error.message());
  StringRef rest = real;
  const bool inside =
      rest.consume_front(realFolder) && (realFolder.ends_with("/") || rest.starts_with("/"));
  if (!inside && !isBlobOf(realFolder, real))
    return createStringError("leads out of the model's folder: put a copy of the file there");
  return std::string(real);
}

static bool parseStream(io::ZeroCopyInputStream &stream, StringRef name, const FileFormat &format,
                        google::protobuf::MessageLite &message, Diagnostics &diagnostics) {
  // The parser would write its own lines to stderr.
  google::protobuf::LogSilencer silencer;
  io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  coded.SetRecursionLimit(format.maxDepth);
  if (message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage())
    return true;
  diagnostics.error("E13005",
                    "'" + name + "' cannot be parsed as " + format.model +
                        ": the file is damaged, cut short or of another format, or more than " +
                        Twine(format.maxDepth) + " messages stand inside each other");
  return false;
}

bool parseFile(StringRef path, const FileFormat &format, google::protobuf::MessageLite &message,
               Diagnostics &diagnostics) {
  // Read through a stream and not a mapping of the whole file: what the parser
  // takes is then in memory once.
  return withOpenFile(path, &format, diagnostics, [&](sys::fs::file_t file, uint64_t) {
    io::FileInputStream stream(file, /*block_size=*/1 << 20);
    return parseStream(stream, path, format, message, diagnostics);
  });
}

bool parseBytes(StringRef bytes, StringRef name, const FileFormat &format,
                google::protobuf::MessageLite &message, Diagnostics &diagnostics) {
  if (bytes.size() > INT_MAX) {
    diagnostics.error("E13005", "'" + name + "' has 2 GB or more, the limit of the " +
                                    format.limit + " format");
    return false;
  }
  io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return parseStream(stream, name, format, message, diagnostics);
}

} // namespace atc
