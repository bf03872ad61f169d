//===-- CountMutations.cpp - so many mutations, and what became of them ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/CountMutations.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/// A target may know how to change its inputs so that they stay well formed.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                                size_t maxSize, unsigned seed);

/// Stands in for libFuzzer's: flips, sets, inserts, removes and copies bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  static std::minstd_rand random(1);
  auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  for (size_t changes = 1 + below(4); changes--;) {
    size_t at = below(size), kind = below(size ? 5 : 1);
    if (kind == 0 && size < maxSize) {
      std::memmove(data + at + 1, data + at, size - at);
      data[at] = uint8_t(random());
      ++size;
    } else if (kind == 1) {
      std::memmove(data + at, data + at + 1, size - at - 1);
      --size;
    } else if (kind == 2 && size) {
      data[at] ^= uint8_t(1 << below(8));
    } else if (kind == 3 && size) {
      data[at] = uint8_t(random());
    } else if (size) {
      size_t from = below(size), count = std::min({below(16) + 1, size - at, size - from});
      std::memmove(data + at, data + from, count);
    }
    if (!size)
      break;
  }
  return size;
}

namespace atc::fuzz {

namespace {

/// What a child has done so far, in memory that its parent sees.
struct Progress {
  uint64_t next, accepted, refused;
  size_t bytes; ///< of the input at hand, which follows
};

class Child {
public:
  Child(const std::vector<std::vector<uint8_t>> &corpus, const CountOptions &options,
        Progress &progress, uint8_t *input)
      : corpus(corpus), options(options), progress(progress), input(input) {}

  void run() {
    while (progress.next < options.mutations) {
      std::minstd_rand random(unsigned((options.seed * 1000003 + progress.next) % 2147483646 + 1));
      random.discard(2);
      // Half of the time one that was accepted is changed further.
      bool deeper = !found.empty() && random() % 2;
      const auto &list = deeper ? found : corpus;
      const std::vector<uint8_t> &source = list[random() % list.size()];
      size_t size = std::min(source.size(), options.maxBytes);
      std::memcpy(input, source.data(), size);
      size = LLVMFuzzerCustomMutator
                 ? LLVMFuzzerCustomMutator(input, size, options.maxBytes, unsigned(random()))
                 : LLVMFuzzerMutate(input, size, options.maxBytes);
      progress.bytes = size;
      alarm(options.secondsEach);
      bool taken = LLVMFuzzerTestOneInput(input, size) == 0;
      (taken ? progress.accepted : progress.refused) += 1;
      if (taken)
        keep(random());
      ++progress.next;
    }
  }

private:
  void keep(uint64_t number) {
    constexpr size_t kMost = 512;
    std::vector<uint8_t> bytes(input, input + progress.bytes);
    if (found.size() < kMost)
      found.push_back(std::move(bytes));
    else
      found[number % kMost] = std::move(bytes);
  }

  const std::vector<std::vector<uint8_t>> &corpus;
  const CountOptions &options;
  Progress &progress;
  uint8_t *input;
  std::vector<std::vector<uint8_t>> found;
};

} // namespace

int countMutations(const std::vector<std::vector<uint8_t>> &corpus, const CountOptions &options) {
  if (corpus.empty())
    return 1;
  void *shared = mmap(nullptr, sizeof(Progress) + options.maxBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 1;
  auto &progress = *static_cast<Progress *>(shared);
  progress = {};
  uint8_t *input = static_cast<uint8_t *>(shared) + sizeof(Progress);
  uint64_t crashes = 0, hangs = 0;
  auto start = std::chrono::steady_clock::now();
  while (progress.next < options.mutations) {
    std::fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
      return 1;
    if (pid == 0) {
      Child(corpus, options, progress, input).run();
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      continue;
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    ++(hung ? hangs : crashes);
    std::string path = options.folder + (hung ? "/hang-" : "/crash-") +
                       std::to_string(options.seed) + "-" + std::to_string(progress.next);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(input), std::streamsize(progress.bytes));
    std::printf("mutation %llu: %s\n", static_cast<unsigned long long>(progress.next),
                path.c_str());
    ++progress.next;
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%llu mutations, accepted %llu, refused %llu, crashes %llu, hangs %llu, %.0f per "
              "second\n",
              number(options.mutations), number(progress.accepted), number(progress.refused),
              number(crashes), number(hangs), double(options.mutations) / seconds.count());
  bool good = !crashes && !hangs && progress.accepted;
  munmap(shared, sizeof(Progress) + options.maxBytes);
  return good ? 0 : 1;
}

} // namespace atc::fuzz
