//===-- TemporaryRun.h - a program and its temporary folder -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_TEMPORARYRUN_H
#define ASCEND_SRC_TEMPORARYRUN_H

#include <string>
#include <vector>

#include <sys/types.h>

namespace atc::ascend {

/// Runs a program that reads and writes files in a temporary folder. A shell beside this process
/// makes the folder and removes it: when this object goes, and also when this process ends before
/// that, by whatever signal.
class TemporaryRun {
public:
  /// Stands for the folder's path in an argument, once.
  static constexpr const char *folderMark = "@FOLDER@";

  /// Starts the shell. The program is `command`; it does not run yet. The folder is in TMPDIR, or
  /// in /tmp.
  explicit TemporaryRun(const std::vector<std::string> &command);
  TemporaryRun(const TemporaryRun &) = delete;
  TemporaryRun &operator=(const TemporaryRun &) = delete;
  /// Waits until the folder is removed.
  ~TemporaryRun();

  /// Returns the path of the folder; "" where it could not be made.
  const std::string &folder() const { return path; }
  /// Returns why there is no folder.
  const std::string &problem() const { return reason; }

  /// Runs the program to its end, with its output in the file "said" of the folder. Returns its
  /// exit code: 126 or 127 where it could not be started, 128 or more where a signal has ended it.
  int run();

private:
  /// Returns a line that the shell writes; "" where it has ended.
  std::string readLine() const;

  int socket = -1;
  pid_t shell = -1;
  std::string path, reason;
};

} // namespace atc::ascend

#endif
