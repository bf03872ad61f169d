//===-- FormatTest.cpp - what the writer writes, the loader reads ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"
#include "test/runtime-lite/GoldenFile.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <limits>

using atc::om::OmModel;

static KernelImage image() { return readKernelImage(OPENATC_TEST_KERNELS); }

TEST_CASE("the hash is XXH64") {
  CHECK(atc::rt::hash64("", 0) == 0xEF46DB3751D8E999u);
  CHECK(atc::rt::hash64("abc", 3) == 0x44BC2CF5AD770999u);
  // In pieces it is the same as at once, whatever the pieces.
  std::vector<char> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 37);
  for (size_t step : {1, 5, 31, 32, 33, 100}) {
    atc::rt::Hash64 hash;
    for (size_t at = 0; at < bytes.size(); at += step)
      hash.update(bytes.data() + at, std::min(step, bytes.size() - at));
    CHECK(hash.digest() == atc::rt::hash64(bytes.data(), bytes.size()));
  }
}

TEST_CASE("the hash of parts is the sum of those of the parts with their numbers") {
  constexpr uint64_t part = atc::rt::hashPartBytes;
  std::vector<char> bytes(2 * part + 100);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 37 + i / 256);
  uint64_t sums[4] = {};
  for (uint64_t i = 0; i < 3; ++i) {
    std::vector<char> numbered(bytes.begin() + i * part,
                               bytes.begin() + std::min<size_t>((i + 1) * part, bytes.size()));
    const auto *number = reinterpret_cast<const char *>(&i);
    numbered.insert(numbered.end(), number, number + 8);
    sums[i + 1] = sums[i] + atc::rt::hash64(numbered.data(), numbered.size());
  }
  CHECK(atc::rt::countHashParts(bytes.size()) == 3);
  CHECK(atc::rt::countHashParts(2 * part) == 2);
  for (uint64_t begin = 0; begin <= 3; ++begin)
    for (uint64_t end = begin; end <= 3; ++end)
      CHECK(atc::rt::hashParts(bytes.data(), bytes.size(), begin, end) == sums[end] - sums[begin]);
}

TEST_CASE("groups of parts have the hashes of single ones") {
  if (!atc::rt::canHashWide())
    return;
  constexpr uint64_t part = atc::rt::hashPartBytes, group = atc::rt::hashGroupParts;
  for (uint64_t bytes : {group * part, group * part + 5, (2 * group + 3) * part + 100, part, 7ul}) {
    // Addresses are multiples of eight alone.
    std::vector<char> memory(bytes + 8);
    const char *data = memory.data() + 8;
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<char>(i * 37 + i / 256 + i / 65521);
    const uint64_t parts = atc::rt::countHashParts(bytes);
    for (uint64_t begin = 0; begin <= parts; ++begin)
      for (uint64_t end :
           {begin, std::min(begin + group, parts), std::min(begin + 9, parts), parts})
        CHECK(atc::rt::hashPartsWide(data, bytes, begin, end) ==
              atc::rt::hashParts(data, bytes, begin, end));
  }
}

TEST_CASE("a written model is read back as it was described") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "format.om"), error);
  INFO(error.message());
  REQUIRE(model);

  om_model_info info = model.info();
  CHECK(std::string(info.name) == "test");
  CHECK(std::string(info.producer) == "OpenATC test");
  CHECK(std::string(info.command_line) == test.model.commandLine);
  CHECK(std::string(info.target) == "cpu");
  CHECK(std::string(info.cpu_level) == "x86-64");
  CHECK(info.schema_major == OM_SCHEMA_MAJOR);
  CHECK(info.inputs == 1);
  CHECK(info.outputs == 2);
  CHECK(info.launches == 4);
  CHECK(info.arena_bytes == test.model.arenaSize);
  CHECK(info.weights_bytes == 256 + 192);
  CHECK(info.code_bytes == code.bytes.size());

  om::Tensor x = model.input(0);
  CHECK(x.name == "x");
  CHECK(x.dtype == OM_F32);
  CHECK(x.dims == std::vector<int64_t>{64, 48});
  CHECK(x.bytes == 64 * 48 * 4);
  CHECK(x.space == OM_INPUT);
  CHECK(model.outputs().at(1).name == "picked/relu");
  CHECK(model.tensor(TestModel::Packed).block == 4);
  CHECK(model.tensor(TestModel::Packed).elements == 60);

  om::Launch launch = model.launch(0);
  CHECK(launch.name == "scale");
  CHECK(launch.kernel == "scale_rows");
  CHECK(launch.tasks == 64);
  CHECK(launch.cost == 100000);
  CHECK(launch.reads == std::vector<uint32_t>{TestModel::X, TestModel::Scale});
  CHECK(launch.writes == std::vector<uint32_t>{TestModel::Y});

  om_tensor_info none = OM_TENSOR_INFO_INIT;
  CHECK(om_model_get_input(model.get(), 1, &none) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_tensor(model.get(), 100, &none) == OM_ERROR_ARGUMENT);
}

TEST_CASE("an older program gets as much of an answer as it has room for") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "older.om"), error);
  REQUIRE(model);
  om_model_info info;
  std::memset(static_cast<void *>(&info), 0x5A, sizeof(info));
  info.struct_size = offsetof(om_model_info, producer);
  CHECK(om_model_get_info(model.get(), &info) == OM_OK);
  CHECK(std::string(info.name) == "test");
  CHECK(reinterpret_cast<uintptr_t>(info.producer) == 0x5A5A5A5A5A5A5A5Au);
}

