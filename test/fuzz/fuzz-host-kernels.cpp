//===-- fuzz-host-kernels.cpp - hostile calls of every host kernel --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls kernels through their interface as a hostile model could make the runtime do
// it: any number of inputs, any dims, types and kinds, any attribute values of the types
// that the importer lets through, any elements. Half of the calls are made to meet the
// kernel's contract, so that what lies behind the check is reached as well. A result must not
// depend on what its memory held before, or on what lies beside a buffer: some calls are made
// twice, with other bytes there.
//
//   fuzz-host-kernels [--calls N] [--seed S] [--kernel NAME] [--first I] [--limit SECONDS]
//                     [--reasons 1]
//
// --reasons 1 prints each call, and why it was refused, which helps where a kernel never computes
// anything.
// Call I of a seed is the same wherever it runs: what is reported can be run again with
// `--kernel NAME --seed S --first I --calls 1`. Every buffer is as long as its elements,
// so AddressSanitizer sees the first byte behind it. Without it, margins around each buffer show
// what is written there.

#include "test/fuzz/WatchedChild.h"
#include "test/fuzz/host/HostileCalls.h"

#include <algorithm>
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
  uint64_t unwritten; ///< calls with a result that depends on what its memory held before
  uint64_t digest;    ///< of all results and errors
  double longest;
  uint8_t ran[1024]; ///< a row has computed something
};

const Row &rowOf(const Options &options, uint64_t index) {
  const std::vector<Row> &rows = kernels::native::allRows();
  return options.only ? *options.only : rows[index % rows.size()];
}

/// Holds the outcome of a call.
struct Made {
  std::string error;
  uint64_t sum = 0; ///< of the bytes of all results
  double seconds = 0;
};

/// Prints element types and dims of the inputs, and the attributes that are numbers.
void print(const Row &row, const HostileCall &made) {
  std::printf("%s(", row.name);
  for (const host::Value *input : made.inputs) {
    std::printf(input ? " %d" : " -", input ? int(input->dtype) : 0);
    for (uint32_t d = 0; input && d < input->rank; ++d)
      std::printf("%s%lld", d ? "x" : ":", static_cast<long long>(input->dims[d]));
  }
  for (const host::Attribute &attribute : made.attributes) {
    std::printf(" %s=", attribute.name);
    for (uint64_t i = 0; i < attribute.count; ++i)
      if (attribute.kind == host::AttributeKind::Ints)
        std::printf("%lld,",
                    static_cast<long long>(static_cast<const int64_t *>(attribute.data)[i]));
      else if (attribute.kind == host::AttributeKind::Floats)
        std::printf("%g,", static_cast<const double *>(attribute.data)[i]);
  }
  std::printf(")\n");
}

Made call(const Row &row, const Options &options, uint64_t index, uint8_t fill) {
  HostileCall made;
  made.memory.fill = fill;
  fillHostileCall(row, options.seed * 0x100000001B3u + index, made);
  if (options.reasons)
    print(row, made);
  FuzzCall call = {};
  call.memory.fill = fill;
  call.host = &FuzzCall::services;
  call.inputCount = uint32_t(made.inputs.size());
  call.outputCount = std::min(1 + uint32_t(index % 4), row.maxResults());
  call.wanted = ~0u;
  call.inputs = made.inputs.data();
  call.attributeCount = uint32_t(made.attributes.size());
  call.attributes = made.attributes.data();
  call.made.resize(call.outputCount);
  call.onlyShapes = made.onlyShapes;
  row.kernel(&call);
  Made result;
  result.seconds = double(std::clock() - call.start) / CLOCKS_PER_SEC;
  result.error = call.error;
  for (const host::Value *value : call.made)
    if (call.error.empty() && !call.onlyShapes)
      result.sum += readAll(value);
  return result;
}

void makeCall(const Options &options, uint64_t index, Progress &progress) {
  const Row &row = rowOf(options, index);
  const Made made = call(row, options, index, 0);
  progress.longest = std::max(progress.longest, made.seconds);
  progress.digest = (progress.digest ^ made.sum ^ made.error.size()) * 0x100000001B3u;
  if (!made.error.empty()) {
    ++progress.refused;
    if (options.reasons)
      std::printf("%s: %s\n", row.name, made.error.c_str());
    return;
  }
  ++progress.computed;
  progress.ran[&row - kernels::native::allRows().data()] = 1;
  const bool isTwice = options.only || index / kernels::native::allRows().size() % 4 == 0;
  if (!isTwice || made.seconds > 1)
    return;
  const Made again = call(row, options, index, 0xA5);
  if (again.sum == made.sum && again.error.empty())
    return;
  ++progress.unwritten;
  std::printf("a result depends on what its memory held (%s): --kernel %s --seed %llu --first %llu "
              "--calls 1\n",
              again.error.empty() ? "other bytes" : again.error.c_str(), row.name,
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(index));
}

} // namespace

int main(int argc, char **argv) {
  // Lines of a process that crashes or ends are not lost.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
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
  findings += progress.unwritten;
  // A kernel that no call reached past its contract is untested: report it.
  for (size_t i = 0; !options.only && options.calls >= 400 * rows.size() && i < rows.size(); ++i)
    if (!progress.ran[i])
      std::printf("never computed anything: %s\n", rows[i].name);
  std::printf(
      "host-kernels: %llu calls of %zu kernels, %llu computed, %llu refused, longest %.2f s, "
      "digest %016llx, %llu findings\n",
      static_cast<unsigned long long>(options.calls), options.only ? 1 : rows.size(),
      static_cast<unsigned long long>(progress.computed),
      static_cast<unsigned long long>(progress.refused), progress.longest,
      static_cast<unsigned long long>(progress.digest), static_cast<unsigned long long>(findings));
  return findings != 0;
}
