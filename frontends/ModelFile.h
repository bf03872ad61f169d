//===-- ModelFile.h - opens and parses the files of a model ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELFILE_H
#define OPENATC_FRONTENDS_MODELFILE_H

#include <memory>

#include "support/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

namespace google::protobuf {
class MessageLite;
}

namespace atc {

/// What messages call a format.
struct FileFormat {
  llvm::StringLiteral model;       ///< "an ONNX model"
  llvm::StringLiteral limit;       ///< "ONNX": a file of it has less than 2 GB
  llvm::StringLiteral advice = ""; ///< what to do about a larger one
  int maxDepth = 100;              ///< messages inside each other that a file may have
};

/// Maps a whole file, whatever its size. Null after an error.
std::unique_ptr<llvm::MemoryBuffer> readWholeFile(llvm::StringRef path, Diagnostics &diagnostics);

/// Parses the one message that a file consists of. False after an error.
bool parseFile(llvm::StringRef path, const FileFormat &format,
               google::protobuf::MessageLite &message, Diagnostics &diagnostics);

/// The same for a file in memory; `name` stands for it in messages.
bool parseBytes(llvm::StringRef bytes, llvm::StringRef name, const FileFormat &format,
                google::protobuf::MessageLite &message, Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELFILE_H
