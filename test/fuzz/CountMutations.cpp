//===-- CountMutations.cpp - so many mutations, and what became of them ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/CountMutations.h"

#include "test/fuzz/WatchedChild.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/// A target may know how to change its inputs so that they stay well formed.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                                size_t maxSize, unsigned seed);

/// The numbers of LLVMFuzzerMutate, which is given no seed: each mutation sets it, so that what it
/// does depends on its own number and not on those before it.
static std::minstd_rand byteRandom(1);

/// Stands in for libFuzzer's: flips, sets, inserts, removes and copies bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  std::minstd_rand &random = byteRandom;
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

/// The progress of a child process, in memory shared with its parent.
struct Progress {
  uint64_t next, accepted, refused;
  uint64_t digest;     ///< of all inputs and of what became of them
  double longest;      ///< seconds of the processor that a mutation took
  uint64_t longestOne; ///< its number
  size_t bytes;        ///< of the input at hand, which follows
};

double processorSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Writes an input and returns the path.
std::string saveInput(const CountOptions &options, const char *kind, uint64_t number,
                      const uint8_t *data, size_t size) {
  std::string path =
      options.folder + "/" + kind + std::to_string(options.seed) + "-" + std::to_string(number);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), std::streamsize(size));
  return path;
}

class Mutations {
public:
  Mutations(const std::vector<std::vector<uint8_t>> &corpus, const CountOptions &options,
            Progress &progress, uint8_t *input)
      : corpus(corpus), options(options), progress(progress), input(input) {}

  void run(uint64_t number) {
    std::minstd_rand random(unsigned((options.seed * 1000003 + number) % 2147483646 + 1));
    random.discard(2);
    // Half of the time one that was accepted is changed further.
    bool deeper = !found.empty() && random() % 2;
    const auto &list = deeper ? found : corpus;
    const std::vector<uint8_t> &source = list[random() % list.size()];
    size_t size = std::min(source.size(), options.maxBytes);
    std::copy_n(source.data(), size, input); // an empty source has no data
    byteRandom.seed(unsigned(random()));
    size = LLVMFuzzerCustomMutator
               ? LLVMFuzzerCustomMutator(input, size, options.maxBytes, unsigned(random()))
               : LLVMFuzzerMutate(input, size, options.maxBytes);
    progress.bytes = size;
    for (size_t i = 0; i < size; ++i)
      addToDigest(input[i]);
    const double before = processorSeconds();
    bool taken = LLVMFuzzerTestOneInput(input, size) == 0;
    const double took = processorSeconds() - before;
    if (took > progress.longest) {
      progress.longest = took;
      progress.longestOne = number;
    }
    if (options.slowMilliseconds && took * 1000 >= double(options.slowMilliseconds))
      saveInput(options, "slow-", number, input, size);
    addToDigest(taken);
    (taken ? progress.accepted : progress.refused) += 1;
    if (taken)
      keep(random());
  }

private:
  void addToDigest(uint8_t byte) { progress.digest = (progress.digest ^ byte) * 0x100000001B3u; }

  void keep(uint64_t number) {
    constexpr size_t kMaxKept = 512;
    std::vector<uint8_t> bytes(input, input + progress.bytes);
    if (found.size() < kMaxKept)
      found.push_back(std::move(bytes));
    else
      found[number % kMaxKept] = std::move(bytes);
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
  void *shared = sharedMemory(sizeof(Progress) + options.maxBytes);
  if (!shared)
    return 1;
  auto &progress = *static_cast<Progress *>(shared);
  uint8_t *input = static_cast<uint8_t *>(shared) + sizeof(Progress);
  uint64_t crashes = 0, hangs = 0;
  Mutations mutations(corpus, options, progress, input);
  auto failed = [&](uint64_t number, bool hung) {
    ++(hung ? hangs : crashes);
    std::string path = saveInput(options, hung ? "hang-" : "crash-", number, input, progress.bytes);
    std::printf("mutation %llu: %s\n", static_cast<unsigned long long>(number), path.c_str());
  };
  auto start = std::chrono::steady_clock::now();
  if (!runWatched(
          progress.next, options.mutations, options.secondsEach,
          [&](uint64_t number) { mutations.run(number); }, failed))
    return 1;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%llu mutations, accepted %llu, refused %llu, crashes %llu, hangs %llu, digest %016llx, "
      "longest %.2f s (mutation %llu), %.0f per second\n",
      number(options.mutations), number(progress.accepted), number(progress.refused),
      number(crashes), number(hangs), number(progress.digest), progress.longest,
      number(progress.longestOne), double(options.mutations) / seconds.count());
  return crashes || hangs;
}

} // namespace atc::fuzz
