//===-- OutputFileTest.cpp - files are complete or not there --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/OutputFile.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace atc;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone at the end.
class Folder {
public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "openatc-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  /// The names in it, in order.
  std::string list() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "" : " ") + name;
    return text;
  }

private:
  fs::path path;
};

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

mode_t modeOf(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

} // namespace

TEST_CASE("a file appears when it is committed") {
  Folder folder;
  const std::string path = folder / "a";
  {
    OutputFile file(path);
    REQUIRE(file.isOpen());
    CHECK(file.write("one "));
    CHECK(file.writeAt(8, "three", 5));
    CHECK(file.write("two "));
    CHECK(folder.list().find('a') != 0);
    CHECK(file.commit());
  }
  CHECK(content(path) == "one two three");
  CHECK(folder.list() == "a");
}

TEST_CASE("what is not committed leaves the old file and nothing else") {
  Folder folder;
  std::ofstream(folder / "a") << "old";
  {
    OutputFile file(folder / "a");
    CHECK(file.write("new"));
    CHECK(file.finish());
    CHECK(content(folder / "a") == "old");
  }
  CHECK(content(folder / "a") == "old");
  CHECK(folder.list() == "a");
}

TEST_CASE("the permissions are those of the old file, of a new one, or those asked for") {
  Folder folder;
  const mode_t mask = umask(027);
  std::string error;
  CHECK(writeWholeFile(folder / "new", "x", error));
  CHECK(modeOf(folder / "new") == 0640);
  chmod((folder / "new").c_str(), 0604);
  CHECK(writeWholeFile(folder / "new", "y", error));
  CHECK(modeOf(folder / "new") == 0604);
  {
    OutputFile file(folder / "key", {.mode = 0644});
    CHECK((file.write("k") && file.commit()));
  }
  CHECK(modeOf(folder / "key") == 0644);
  umask(mask);
}

TEST_CASE("a file that must not be replaced is not, even when it comes late") {
  Folder folder;
  OutputFile late(folder / "a", {.replace = false});
  CHECK(late.write("mine"));
  std::ofstream(folder / "a") << "theirs";
  CHECK_FALSE(late.commit());
  CHECK(late.errorLine().find("File exists") != std::string::npos);
  CHECK(content(folder / "a") == "theirs");
  OutputFile refused(folder / "a", {.replace = false});
  CHECK_FALSE(refused.isOpen());
  CHECK(folder.list() == "a");
}

TEST_CASE("links stay and lead to the new content") {
  Folder folder;
  std::string error;
  fs::create_directory(folder / "real");
  std::ofstream(folder / "real/a") << "old";
  fs::create_symlink("real/a", folder / "link");
  fs::create_symlink("link", folder / "second");
  fs::create_symlink("real/b", folder / "dangling");
  CHECK(writeWholeFile(folder / "second", "new", error));
  CHECK(writeWholeFile(folder / "dangling", "b", error));
  CHECK(fs::is_symlink(folder / "second"));
  CHECK(content(folder / "real/a") == "new");
  CHECK(content(folder / "real/b") == "b");
  fs::create_symlink("loop", folder / "loop");
  CHECK_FALSE(writeWholeFile(folder / "loop", "x", error));
  CHECK(error.find("E13004: ") == 0);
}

