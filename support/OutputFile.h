//===-- OutputFile.h - files that are complete or not there -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All tools write all files through this class. Whatever happens meanwhile (a full disk, kill -9, a
// signal, an error of the tool), the name leads either to the file that was there before or to the
// complete new one.

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

/// Options for writing a file.
struct OutputFileOptions {
  /// The permissions. Without a value: those of the file that is replaced, else those of a new file
  /// (0666 without the umask).
  std::optional<mode_t> mode = {};
  /// False: commit() fails when a file of that name exists.
  bool replace = true;
  /// True: the content is on the disk before the name leads to it, so that a machine that loses
  /// power does not leave an empty file. Not worth the time for many small results that can be made
  /// again quickly.
  bool durable = true;
};

/// A file that is being written. Its content goes into a file without a name in the same folder
/// (or, where the file system does not support that, into one called "<name>.<6 letters>.part"),
/// with which commit() replaces the old one.
///
/// A path that leads to something other than a file of a folder is written directly: devices,
/// pipes, /dev/stdout and /proc/self/fd, whatever stands behind them. A pipe that no program opens
/// to read is an error after some seconds, and so is writeAt() on what cannot be written at an
/// offset. A symbolic link is kept, and the file that it leads to is replaced.
///
/// Errors are sticky: after the first one every call returns false, and reason() returns it.
class OutputFile {
public:
  /// Opens the file for `path`; isOpen() returns whether that succeeded.
  explicit OutputFile(std::string path, OutputFileOptions options = {});
  /// Opens a file without a name in the folder for temporary files ($TMPDIR, else /tmp). It is gone
  /// when the object and all descriptors opened from descriptorPath() are closed.
  static OutputFile unnamed();
  /// Discards content that was not committed.
  ~OutputFile();
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;

  /// Returns whether the temporary file exists.
  bool isOpen() const { return fd >= 0; }
  /// Returns whether a write has failed; closing reports it.
  bool hasFailed() const { return error != 0; }
  const std::string &path() const { return shownPath; }
  /// Returns a path by which this process can open the unfinished file.
  std::string descriptorPath() const { return "/proc/self/fd/" + std::to_string(fd); }

  /// Appends `bytes` bytes to what write() has written so far.
  bool write(const void *data, uint64_t bytes);
  bool write(std::string_view text) { return write(text.data(), text.size()); }
  /// Writes `bytes` bytes at `offset`, in bytes from the file's beginning.
  bool writeAt(uint64_t offset, const void *data, uint64_t bytes);
  /// Sets the size of the file to `bytes`; bytes that were not written are zeros.
  bool setSize(uint64_t bytes);

  /// Allocates and flushes the content, so that commit() needs no more space. commit() calls it.
  bool finish();
  /// Makes the name lead to the new content. Can be called once.
  bool commit();

  /// Returns the text of the first error, such as "No space left on device".
  std::string reason() const;
  /// Returns the first error, a line with an error code: "E13004: cannot write 'a/b': ...".
  std::string errorLine() const;

private:
  friend bool commitAll(std::vector<OutputFile> &files);
  OutputFile() = default;
  void open();
  bool openTemporary(const std::string &beside, mode_t mode);
  /// Makes a name beside the target lead to the content, as rename() needs it.
  bool makeName();
  bool moveName();
  bool fail(int error);

  std::string shownPath; ///< as the caller gave it
  std::string target; ///< the file that is replaced, behind symbolic links; empty: written directly
  std::string temporary; ///< the current name of the content; empty: none
  OutputFileOptions options;
  int fd = -1;
  int error = 0;
  uint64_t position = 0;
  bool isFinished = false;
  bool isStream = false;                    ///< cannot be written at an offset: a pipe, a terminal
  std::unique_ptr<CleanupOnSignal> cleanup; ///< while there is a temporary name
};

/// Commits files that belong together: none where one of them cannot be completed. Where one cannot
/// be renamed, those that replaced nothing (options.replace is false) are removed again. A power
/// failure or kill -9 during the commit may leave new files beside old ones, each of them complete.
/// On failure at least one of them has a reason().
bool commitAll(std::vector<OutputFile> &files);

/// Writes a whole file. On failure returns false and sets `error` to a line with an error code.
bool writeWholeFile(const std::string &path, std::string_view content, std::string &error);

} // namespace atc

#endif
