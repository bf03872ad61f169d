//===-- OutputFile.cpp - files that are complete or not there -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace atc {

namespace {

constexpr int maxLinks = 40, maxTries = 100;

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns a unique name beside `path` that shows its purpose.
std::string temporaryName(const std::string &path) {
  unsigned char random[6] = {};
  if (getrandom(random, sizeof(random), 0) < 0) {
    // An address differs between processes; O_EXCL finds what is taken.
    const auto address = reinterpret_cast<uintptr_t>(&path);
    std::memcpy(random, &address, sizeof(random));
  }
  std::string suffix = ".";
  for (unsigned char byte : random)
    suffix += "abcdefghijklmnopqrstuvwxyz012345"[byte & 31];
  suffix += ".part";
  const size_t name = path.rfind('/') + 1;
  return path.substr(0, std::min(path.size(), name + NAME_MAX - suffix.size())) + suffix;
}

/// The destination that a path leads to.
struct Destination {
  std::string target; ///< the file to be replaced; empty: to be written directly
  int error = 0;
};

Destination resolve(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return {"", EISDIR};
    if (!S_ISREG(info.st_mode))
      return {};
  } else if (errno != ENOENT) {
    return {"", errno};
  }
  std::string at = path;
  for (int links = 0; lstat(at.c_str(), &info) == 0 && S_ISLNK(info.st_mode); ++links) {
    // Links of /proc are not names: the file behind them may have none.
    if (at.rfind("/proc/", 0) == 0)
      return {};
    char text[PATH_MAX];
    const ssize_t length = readlink(at.c_str(), text, sizeof(text));
    if (length < 0 || links == maxLinks)
      return {"", length < 0 ? errno : ELOOP};
    const std::string next(text, static_cast<size_t>(length));
    at = !next.empty() && next[0] == '/' ? next : folderOf(at) + "/" + next;
  }
  if (at != path) {
    // A link that the system forbids to follow (links of others in /tmp) is not followed here.
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
      return {"", errno};
    if (fd >= 0)
      close(fd);
  }
  return {at, 0};
}

bool isPipe(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

/// Opens a device, a pipe or what is behind a descriptor. A pipe without a reader would wait for
/// one forever: a reader that starts together with this program gets some seconds.
int openDirectly(const std::string &path) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(3);
  for (;;) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC | O_NONBLOCK);
    if (fd >= 0) {
      fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); // writes wait
      return fd;
    }
    const int code = errno;
    const bool mayHaveReader = code == ENXIO && isPipe(path) && Clock::now() < end;
    errno = code;
    if (!mayHaveReader)
      return -1;
    usleep(10'000);
  }
}

/// Returns whether what was opened can be written at an offset, as a pipe cannot.
bool isSeekable(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode));
}

/// Returns whether this system can give a name to a file that has none.
bool canLink() {
  static const bool can = access("/proc/self/fd", X_OK) == 0;
  return can;
}

} // namespace

OutputFile::OutputFile(std::string path, OutputFileOptions options)
    : shownPath(std::move(path)), options(options) {
  open();
}

OutputFile OutputFile::unnamed() {
  OutputFile file;
  const char *folder = std::getenv("TMPDIR");
  file.shownPath = folder && *folder ? folder : "/tmp";
  if (file.openTemporary(file.shownPath + "/openatc", 0600) && !file.temporary.empty()) {
    unlink(file.temporary.c_str());
    file.temporary.clear();
    file.cleanup.reset();
  }
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : shownPath(std::move(other.shownPath)), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, "")), options(other.options),
      fd(std::exchange(other.fd, -1)), error(other.error), position(other.position),
      isFinished(other.isFinished), isStream(other.isStream), cleanup(std::move(other.cleanup)) {}

OutputFile::~OutputFile() {
  if (!temporary.empty())
    unlink(temporary.c_str());
  if (fd >= 0)
    close(fd);
}

void OutputFile::open() {
  const Destination destination = resolve(shownPath);
  if (destination.error) {
    fail(destination.error);
    return;
  }
  target = destination.target;
  if (target.empty()) {
    fd = openDirectly(shownPath);
    if (fd < 0)
      fail(errno);
    isStream = fd >= 0 && !isSeekable(fd);
    return;
  }
  struct stat old;
  const bool exists = lstat(target.c_str(), &old) == 0;
  if (exists && !options.replace) {
    fail(EEXIST);
    return;
  }
  const mode_t mode = options.mode ? *options.mode : exists ? old.st_mode & 0777 : 0666;
  // Opening takes the umask off, which is right for a new file alone.
  if (openTemporary(target, mode) && (options.mode || exists) && fchmod(fd, mode) != 0)
    fail(errno);
}

