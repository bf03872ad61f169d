//===-- ModelFile.h - opens and parses the files of a model ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELFILE_H
#define OPENATC_FRONTENDS_MODELFILE_H

#include <memory>

#include "support/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace google::protobuf {
class MessageLite;
}

namespace atc {

/// The description of a file format for messages.
struct FileFormat {
  llvm::StringLiteral model;       ///< "an ONNX model"
  llvm::StringLiteral limit;       ///< "ONNX": a file of it has less than 2 GB
  llvm::StringLiteral advice = ""; ///< what to do about a larger file
  int maxDepth = 100;              ///< maximum nesting of messages in a file
};

/// Maps a whole file of any size. Returns null after an error.
std::unique_ptr<llvm::MemoryBuffer> readWholeFile(llvm::StringRef path, Diagnostics &diagnostics);

/// Returns `path` with all links resolved, or why it is no file of a model in `folder`: it is not
/// there, or a link or ".." leads out. The blobs to which the files of a model lead in the cache of
/// a model hub belong to its folder.
llvm::Expected<std::string> findInside(llvm::StringRef folder, const llvm::Twine &path);

/// Parses the one message that a file consists of. Returns false after an error.
bool parseFile(llvm::StringRef path, const FileFormat &format,
               google::protobuf::MessageLite &message, Diagnostics &diagnostics);

/// Parses the message in `bytes`; `name` stands for the file in messages. Returns false after an
/// error.
bool parseBytes(llvm::StringRef bytes, llvm::StringRef name, const FileFormat &format,
                google::protobuf::MessageLite &message, Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELFILE_H
