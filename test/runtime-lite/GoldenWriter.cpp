//===-- GoldenWriter.cpp - makes the golden file of the current schema ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run once when a schema version is released (golden/README.md):
//   runtime-golden-writer test/runtime-lite/golden/schema-<major>.<minor>.om
// With the word "gears" it is the model of schema 1.4, with "state" that of 1.5, with "rank" that
// of 1.6, with "parts" that of 1.8, and with "values" a model with values of all kinds, for tests
// in Python.

#include "backends/om/GearMerger.h"
#include "runtime-lite/src/Hash.h"
#include "test/npu/device/NpuTestModel.h"
#include "test/runtime-lite/FactsTestModel.h"
#include "test/runtime-lite/RankTestModel.h"
#include "test/runtime-lite/StateTestModel.h"

#include <cstdio>

/// The test model as the only gear of a model whose number of rows is dynamic.
static atc::om::OmModel goldenModel(const NpuTestModel &part, atc::om::GearMerger &merger) {
  merger.add(part.model, {NpuTestModel::rows});
  atc::om::OmGears gears;
  gears.kind = OM_GEARS_DIMS;
  gears.axes = {{false, 0, 0, 0}};
  atc::om::OmModel model = merger.take(std::move(gears));
  model.name = part.model.name;
  model.producer = part.model.producer;
  model.commandLine = part.model.commandLine;
  return model;
}

/// y = x + 1, twice = words behind themselves, longer = s and x, and what is given on.
static atc::om::OmModel valuesModel(HostTestModel &test) {
  const int32_t x = test.input("x", OM_F32, {-1, 3}), words = test.input("words", OM_STRING, {-1});
  const int32_t s = test.input("s", OM_F32, {}, OM_KIND_SEQUENCE);
  const int32_t m = test.input("m", OM_UNDEFINED, {}, OM_KIND_MAP);
  const int32_t half = test.input("half", OM_BF16, {-1});
  test.host().inputs[2].optional = test.host().inputs[3].optional = true;
  const int32_t nibbles = test.slot();
  test.constant<uint8_t>(nibbles, OM_I4, {3}, {0x21, 0x0F});
  test.output("y", test.make("host_add_one", {x}), OM_F32);
  test.output("twice", test.make("host_join", {words, words}), OM_STRING);
  test.output("longer", test.make("host_append", {s, x}), OM_F32, OM_KIND_SEQUENCE);
  test.output("map", test.make("host_forward", {m}), OM_UNDEFINED, OM_KIND_MAP, true);
  test.output("half", half, OM_BF16);
  test.output("nibbles", nibbles, OM_I4);
  return test.model;
}

int main(int argc, char **argv) {
  const std::string kind = argc == 3 ? argv[2] : "";
  const bool asksForHelp = argc == 2 && argv[1] == std::string("--help");
  // What begins with a dash is an option, of which --help is the only one, and no file.
  if (argc < 2 || argc > 3 || argv[1][0] == '-' ||
      (argc == 3 && kind != "gears" && kind != "state" && kind != "rank" && kind != "parts" &&
       kind != "values")) {
    std::fprintf(asksForHelp ? stdout : stderr,
                 "usage: %s <file.om> [gears|state|rank|parts|values]\n", argv[0]);
    return asksForHelp ? 0 : 1;
  }
  KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  HostTestModel test(image); // has the bytes that the model points at
  NpuTestModel part(image);
  atc::om::GearMerger merger;
  const HostTestModel state = cacheModel(image), rank = gatherModel(image);
  HostTestModel facts = factsModel(image);
  const std::vector<atc::om::InitialState> first = {
      atc::om::InitialState::ofFloats("state", {5, 6, 7})};
  const HostTestModel initial = countingModel(image, first);
  // Weights that nothing reads, and that are hashed in parts for their size.
  std::vector<char> weights(5 * atc::rt::hashPartBytes - 64);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<char>(i / 512);
  facts.model.weights.push_back({weights.data(), weights.size(), 0});
  const atc::om::OmModel model = kind == "values"  ? valuesModel(test)
                                 : kind == "gears" ? goldenModel(part, merger)
                                 : kind == "state" ? state.model
                                 : kind == "rank"  ? rank.model
                                 : kind == "parts" ? facts.model
                                                   : initial.model;
  std::string error;
  if (atc::om::writeOm(model, argv[1], error))
    return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  return 1;
}