/// Opens a file in the folder of the path `beside`, without a name where that is possible.
bool OutputFile::openTemporary(const std::string &beside, mode_t mode) {
  const std::string folder = folderOf(beside);
  if (canLink())
    fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  // Systems and file systems without such files report that in different ways.
  const bool unknown = fd < 0 && (!canLink() || errno == EOPNOTSUPP || errno == EISDIR ||
                                  errno == ENOENT || errno == EINVAL);
  for (int i = 0; unknown && fd < 0 && i < maxTries; ++i) {
    const std::string name = temporaryName(beside);
    auto clean = std::make_unique<CleanupOnSignal>([name] { unlink(name.c_str()); });
    SignalsPutOff putOff; // else the name could be made when it has been cleaned up
    fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) {
      temporary = name;
      cleanup = std::move(clean);
    } else if (errno != EEXIST) {
      return fail(errno);
    }
  }
  return fd >= 0 || fail(errno);
}

bool OutputFile::write(const void *data, uint64_t bytes) {
  if (fd < 0 || error)
    return false;
  const char *from = static_cast<const char *>(data);
  position += bytes;
  while (bytes) {
    const ssize_t done = ::write(fd, from, std::min<uint64_t>(bytes, 1u << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return fail(done < 0 ? errno : ENOSPC);
    from += done;
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

bool OutputFile::writeAt(uint64_t offset, const void *data, uint64_t bytes) {
  if (fd < 0 || error)
    return false;
  if (isStream)
    return fail(ESPIPE);
  const char *from = static_cast<const char *>(data);
  while (bytes) {
    const ssize_t done =
        pwrite(fd, from, std::min<uint64_t>(bytes, 1u << 30), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return fail(done < 0 ? errno : ENOSPC);
    from += done;
    offset += static_cast<uint64_t>(done);
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

bool OutputFile::setSize(uint64_t bytes) {
  if (fd < 0 || error)
    return false;
  if (isStream)
    return fail(ESPIPE);
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0 || fail(errno);
}

bool OutputFile::finish() {
  if (fd < 0 || error)
    return false;
  if (isFinished || target.empty())
    return true;
  // A full disk, or a server that does not respond, may be reported only here.
  if (options.durable && fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS)
    return fail(errno);
  isFinished = true;
  return !options.replace || makeName();
}

bool OutputFile::makeName() {
  for (int i = 0; temporary.empty() && i < maxTries; ++i) {
    const std::string name = temporaryName(target);
    auto clean = std::make_unique<CleanupOnSignal>([name] { unlink(name.c_str()); });
    SignalsPutOff putOff;
    if (linkat(AT_FDCWD, descriptorPath().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
        0) {
      temporary = name;
      cleanup = std::move(clean);
    } else if (errno != EEXIST) {
      return fail(errno);
    }
  }
  return !temporary.empty() || fail(EEXIST);
}

bool OutputFile::moveName() {
  if (options.replace) {
    if (rename(temporary.c_str(), target.c_str()) != 0)
      return fail(errno);
    temporary.clear();
    return true;
  }
  // Links, unlike renames, replace nothing; some file systems have none.
  const std::string from = temporary.empty() ? descriptorPath() : temporary;
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return true;
  if (temporary.empty() || errno != EPERM ||
      renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0)
    return fail(errno);
  temporary.clear();
  return true;
}

bool OutputFile::commit() {
  if (!finish())
    return false;
  if (!target.empty()) {
    SignalsPutOff putOff;
    if (!moveName())
      return false;
  } else if (close(std::exchange(fd, -1)) != 0) {
    return fail(errno);
  }
  if (temporary.empty())
    cleanup.reset();
  return true;
}

bool OutputFile::fail(int code) {
  if (!error)
    error = code ? code : EIO;
  return false;
}

std::string OutputFile::reason() const {
  if (isStream && error == ESPIPE)
    return "It is not a regular file";
  if (!isOpen() && error == ENXIO && isPipe(shownPath))
    return "No program reads from this pipe";
  return std::strerror(error ? error : EIO);
}

std::string OutputFile::errorLine() const {
  return "E13004: cannot write '" + shownPath + "': " + reason() + ".";
}

bool commitAll(std::vector<OutputFile> &files) {
  for (OutputFile &file : files)
    if (!file.finish())
      return false;
  bool done = true;
  {
    SignalsPutOff putOff;
    size_t moved = 0;
    for (; done && moved < files.size(); ++moved)
      done = files[moved].target.empty() || files[moved].moveName();
    // Files that replaced nothing can be removed again; the last one that was tried has failed.
    for (size_t i = 0; !done && i + 1 < moved; ++i)
      if (!files[i].target.empty() && !files[i].options.replace)
        unlink(files[i].target.c_str());
  }
  for (OutputFile &file : files)
    if (file.temporary.empty())
      file.cleanup.reset();
  return done;
}

bool writeWholeFile(const std::string &path, std::string_view content, std::string &error) {
  OutputFile file(path);
  if (file.write(content) && file.commit())
    return true;
  error = file.errorLine();
  return false;
}

} // namespace atc
