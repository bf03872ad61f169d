//===-- NoAllocationTest.cpp - a run asks for no memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's allocation functions, and with them operator new, are replaced
// by ones that count. A program of its own, so that nothing else is counted.
//
//   runtime-no-allocation-test                      tests small models
//   runtime-no-allocation-test MODEL.om 1x3x8x8 ... counts for a model, one shape per input

#include "openatc/om.hpp"
#include "test/runtime-lite/GearTestModel.h"
#include "test/runtime-lite/HostTestModel.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

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

/// The allocations of runs of a dynamic schedule; -1 where a run fails.
struct DynamicRuns {
  long first = 0;  ///< of the first run
  long second = 0; ///< of the second one
  long later = 0;  ///< of each later one; -1 where one has not as many as expected
};

/// Runs a dynamic schedule of `calls` calls on vectors of these sizes, one after the other. Without
/// `releases` all results of a run are in memory at its end.
static DynamicRuns runDynamic(const KernelImage &image, int calls, std::vector<int64_t> sizes,
                              bool releases = true, long expected = 2) {
  HostTestModel source(image);
  int32_t value = source.input("x", OM_F32, {-1});
  for (int i = 0; i < calls; ++i) {
    const int32_t next = source.make("host_add_one", {value});
    if (i && releases)
      source.release({value});
    value = next;
  }
  source.output("y", value, OM_F32);
  om::Error error;
  om::Model model =
      om::Model::loadFile(writeModel(source.model, "no-allocation-dynamic.om"), error);
  om::Session session(model, error);
  std::vector<om_value *> inputs;
  for (int64_t size : sizes)
    if (om_value_create_tensor(OM_F32, 1, &size, nullptr, &inputs.emplace_back(), nullptr) != OM_OK)
      return {-1, -1, -1};
  DynamicRuns runs;
  const int known = static_cast<int>(sizes.size());
  for (int run = 0; run < 4 + 2 * known; ++run) {
    const long before = allocations;
    om_value *output = nullptr;
    const om_value *input = inputs[run % known];
    if (!session || om_session_run_values(session.get(), &input, &output, nullptr) != OM_OK)
      return {-1, -1, -1};
    om_value_release(output);
    const long made = allocations - before;
    (run == 0 ? runs.first : run == 1 ? runs.second : runs.later) = made;
    if (run > known && made != expected)
      runs.later = -1;
    if (runs.later < 0)
      break;
  }
  for (om_value *input : inputs)
    om_value_release(input);
  return runs;
}

/// The dims of a shape such as "1x3x8x8"; "-" is that of a scalar.
static std::vector<int64_t> parseShape(const char *text) {
  std::vector<int64_t> dims;
  if (std::strcmp(text, "-") == 0)
    return dims;
  for (char *end = nullptr;; text = end + 1) {
    dims.push_back(std::strtoll(text, &end, 10));
    if (*end != 'x')
      return dims;
  }
}

/// Runs a model on zeros of these shapes and prints the allocations of each run, without the
/// memory of its outputs: each is the caller's, and has a description and its elements.
static int countForModel(const char *path, char **shapes, int given) {
  om::Error error;
  om::Model model = om::Model::loadFile(path, error);
  om::Session session(model, error);
  if (!session) {
    std::printf("%s: %s\n", path, error.message());
    return 1;
  }
  om_model_info counts = OM_MODEL_INFO_INIT;
  om_model_get_info(model.get(), &counts);
  if (given != static_cast<int>(counts.inputs)) {
    std::printf("%s has %u inputs, %d shapes are given\n", path, counts.inputs, given);
    return 1;
  }
  std::vector<om_value *> inputs(given, nullptr);
  std::vector<om_value *> outputs(counts.outputs, nullptr);
  for (int i = 0; i < given; ++i) {
    om_tensor_info info = OM_TENSOR_INFO_INIT;
    const std::vector<int64_t> dims = parseShape(shapes[i]);
    if (om_model_get_input(model.get(), i, &info) != OM_OK ||
        om_value_create_tensor(info.dtype, static_cast<uint32_t>(dims.size()), dims.data(), nullptr,
                               &inputs[i], &error.c) != OM_OK) {
      std::printf("input %d: %s\n", i, error.message());
      return 1;
    }
  }
  std::printf("{\"allocations\": [");
  for (int run = 0; run < 8; ++run) {
    const long before = allocations;
    if (om_session_run_values(session.get(), inputs.data(), outputs.data(), &error.c) != OM_OK) {
      std::printf("]}\n%s\n", error.message());
      return 1;
    }
    const long made = allocations - before - 2 * static_cast<long>(outputs.size());
    std::printf("%s%ld", run ? ", " : "", made > 0 ? made : 0);
    for (om_value *output : outputs)
      om_value_release(output);
  }
  std::printf("]}\n");
  for (om_value *input : inputs)
    om_value_release(input);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return countForModel(argv[1], argv + 2, argc - 2);
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
  // An output is the caller's: its description and its elements.
  const long few = runDynamic(code, 2, {3, 700, 9000}).later;
  const long many = runDynamic(code, 40, {3, 700, 9000}).later;
  std::printf("{\"dynamic calls\": [2, 40], \"allocations per run\": [%ld, %ld]}\n", few, many);
  // Memory of a run stays, however much it is, here 168 MB, and the elements of a large output are
  // those of the one before it, which the caller has released.
  const long large = runDynamic(code, 7, {6 << 20}, /*releases=*/false, /*expected=*/1).later;
  std::printf("{\"dynamic bytes\": 176160768, \"allocations per run\": %ld}\n", large);
  // A run on a smaller shape uses blocks of a larger one; only its output is of its own size.
  const DynamicRuns smaller = runDynamic(code, 7, {200000, 60000}, /*releases=*/false);
  std::printf("{\"allocations at a larger shape\": %ld, \"then at a smaller one\": %ld}\n",
              smaller.first, smaller.second);
  return during == 0 && withGears == 0 && few == 2 && many == 2 && large == 1 &&
                 smaller.first > 7 && smaller.second == 2
             ? 0
             : 1;
}