TEST_CASE("a file gets its bytes where the format says") {
  KernelImage code = image();
  TestModel test(code);
  std::vector<char> file = readBytes(writeModel(test.model, "bytes.om"));
  REQUIRE(file.size() > 8192);
  CHECK(std::string(file.data() + 8, 4) == "OATC");
  // The weights segment is first, on a page of its own.
  float value;
  std::memcpy(&value, file.data() + 4096 + 4, 4);
  CHECK(value == test.scale[1]);
  std::memcpy(&value, file.data() + 4096 + 256 + 4, 4);
  CHECK(value == test.bias[1]);
  CHECK(std::memcmp(file.data() + 8192, code.bytes.data(), code.bytes.size()) == 0);
}

TEST_CASE("dense strides follow the stored order") {
  using atc::om::denseStrides;
  CHECK(denseStrides({}, 0).empty());
  CHECK(denseStrides({2, 3, 4}, 0) == std::vector<int64_t>{12, 4, 1});
  CHECK(denseStrides({1, 5, 3, 4}, 8) == std::vector<int64_t>{96, 96, 32, 8, 1});
  CHECK(denseStrides({2, 17, 3}, 16) == std::vector<int64_t>{96, 48, 16, 1});
}

TEST_CASE("a model that the loader would refuse is not written") {
  const KernelImage image = ::image();
  std::string error, path = scratchPath("refused.om");
  auto refused = [&](auto change, const char *code = "E19999: ") {
    TestModel test(image);
    change(test.model);
    bool written = atc::om::writeOm(test.model, path, error);
    std::ifstream left(path);
    return !written && !left.good() && error.rfind(code, 0) == 0;
  };
  CHECK(refused([](OmModel &m) { m.schedule[0].args[3].offset = m.arenaSize; }));
  CHECK(refused([](OmModel &m) { m.schedule[0].args[1].size = 1 << 20; }));
  CHECK(refused([](OmModel &m) { m.schedule[0].args[0].index = 1; }));
  CHECK(refused([](OmModel &m) { m.schedule[1].kernel = 4; }));
  CHECK(refused([](OmModel &m) { m.schedule[1].writes = {6}; }));
  CHECK(refused([](OmModel &m) { m.inputs = {6}; }));
  CHECK(refused([](OmModel &m) { m.inputs = {TestModel::Y}; }));
  CHECK(refused([](OmModel &m) { m.images[0].entries.pop_back(); }));
  CHECK(refused([](OmModel &m) { m.images[0].entries[0] = m.images[0].codeSize; }));
  CHECK(refused([](OmModel &m) { m.images[0].tasks[0] = 0; }));
  CHECK(refused([](OmModel &m) { m.images[0].codeSize = 0; }));
  CHECK(refused([](OmModel &m) { m.weights[0].offset = 100; }));
  CHECK(refused([](OmModel &m) { m.weights[0].offset = 64; }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Packed].strides[1] = 1000; }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Packed].strides.pop_back(); }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Y].dims = {-1, 4}; }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Y].dtype = OM_STRING; }));
  CHECK(refused(
      [](OmModel &m) { m.tensors[TestModel::Y].dims = {std::numeric_limits<int64_t>::max(), 4}; }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Y].dims.assign(OM_MAX_RANK + 1, 1); }));
  CHECK(refused([](OmModel &m) { m.tensors[TestModel::Y].place.offset = 2; }));
  CHECK(refused([](OmModel &m) { m.arenaSize = uint64_t(1) << 60; }, "E19001: "));
}

TEST_CASE("writing fails cleanly and replaces whole files only") {
  KernelImage code = image();
  TestModel test(code);
  std::string error;
  CHECK_FALSE(atc::om::writeOm(test.model, scratchPath("no/such/folder/x.om"), error));
  CHECK(error.rfind("E13004: ", 0) == 0);

  std::string path = writeModel(test.model, "replaced.om");
  std::vector<char> before = readBytes(path);
  TestModel wrong(code);
  wrong.model.schedule[0].kernel = 99;
  CHECK_FALSE(atc::om::writeOm(wrong.model, path, error));
  CHECK(readBytes(path) == before);
  // Nothing half-written is left beside it.
  DIR *folder = opendir(OPENATC_TEST_SCRATCH);
  REQUIRE(folder);
  while (dirent *entry = readdir(folder))
    CHECK(std::string(entry->d_name).find("replaced.om.") == std::string::npos);
  closedir(folder);
}

TEST_CASE("loading a large file is fast, and faster where its weights are not read") {
  KernelImage code = image();
  TestModel test(code);
  const std::vector<char> large(100u << 20, 1);
  test.model.weights.push_back({large.data(), large.size(), 4096});
  const std::string path = writeModel(test.model, "large.om");
  auto best = [&](int verifyWeights) {
    double min = 1e9;
    om_load_options options = OM_LOAD_OPTIONS_INIT;
    options.verify_weights = verifyWeights;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      om::Error error;
      om::Model model = om::Model::loadFile(path, error, options);
      om::Session session(model, error);
      REQUIRE(session);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      min = std::min(min, took.count());
    }
    return min;
  };
  const double later = best(0), checked = best(1);
  std::remove(path.c_str());
  CHECK(later < 20);
  CHECK(later < checked);
#ifdef NDEBUG
  CHECK(checked < 200); // about 15 ms on an idle machine
#endif
}

TEST_CASE("the golden file of every schema still loads, and runs where it needs no NPU") {
  const uint32_t minor = GENERATE(range(0, OM_SCHEMA_MINOR + 1));
  const om::Model model = loadGolden(minor);
  if (minor < kFirstGoldenWithNpu)
    runGolden(model, minor);
}
