//===-- FatalErrors.cpp - reports fatal errors of a tool ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This code runs when no memory can be allocated any more: texts are composed in buffers of fixed
// size and written without streams.

#include "tools/common/FatalErrors.h"

#include "tools/common/MemoryLimit.h"
#include "tools/common/OutputFolder.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace atc::tools {

namespace {

int output = 2;
const char *heading = "";
std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
std::atomic<bool> isInstalled = false;
/// The lowest address of the main thread's stack so far; the stack may grow below it.
uintptr_t stackEnd = 0;

void writeAll(const char *text, size_t size) {
  while (size) {
    const ssize_t written = write(output, text, size);
    if (written <= 0)
      return;
    text += written;
    size -= size_t(written);
  }
}

[[noreturn]] void end(const char *code, const char *text) {
  // If several threads fail at the same time, only the first one reports.
  while (isEnding.test_and_set())
    pause();
  char line[1024];
  const int size = std::snprintf(line, sizeof(line), "%s%s: %s", heading, code, text);
  const size_t shown = std::clamp<size_t>(size, 0, sizeof(line) - 2);
  // Texts of others may have several lines.
  const size_t fixed = std::strlen(heading);
  for (size_t i = std::min(fixed, shown); i < shown; ++i)
    if (static_cast<unsigned char>(line[i]) < 0x20)
      line[i] = ' ';
  line[shown] = '\n';
  writeAll(line, shown + 1);
  removeUnusedFolders();
  _exit(1);
}

[[noreturn]] void endWithoutMemory() {
  // The system does not say which limit was hit; the lowest one is reported.
  char text[256], limit[96] = "the system has";
  auto say = [&](uint64_t bytes, const char *whose) {
    const bool isSmall = bytes < 1 << 29;
    std::snprintf(limit, sizeof(limit), "the %.1f%c that %s",
                  double(bytes) / double(isSmall ? 1 << 20 : 1 << 30), isSmall ? 'M' : 'G', whose);
  };
  uint64_t min = memoryLimit();
  if (min != kNoMemoryLimit)
    say(min, "--max_memory allows");
  for (auto [resource, whose] :
       {std::pair(RLIMIT_AS, "ulimit -v allows"), std::pair(RLIMIT_DATA, "ulimit -d allows")})
    if (rlimit other{}; getrlimit(resource, &other) == 0 && other.rlim_cur < min) {
      min = other.rlim_cur;
      say(min, whose);
    }
  std::snprintf(text, sizeof(text),
                "not enough memory: this model needs more than %s; allow more, or make the model "
                "smaller",
                limit);
  end("E19001", text);
}

void endWithoutMemoryForLLVM(void *, const char *, bool) { endWithoutMemory(); }

/// Returns whether an error is about memory; a thread whose stack cannot be allocated reports
/// EAGAIN.
bool isAboutMemory(const char *reason) {
  for (int code : {ENOMEM, EAGAIN})
    if (std::strstr(reason, std::strerror(code)))
      return true;
  return false;
}

void endForLLVM(void *, const char *reason, bool) {
  if (isAboutMemory(reason))
    endWithoutMemory();
  char text[768];
  std::snprintf(text, sizeof(text), "the compiler gave up: %s; please report this model", reason);
  end("E19999", text);
}

[[noreturn]] void endUnhandled() {
  char text[768] = "the compiler gave up; please report this model";
  if (std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc &) {
      endWithoutMemory();
    } catch (const std::exception &error) {
      if (isAboutMemory(error.what()))
        endWithoutMemory();
      std::snprintf(text, sizeof(text), "the compiler gave up: %s; please report this model",
                    error.what());
    } catch (...) { // NOLINT(bugprone-empty-catch): the text says what is known
    }
  }
  end("E19999", text);
}

/// Handles a segmentation fault close to the stack pointer of the main thread, below the limit of
/// the stack, which means that the stack is full. Other errors are left to the default handler.
void onSegmentationFault(int signal, siginfo_t *info, void *) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  constexpr uintptr_t reach = 1 << 20;
  if (info->si_code > 0 && address < stackEnd + reach && address + reach > stackEnd)
    end("E19002", "the model is nested too deep: what works on it ran out of stack; put fewer "
                  "things inside each other, or raise the limit (ulimit -s)");
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void watchStack() {
  pthread_attr_t attributes;
  void *lowest = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  stackEnd = reinterpret_cast<uintptr_t>(lowest);

  // The handler needs a stack of its own.
  static char memory[64 << 10];
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  struct sigaction action{};
  action.sa_sigaction = onSegmentationFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaltstack(&stack, nullptr) == 0)
    sigaction(SIGSEGV, &action, nullptr);
}

} // namespace

void installFatalErrorHandlers(int descriptor, const char *before) {
  output = descriptor;
  heading = before;
  isInstalled = true;
  std::set_new_handler(endWithoutMemory);
  std::set_terminate(endUnhandled);
  llvm::install_bad_alloc_error_handler(endWithoutMemoryForLLVM);
  llvm::install_fatal_error_handler(endForLLVM);
  watchStack();
}

} // namespace atc::tools

// MLIR and C libraries do not check the result of malloc. In a program that links this file they
// get memory, or the program ends as it does when `new` fails.
#if defined(__GLIBC__) && !defined(OPENATC_TOOLS_SANITIZED)
extern "C" {

void *__libc_malloc(size_t size) noexcept;
void *__libc_calloc(size_t count, size_t size) noexcept;
void *__libc_realloc(void *memory, size_t size) noexcept;

static void *checked(void *memory, size_t size) {
  if (!memory && size != 0 && atc::tools::isInstalled)
    atc::tools::endWithoutMemory();
  return memory;
}

void *malloc(size_t size) noexcept { return checked(__libc_malloc(size), 1); }
void *calloc(size_t count, size_t size) noexcept {
  return checked(__libc_calloc(count, size), count * size);
}
void *realloc(void *memory, size_t size) noexcept {
  return checked(__libc_realloc(memory, size), size);
}
}
#endif