TEST_CASE("devices, pipes and descriptors are written directly") {
  Folder folder;
  std::string error;
  CHECK(writeWholeFile("/dev/null", "x", error));
  CHECK_FALSE(writeWholeFile("/dev/full", "x", error));
  CHECK(error == "E13004: cannot write '/dev/full': No space left on device.");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(writeWholeFile("/proc/self/fd/" + std::to_string(ends[1]), "through", error));
  char text[8] = "";
  CHECK(read(ends[0], text, 7) == 7);
  CHECK(std::string(text) == "through");
  close(ends[0]);
  close(ends[1]);
  // A file that the shell opened keeps its position, and so does the file that has no name.
  const int fd = open((folder / "shell").c_str(), O_RDWR | O_CREAT, 0600);
  struct stat before, after;
  fstat(fd, &before);
  CHECK(writeWholeFile("/proc/self/fd/" + std::to_string(fd), "seen", error));
  REQUIRE(stat((folder / "shell").c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(content(folder / "shell") == "seen");
  close(fd);
  CHECK(folder.list() == "shell");
}

TEST_CASE("paths that cannot be written are told") {
  Folder folder;
  fs::create_directory(folder / "d");
  std::string error;
  for (const auto &[path, reason] :
       {std::pair<std::string, std::string>(folder / "d", "Is a directory"),
        {folder / "none/a", "No such file or directory"},
        {"", "No such file or directory"}}) {
    CHECK_FALSE(writeWholeFile(path, "x", error));
    CHECK(error == "E13004: cannot write '" + path + "': " + reason + ".");
  }
  CHECK(folder.list() == "d");
}

TEST_CASE("pipes and devices cannot be written at an offset, and pipes need a reader") {
  Folder folder;
  {
    OutputFile file("/dev/full");
    REQUIRE(file.isOpen());
    CHECK_FALSE(file.setSize(8));
    CHECK_FALSE(file.writeAt(0, "abc", 3));
    CHECK(file.errorLine() == "E13004: cannot write '/dev/full': It is not a regular file.");
  }
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string error;
  CHECK_FALSE(writeWholeFile(pipe, "x", error));
  CHECK(error == "E13004: cannot write '" + pipe + "': No program reads from this pipe.");
  // A reader that comes late, and text beyond what a pipe holds.
  const std::string text(300'000, 'x');
  std::string got;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    got = content(pipe);
  });
  CHECK(writeWholeFile(pipe, text, error));
  reader.join();
  CHECK(got == text);
}

TEST_CASE("a file that may not grow is an error, and stays one") {
  Folder folder;
  std::ofstream(folder / "a") << "old";
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small = {1000, limit.rlim_max};
  auto before = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  {
    OutputFile file(folder / "a");
    CHECK_FALSE(file.write(std::string(5000, 'x')));
    CHECK(file.hasFailed());
    CHECK_FALSE(file.write("y"));
    CHECK_FALSE(file.setSize(1));
    CHECK_FALSE(file.commit());
    CHECK(file.reason() == std::strerror(EFBIG));
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  CHECK(content(folder / "a") == "old");
  CHECK(folder.list() == "a");
}

TEST_CASE("files that belong together come together") {
  Folder folder;
  std::ofstream(folder / "a") << "old";
  for (bool full : {true, false}) {
    std::vector<OutputFile> files;
    for (const char *name : {"a", "b"}) {
      files.emplace_back(folder / name);
      CHECK(files.back().write("new"));
    }
    files.emplace_back(full ? "/dev/full" : "/dev/null");
    files.back().write("x");
    CHECK(commitAll(files) == !full);
    CHECK(files.back().hasFailed() == full);
    files.clear();
    CHECK(content(folder / "a") == (full ? "old" : "new"));
    CHECK(folder.list() == (full ? "a" : "a b"));
  }
}

TEST_CASE("a pair that must not replace anything comes as a pair or not at all") {
  Folder folder;
  std::vector<OutputFile> files;
  for (const char *name : {"key", "key.pub"}) {
    files.push_back(OutputFile(folder / name, {.replace = false}));
    CHECK(files.back().write("mine"));
  }
  std::ofstream(folder / "key.pub") << "theirs";
  CHECK_FALSE(commitAll(files));
  files.clear();
  CHECK(folder.list() == "key.pub");
  CHECK(content(folder / "key.pub") == "theirs");
}

TEST_CASE("a file without a name can be read while it is there") {
  OutputFile file = OutputFile::unnamed();
  REQUIRE(file.isOpen());
  CHECK(file.writeAt(0, "abc", 3));
  CHECK(content(file.descriptorPath()) == "abc");
}

TEST_CASE("names as long as they may be leave room for the temporary one") {
  Folder folder;
  std::string error;
  const std::string path = folder / std::string(255, 'n');
  CHECK(writeWholeFile(path, "x", error));
  CHECK(writeWholeFile(path, "y", error));
  CHECK(content(path) == "y");
}
