//===-- InterruptionTest.cpp - how a tool ends after signals and faults ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/Interruption.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace atc;

namespace {

struct Ended {
  int status;
  std::string errors;
  int files; ///< that are left of those with a cleanup
};

/// Memory of a file, "mapped", that has become shorter.
const volatile char *shortened() {
  const int fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (ftruncate(fd, 1 << 20) != 0)
    _exit(99);
  void *bytes = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED || ftruncate(fd, 0) != 0)
    _exit(99);
  return static_cast<const volatile char *>(bytes);
}

/// Runs `body` as a tool of its own, with 40 files that are to be removed at its end.
template <typename Body> Ended ended(Body body) {
  char path[] = "/tmp/openatc-interruption-XXXXXX";
  REQUIRE(mkdtemp(path));
  const std::string folder = path;
  const pid_t child = fork();
  if (child == 0) {
    const int errors = open((folder + "/errors").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (chdir(path) != 0 || dup2(errors, STDERR_FILENO) < 0)
      _exit(99);
    alarm(30); // a tool that waits forever fails the test
    endInOrder("tested");
    std::vector<std::unique_ptr<CleanupOnSignal>> cleanups;
    for (int i = 0; i < 40; ++i) {
      const std::string name = "part" + std::to_string(i);
      close(open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      cleanups.push_back(std::make_unique<CleanupOnSignal>([name] { unlink(name.c_str()); }));
    }
    body();
    _exit(98);
  }
  Ended result = {};
  REQUIRE(waitpid(child, &result.status, 0) == child);
  std::ifstream file(folder + "/errors");
  result.errors.assign(std::istreambuf_iterator<char>(file), {});
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    result.files += entry.path().filename().string().starts_with("part");
  std::filesystem::remove_all(folder);
  return result;
}

/// Calls `body` in four threads at the same time.
template <typename Body> void inThreads(Body body) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&ready, &body, i] {
      for (++ready; ready < 4;) {
      }
      body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

bool isOneLine(const std::string &text, const std::string &begin) {
  return text.starts_with(begin) && text.find('\n') == text.size() - 1;
}

} // namespace

TEST_CASE("several threads that fault end a tool once, with its files removed") {
  for (int times = 0; times < 20; ++times) {
    const Ended tool = ended([] {
      const volatile char *bytes = shortened();
      inThreads([bytes](int i) { (void)bytes[4096 * i]; });
    });
    INFO(tool.errors);
    CHECK((WIFEXITED(tool.status) && WEXITSTATUS(tool.status) == 1));
    CHECK(isOneLine(tool.errors, "E13003: tested cannot read '/"));
    CHECK(tool.errors.find("/mapped' to its end: ") != std::string::npos);
    CHECK(tool.files == 0);
  }
}

TEST_CASE("exceptions of several threads end a tool once, with its files removed") {
  for (int times = 0; times < 20; ++times) {
    const Ended tool = ended([] { inThreads([](int) { throw 1; }); });
    INFO(tool.errors);
    CHECK((WIFEXITED(tool.status) && WEXITSTATUS(tool.status) == 1));
    CHECK(isOneLine(tool.errors, "E19999: tested gave up"));
    CHECK(tool.files == 0);
  }
}

TEST_CASE("a thread that faults does not cut the end by a signal short") {
  for (int times = 0; times < 20; ++times) {
    const Ended tool = ended([] {
      const volatile char *bytes = shortened();
      inThreads([bytes](int i) {
        if (i == 0)
          kill(getpid(), SIGTERM);
        else
          (void)bytes[4096 * i];
      });
    });
    INFO(tool.errors);
    CHECK(isOneLine(tool.errors, "E1"));
    CHECK(tool.files == 0);
  }
}

TEST_CASE("a thread that faults while it puts signals off ends the tool") {
  const Ended alone = ended([] {
    const volatile char *bytes = shortened();
    const SignalsPutOff putOff;
    (void)bytes[0];
  });
  CHECK((WIFEXITED(alone.status) && WEXITSTATUS(alone.status) == 1));
  CHECK(isOneLine(alone.errors, "E13003: "));
  const Ended afterSignal = ended([] {
    const volatile char *bytes = shortened();
    const SignalsPutOff putOff;
    kill(getpid(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (void)bytes[0];
  });
  CHECK((WIFEXITED(afterSignal.status) && WEXITSTATUS(afterSignal.status) == 1));
  CHECK(isOneLine(afterSignal.errors, "E13003: "));
}

#ifdef __linux__
TEST_CASE("a crash of the tool is not taken for a bad file") {
  // What the processor raises for an address that is not aligned, and what another program sends.
  for (int code : {int(BUS_ADRALN), int(SI_QUEUE)}) {
    const Ended tool = ended([code] {
      siginfo_t info = {};
      info.si_signo = SIGBUS;
      info.si_code = code;
      syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGBUS, &info);
      raise(SIGBUS); // as the instruction at fault does, which is tried again
    });
    CHECK((WIFSIGNALED(tool.status) && WTERMSIG(tool.status) == SIGBUS));
    CHECK(tool.errors.empty());
  }
}
#endif
