//===-- PrebuildKernels.cpp - makes the objects of common host kernels ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of the build:
//
//   prebuild-kernels <levels> <objects> <table> <folder>
//
// writes the objects of the rows of CommonKernels.def for the plain level of each of the levels
// ("v3,v4"; "host" is that of this machine, "none" is no level), one behind the other, and a table
// of them that PrebuiltKernels.cpp includes. The folder keeps objects from one build to the next.

#include "backends/cpu/CodeGenerator.h"
#include "backends/cpu/CommonKernels.h"
#include "backends/cpu/HostKernelEmitter.h"
#include "support/OutputStream.h"

#include <llvm/ADT/SetVector.h>

#include <cstdio>
#include <thread>

using namespace llvm;
using namespace atc;

namespace {

int fail(const std::string &text) {
  std::fprintf(stderr, "prebuild-kernels: %s\n", text.c_str());
  return 1;
}

struct Job {
  const cpu::CommonKernel *kernel;
  const cpu::CpuLevel *level;
  cpu::Object object;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 5)
    return fail("expected <levels> <objects> <table> <folder>");
  std::vector<cpu::CpuLevel> levels;
  if (StringRef(argv[1]) != "none") {
    auto parsed = cpu::parseCpuLevels(argv[1]);
    if (!parsed)
      return fail(toString(parsed.takeError()));
    levels = std::move(*parsed);
  }
  SetVector<const cpu::CpuLevel *> plain;
  for (const cpu::CpuLevel &level : levels)
    plain.insert(&level.plain());
  std::vector<Job> jobs;
  for (const cpu::CpuLevel *level : plain)
    for (const cpu::CommonKernel &kernel : cpu::commonKernels())
      jobs.push_back({&kernel, level, {}});
  const cpu::ObjectCache cache({.folder = argv[4], .maxBytes = uint64_t(64) << 20});
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  if (Error error = cpu::forEachInParallel(jobs.size(), threads, [&](size_t i) -> Error {
        Job &job = jobs[i];
        auto object = cpu::emitHostKernel(job.kernel->symbol, job.kernel->types, *job.level,
                                          /*tempDir=*/{}, &cache);
        if (!object)
          return object.takeError();
        job.object = std::move(*object);
        return Error::success();
      }))
    return fail(toString(std::move(error)));
  cache.prune();

  // Objects have sections that are aligned.
  constexpr uint64_t alignment = 16;
  std::string bytes, table;
  for (const Job &job : jobs) {
    bytes.resize(alignTo(bytes.size(), alignment));
    table += ("PREBUILT(\"" + job.kernel->symbol + "\", \"" + job.level->name + "\", " +
              Twine(job.kernel->types) + "u, " + Twine(bytes.size()) + ", " +
              Twine(job.object.size()) + ")\n")
                 .str();
    bytes.append(job.object.begin(), job.object.end());
  }
  std::string error;
  if (!writeStream(
          argv[2], [&](raw_ostream &os) { os << bytes; }, error) ||
      !writeStream(argv[3], [&](raw_ostream &os) { os << table; }, error))
    return fail(error);
  return 0;
}
