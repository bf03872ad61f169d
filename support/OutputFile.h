//===-- OutputFile.h - files that are complete or not there -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every file of every tool is written through this class. Whatever happens on the way
// (a full disk, kill -9, a signal, an error of the tool), its name leads to the file
// that was there before, or to the whole new one.

#ifndef OPENATC_SUPPORT_OUTPUTFILE_H
#define OPENATC_SUPPORT_OUTPUTFILE_H

#include "support/Interruption.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace atc {

struct OutputFileOptions {
  /// The permissions; without a value those of the file that is replaced, else those of
  /// a new file (0666 without the umask).
  std::optional<mode_t> mode;
  /// False: commit() fails when there is a file of the name already.
  bool replace = true;
  /// True: the content is on the disk before the name leads to it, so that a machine
  /// that loses power does not leave an empty file. For results that can be made again
  /// in an instant, and are many, it is not worth the wait.
  bool durable = true;
};

/// A file while it is written. Its content goes into a file without a name in the same
/// folder (or, where the file system has none, into one called "<name>.<6 letters>.part")
/// that commit() puts in the place of the old one.
///
/// A path that leads to something else than a file of a folder is written directly:
/// devices, pipes, and /dev/stdout and /proc/self/fd, whatever stands behind them. A
/// symbolic link stays, and the file it leads to is replaced.
///
/// Errors stay: after the first one every call returns false, and reason() tells it.
class OutputFile {
public:
  /// Opens the file for `path`; isOpen() says whether that went well.
  explicit OutputFile(std::string path, OutputFileOptions options = {});
  /// Opens a file that has no name and is gone when the object and all who opened
  /// descriptorPath() are, in the folder for temporary files ($TMPDIR, else /tmp).
  static OutputFile unnamed();
  /// Discards what was not committed.
  ~OutputFile();
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;

  bool isOpen() const { return fd >= 0; }
  bool hasFailed() const { return error != 0; }
  const std::string &path() const { return shownPath; }
  /// Returns a path by which this process can open the unfinished file.
  std::string descriptorPath() const { return "/proc/self/fd/" + std::to_string(fd); }

  /// Writes behind what write() has written so far.
  bool write(const void *data, uint64_t bytes);
  bool write(std::string_view text) { return write(text.data(), text.size()); }
  /// Writes `bytes` bytes at `offset`, in bytes from the file's beginning.
  bool writeAt(uint64_t offset, const void *data, uint64_t bytes);
  /// Makes the file `bytes` long; what was not written is zeros.
  bool setSize(uint64_t bytes);

  /// Completes the content, so that commit() needs no more space. commit() calls it.
  bool finish();
  /// Lets the name lead to the new content. It can be called once.
  bool commit();

  /// Returns the first error in words, such as "No space left on device".
  std::string reason() const;
  /// Returns a coded line for the first error: "E13004: cannot write 'a/b': ...".
  std::string errorLine() const;

private:
  friend bool commitAll(std::vector<OutputFile> &files);
  OutputFile() = default;
  void open();
  bool openTemporary(const std::string &beside, mode_t mode);
  /// Lets a name beside the target lead to the content, for rename() to take.
  bool makeName();
  bool moveName();
  bool fail(int error);

  std::string shownPath; ///< as the caller gave it
  std::string target;    ///< what is replaced, behind symbolic links; empty: written directly
  std::string temporary; ///< the name that the content has now; empty: none
  OutputFileOptions options;
  int fd = -1;
  int error = 0;
  uint64_t position = 0;
  bool isFinished = false;
  std::unique_ptr<CleanupOnSignal> cleanup; ///< while there is a temporary name
};

/// Commits files that belong together: none where one of them cannot be completed. A
/// power failure or kill -9 in the midst of it may leave new files beside old ones, each
/// of them whole. On failure at least one of them has a reason().
bool commitAll(std::vector<OutputFile> &files);

/// Writes a whole file. On failure `error` is a coded line.
bool writeWholeFile(const std::string &path, std::string_view content, std::string &error);

} // namespace atc

#endif
