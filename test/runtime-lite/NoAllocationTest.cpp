//===-- NoAllocationTest.cpp - a run asks for no memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's allocation functions, and with them operator new, are replaced
// by ones that count. A program of its own, so that nothing else is counted.

#include "openatc/om.hpp"
#include "test/runtime-lite/GearTestModel.h"

#include <atomic>
#include <cerrno>
#include <cstdio>

static std::atomic<long> allocations{0};

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes) {
  ++allocations;
  return __libc_calloc(n, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  ++allocations;
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
}

/// Runs a model with gears, padded and not, and returns the allocations of the runs; -1 where
/// one fails.
static long runGears(const KernelImage &image) {
  GearTestModel source(image);
  om::Error error;
  om::Model model = om::Model::loadFile(
      writeModel(source.merge(OM_GEARS_RANGE), "no-allocation-gears.om"), error);
  om::Session session(model, error);
  if (!session)
    return -1;
  om::Buffer x(2 * 4 * 48 * 4), y(2 * 4 * 48 * 4);
  const void *inputs[] = {x.data()};
  void *outputs[] = {y.data()};
  const std::vector<int64_t> sizes[] = {{1}, {3}, {4}};
  const long before = allocations;
  for (int i = 0; i < 30; ++i)
    if (!session.setGear(sizes[i % 3], error) || !session.run(inputs, outputs, error))
      return -1;
  return allocations - before;
}

int main() {
  KernelImage code = readKernelImage(OPENATC_TEST_KERNELS);
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "no-allocation.om"), error);
  if (!model) {
    std::printf("cannot load: %s\n", error.message());
    return 1;
  }
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = 3;
  long before = allocations;
  om::Session session(model, error, options);
  if (!session || allocations == before) {
    std::printf("the counter does not see what a session allocates: %s\n", error.message());
    return 1;
  }
  om::Buffer x(64 * 48 * 4), sums(64 * 4), picks(60 * 4);
  const void *inputs[] = {x.data()};
  void *outputs[] = {sums.data(), picks.data()};

  before = allocations;
  for (int i = 0; i < 100; ++i) {
    om_session_set_profile(session.get(), i % 2);
    if (!session.run(inputs, outputs, error))
      return 1;
  }
  long during = allocations - before;
  std::printf("{\"runs\": 100, \"allocations\": %ld}\n", during);
  const long withGears = runGears(code);
  std::printf("{\"runs\": 30, \"gears\": 2, \"allocations\": %ld}\n", withGears);
  return during == 0 && withGears == 0 ? 0 : 1;
}
