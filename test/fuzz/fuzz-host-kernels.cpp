//===-- fuzz-host-kernels.cpp - hostile calls of every host kernel --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls kernels through their interface as a hostile model could make the runtime do
// it: any number of inputs, any dims, types and kinds, any attribute values of the types
// that the importer lets through, any elements. Half of the calls are made to meet the
// kernel's contract, so that what lies behind the check is reached as well.
//
//   fuzz-host-kernels [--calls N] [--seed S] [--kernel NAME] [--first I] [--limit SECONDS]
//                     [--reasons 1]
//
// --reasons 1 prints why calls were refused, which helps where a kernel never computes anything.
// Call I of a seed is the same wherever it runs: what is reported can be run again with
// `--kernel NAME --seed S --first I --calls 1`. Every buffer is as long as its elements,
// so AddressSanitizer sees the first byte behind it.

#include "test/fuzz/WatchedChild.h"
#include "test/fuzz/host/HostileCalls.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace atc;
using namespace atc::fuzz;

using kernels::native::Row;

namespace {

struct Options {
  uint64_t calls = 20000, seed = 1, first = 0;
  unsigned limit = 10; ///< seconds that a call may take
  bool reasons = false;
  const Row *only = nullptr;
};

/// Memory that the calling process shares with the process that monitors it.
struct Progress {
  uint64_t next; ///< the call that is running
  uint64_t computed, refused;
  uint64_t elements; ///< a checksum
  double longest;
  uint8_t ran[1024]; ///< a row has computed something
};

const Row &rowOf(const Options &options, uint64_t index) {
  const std::vector<Row> &rows = kernels::native::allRows();
  return options.only ? *options.only : rows[index % rows.size()];
}

void makeCall(const Options &options, uint64_t index, Progress &progress) {
  const Row &row = rowOf(options, index);
  HostileCall made;
  fillHostileCall(row, options.seed * 0x100000001B3u + index, made);
  FuzzCall call = {};
  call.host = &FuzzCall::services;
  call.inputCount = uint32_t(made.inputs.size());
  call.outputCount = std::min(1 + uint32_t(index % 4), row.maxResults());
  call.wanted = ~0u;
  call.inputs = made.inputs.data();
  call.attributeCount = uint32_t(made.attributes.size());
  call.attributes = made.attributes.data();
  call.made.resize(call.outputCount);
  call.onlyShapes = made.onlyShapes;
  const auto before = std::chrono::steady_clock::now();
  row.kernel(&call);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  progress.longest = std::max(progress.longest, took.count());
  if (!call.error.empty()) {
    ++progress.refused;
    if (options.reasons)
      std::printf("%s: %s\n", row.name, call.error.c_str());
    return;
  }
  ++progress.computed;
  progress.ran[&row - kernels::native::allRows().data()] = 1;
  for (const host::Value *value : call.made)
    if (!call.onlyShapes)
      progress.elements += readAll(value);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 0);
    if (flag == "--calls")
      options.calls = number;
    else if (flag == "--seed")
      options.seed = number;
    else if (flag == "--first")
      options.first = number;
    else if (flag == "--limit")
      options.limit = unsigned(number);
    else if (flag == "--reasons")
      options.reasons = number != 0;
    else if (flag == "--kernel")
      options.only = kernels::native::find(std::string_view(argv[i + 1]));
    if (flag == "--kernel" && !options.only) {
      std::fprintf(stderr, "there is no kernel '%s'\n", argv[i + 1]);
      return 2;
    }
  }
  const std::vector<Row> &rows = kernels::native::allRows();
  void *shared = sharedMemory(sizeof(Progress));
  if (!shared || rows.size() > sizeof(Progress::ran))
    return 2;
  Progress &progress = *static_cast<Progress *>(shared);
  progress.next = options.first;
  uint64_t findings = 0;
  auto failed = [&](uint64_t index, bool hung) {
    std::printf("%s: --kernel %s --seed %llu --first %llu --calls 1\n",
                hung ? "longer than the limit" : "crash", rowOf(options, index).name,
                static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(index));
    ++findings;
  };
  if (!runWatched(
          progress.next, options.first + options.calls, options.limit,
          [&](uint64_t index) { makeCall(options, index, progress); }, failed))
    return 2;
  // A kernel that no call reached past its contract is untested: report it.
  for (size_t i = 0; !options.only && options.calls >= 400 * rows.size() && i < rows.size(); ++i)
    if (!progress.ran[i])
      std::printf("never computed anything: %s\n", rows[i].name);
  std::printf(
      "host-kernels: %llu calls of %zu kernels, %llu computed, %llu refused, longest %.2f s, "
      "%llu findings\n",
      static_cast<unsigned long long>(options.calls), options.only ? 1 : rows.size(),
      static_cast<unsigned long long>(progress.computed),
      static_cast<unsigned long long>(progress.refused), progress.longest,
      static_cast<unsigned long long>(findings));
  return findings != 0;
}
