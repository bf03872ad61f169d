//===-- OutputStream.h - LLVM's streams over the tools' files ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_OUTPUTSTREAM_H
#define OPENATC_SUPPORT_OUTPUTSTREAM_H

#include "support/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

namespace atc {

/// A stream into an OutputFile, for code that prints to streams of LLVM. LLVM's own file streams
/// end the program when the disk is full; here the file keeps the error. The file holds everything
/// after the stream is flushed or destroyed.
class OutputStream : public llvm::raw_ostream {
public:
  /// `file` must outlive the stream.
  explicit OutputStream(OutputFile &file) : file(file) {}
  ~OutputStream() override { flush(); }

private:
  void write_impl(const char *data, size_t bytes) override {
    file.write(data, bytes);
    written += bytes;
  }
  uint64_t current_pos() const override { return written; }

  OutputFile &file;
  uint64_t written = 0;
};

/// Writes a file with everything that `print` prints to a stream; where it returns false, no file.
/// Returns whether there is a file; where writing failed, `error` is a line with an error code.
template <typename Print>
bool writeStream(const std::string &path, Print print, std::string &error) {
  OutputFile file(path);
  bool isWhole = true;
  {
    OutputStream stream(file);
    if constexpr (std::is_void_v<decltype(print(static_cast<llvm::raw_ostream &>(stream)))>)
      print(stream);
    else
      isWhole = print(stream);
  }
  if (!isWhole)
    return false;
  if (file.commit())
    return true;
  error = file.errorLine();
  return false;
}

/// Ends a tool that prints to llvm::outs(): returns `code`, or 1 after printing one line with an
/// error code where the output could not be written. LLVM would end the program with a message of
/// its own.
inline int finishStandardOutput(int code) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return code;
  llvm::errs() << "E13004: cannot write to the standard output: " << llvm::outs().error().message()
               << ".\n";
  llvm::outs().clear_error();
  return 1;
}

} // namespace atc

#endif // OPENATC_SUPPORT_OUTPUTSTREAM_H
