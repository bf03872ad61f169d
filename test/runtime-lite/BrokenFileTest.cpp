//===-- BrokenFileTest.cpp - damaged and foreign files are refused --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"
#include "openatc/om.hpp"
#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Hash.h"
#include "test/runtime-lite/TestModel.h"

#include <catch2/catch.hpp>

namespace {
/// A valid file, and functions that load modified copies of it.
struct Sample {
  Sample() : image(readKernelImage(OPENATC_TEST_KERNELS)), test(image) {
    path = writeModel(test.model, "broken.om");
    bytes = readBytes(path);
    uint32_t prefix;
    std::memcpy(&prefix, bytes.data(), 4);
    headerBytes = prefix + 4;
  }

  static om::Error load(const std::vector<char> &file, bool verifyWeights = true) {
    AlignedBytes memory(file);
    om::Error error;
    om_load_options options = OM_LOAD_OPTIONS_INIT;
    options.verify_weights = verifyWeights;
    om::Model model = om::Model::loadMemory(memory.data, memory.size, error, options);
    CHECK(static_cast<bool>(model) != static_cast<bool>(error));
    return error;
  }

  /// Loads a file with the header's hash recomputed, as an attacker would.
  om::Error loadRehashed(std::vector<char> file) const {
    uint64_t hash = atc::rt::hash64(file.data(), headerBytes);
    std::memcpy(file.data() + headerBytes, &hash, 8);
    return load(file);
  }

  KernelImage image;
  TestModel test;
  std::string path;
  std::vector<char> bytes;
  size_t headerBytes;
};

bool contains(const om::Error &error, const char *text) {
  return std::string(error.message()).find(text) != std::string::npos;
}
} // namespace

TEST_CASE(
    "weights that are hashed in parts are checked to the last byte, by any number of threads") {
  constexpr size_t part = atc::rt::hashPartBytes, size = 4 * part + 64;
  Sample sample;
  std::vector<char> weights(size);
  for (size_t i = 0; i < size; ++i)
    weights[i] = static_cast<char>(i * 37 + i / 256 * (i / part));
  sample.test.model.weights.push_back({weights.data(), 4 * part - 4096 - 64, 4096});
  const auto file = [&](const char *name) {
    return readBytes(writeModel(sample.test.model, name));
  };
  const auto load = [](std::vector<char> bytes, uint32_t threads, bool verify = true) {
    AlignedBytes memory(bytes);
    om::Error error;
    om_load_options options = OM_LOAD_OPTIONS_INIT;
    options.threads = threads;
    options.verify_weights = verify;
    const om::Model model = om::Model::loadMemory(memory.data, memory.size, error, options);
    if (!verify && model && om_model_verify_weights(model.get(), nullptr) != OM_OK)
      return OM_ERROR_CORRUPT;
    return error.code();
  };
  const auto minorOf = [](const std::vector<char> &bytes) {
    return atc::om::fb::GetSizePrefixedModel(bytes.data())->schema_minor();
  };
  // Less weights are hashed as a whole, which older runtimes read, too.
  const std::vector<char> whole = file("whole.om");
  CHECK(minorOf(whole) == 2);
  CHECK(load(whole, 0) == OM_OK);

  sample.test.model.weights.back().size = size - 4096;
  const std::vector<char> good = file("parts.om");
  const size_t begin = atc::om::fb::GetSizePrefixedModel(good.data())->segments()->Get(0)->offset();
  REQUIRE(minorOf(good) == 8);
  for (uint32_t threads : {0, 1, 2, 5, 2000}) {
    INFO(threads << " threads");
    CHECK(load(good, threads) == OM_OK);
    CHECK(load(good, threads, false) == OM_OK);
    for (size_t at : {size_t(0), part - 1, part, 3 * part + 17, 4 * part - 1, 4 * part, size - 1}) {
      std::vector<char> damaged = good;
      damaged[begin + at] ^= 4;
      INFO("byte " << at);
      CHECK(load(damaged, threads) == OM_ERROR_CORRUPT);
      CHECK(load(damaged, threads, false) == OM_ERROR_CORRUPT);
    }
    std::vector<char> swapped = good;
    std::swap_ranges(swapped.begin() + begin + part, swapped.begin() + begin + 2 * part,
                     swapped.begin() + begin + 2 * part);
    CHECK(load(swapped, threads) == OM_ERROR_CORRUPT);
  }
}

TEST_CASE("a file cut anywhere is refused") {
  Sample sample;
  REQUIRE_FALSE(Sample::load(sample.bytes));
  for (size_t size = 0; size < sample.bytes.size(); size += 64) {
    om::Error error = Sample::load({sample.bytes.begin(), sample.bytes.begin() + size});
    INFO("cut to " << size << ": " << error.message());
    CHECK(error.code() == (size == 0 ? OM_ERROR_NOT_OM : OM_ERROR_TRUNCATED));
  }
  for (size_t size = 1; size < 64; ++size)
    CHECK(Sample::load({sample.bytes.begin(), sample.bytes.begin() + size}).code() ==
          OM_ERROR_TRUNCATED);
}

TEST_CASE("a cut file on disk is refused") {
  Sample sample;
  const std::string path = scratchPath("cut.om");
  for (size_t size :
       {size_t(0), size_t(10), sample.headerBytes, size_t(4096), sample.bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary).write(sample.bytes.data(), size);
    om::Error error;
    CHECK_FALSE(om::Model::loadFile(path, error));
    CHECK((error.code() == OM_ERROR_TRUNCATED || size == 0));
  }
}

TEST_CASE("every flipped byte of the header is refused") {
  Sample sample;
  for (size_t i = 0; i < sample.headerBytes + 8; ++i)
    for (unsigned char flip : {0x01, 0x80, 0xFF}) {
      std::vector<char> file = sample.bytes;
      file[i] ^= flip;
      CHECK(Sample::load(file));
    }
}

TEST_CASE("flipped header bytes with a right hash do no harm") {
  Sample sample;
  unsigned refused = 0;
  for (size_t i = 4; i < sample.headerBytes; ++i)
    for (unsigned char flip : {0x01, 0x02, 0x10, 0x80, 0xFF}) {
      std::vector<char> file = sample.bytes;
      file[i] ^= flip;
      refused += static_cast<bool>(sample.loadRehashed(file));
    }
  // Names and numbers without a rule may change; most bytes may not.
  CHECK(refused > sample.headerBytes);
}

TEST_CASE("flipped bytes are refused, in weights unless the caller checks them later") {
  Sample sample;
  for (size_t i = 8192; i < sample.bytes.size(); i += 97) {
    std::vector<char> file = sample.bytes;
    file[i] ^= 0x40;
    CHECK(Sample::load(file).code() == OM_ERROR_CORRUPT);
  }
  for (size_t i = 4096; i < 4096 + 448; i += 13) {
    std::vector<char> file = sample.bytes;
    file[i] ^= 0x40;
    CHECK_FALSE(Sample::load(file, /*verifyWeights=*/false));
    om::Error error = Sample::load(file);
    CHECK(error.code() == OM_ERROR_CORRUPT);
    CHECK(contains(error, "weights"));
  }
}

TEST_CASE("tables that code computes addresses from are checked always") {
  Sample sample;
  atc::om::OmModel model = sample.test.model;
  const uint64_t bytes = TestModel::columns * sizeof(float);
  model.tables = {{sample.test.bias.data(), bytes, 0}};
  model.schedule[0].args[2] = {OM_WEIGHTS, 1, 0, bytes};
  const std::string path = writeModel(model, "tables.om");
  const std::vector<char> good = readBytes(path);
  CHECK_FALSE(Sample::load(good, /*verifyWeights=*/false));
  for (size_t i = 0; i < bytes; i += 13) {
    std::vector<char> file = good;
    file[4096 + i] ^= 0x40; // the weights
    CHECK_FALSE(Sample::load(file, /*verifyWeights=*/false));
    file = good;
    file[8192 + i] ^= 0x40;
    const om::Error error = Sample::load(file, /*verifyWeights=*/false);
    CHECK(error.code() == OM_ERROR_CORRUPT);
    CHECK(contains(error, "segment 1"));
  }
  // The kernel finds its operand there.
  om::Error error;
  const om::Model loaded = om::Model::loadFile(path, error);
  REQUIRE(loaded);
  om::Session session(loaded, error);
  om::Buffer x(TestModel::rows * TestModel::columns * sizeof(float)), sums(TestModel::rows * 4),
      picks(TestModel::picked * 4);
  const void *inputs[] = {x.data()};
  void *outputs[] = {sums.data(), picks.data()};
  REQUIRE(session.run(inputs, outputs, error));
  std::vector<float> wantedSums, wantedPicks;
  sample.test.expect(x.data<float>(), wantedSums, wantedPicks);
  CHECK(std::equal(wantedSums.begin(), wantedSums.end(), sums.data<float>()));
  // Without weights of another kind, too.
  model.tables.insert(model.tables.end(), {sample.test.scale.data(), bytes, 256});
  model.weights.clear();
  model.schedule[0].args[1] = model.tensors[TestModel::Scale].place = {OM_WEIGHTS, 1, 256, bytes};
  std::vector<char> file = readBytes(writeModel(model, "tables-only.om"));
  CHECK_FALSE(Sample::load(file, /*verifyWeights=*/false));
  file[8192] ^= 1;
  CHECK(Sample::load(file, /*verifyWeights=*/false).code() == OM_ERROR_CORRUPT);
}

TEST_CASE("a file with something after its end is refused") {
  Sample sample;
  std::vector<char> file = sample.bytes;
  file.push_back(0);
  CHECK(Sample::load(file).code() == OM_ERROR_CORRUPT);
}

TEST_CASE("foreign files are told apart") {
  std::vector<char> vendor(4096, 0);
  std::memcpy(vendor.data(), "IMOD", 4);
  om::Error error = Sample::load(vendor);
  CHECK(error.code() == OM_ERROR_VENDOR_OM);
  CHECK(contains(error, "vendor"));
  CHECK(Sample::load({'I', 'M', 'O', 'D'}).code() == OM_ERROR_VENDOR_OM);

  CHECK(Sample::load(std::vector<char>(4096, 'x')).code() == OM_ERROR_NOT_OM);
  CHECK(Sample::load(std::vector<char>(4096, 0)).code() == OM_ERROR_NOT_OM);

  om::Error missing, folder;
  CHECK_FALSE(om::Model::loadFile(scratchPath("does-not-exist.om"), missing));
  CHECK(missing.code() == OM_ERROR_IO);
  CHECK(contains(missing, "No such file"));
  CHECK_FALSE(om::Model::loadFile(OPENATC_TEST_SCRATCH, folder));
  CHECK(folder.code() == OM_ERROR_IO);
}

TEST_CASE("another schema version is refused and named") {
  Sample sample;
  const auto *model = atc::om::fb::GetSizePrefixedModel(sample.bytes.data());
  const auto *table = reinterpret_cast<const flatbuffers::Table *>(model);
  auto positionOf = [&](flatbuffers::voffset_t field) {
    return reinterpret_cast<const char *>(table->GetAddressOf(field)) - sample.bytes.data();
  };
  const auto major = positionOf(atc::om::fb::Model::VT_SCHEMA_MAJOR);
  const auto minor = positionOf(atc::om::fb::Model::VT_SCHEMA_MINOR);
  const std::string minorText = std::to_string(OM_SCHEMA_MINOR);

  std::vector<char> file = sample.bytes;
  file[major] = OM_SCHEMA_MAJOR + 1;
  om::Error error = sample.loadRehashed(file);
  CHECK(error.code() == OM_ERROR_VERSION);
  CHECK(contains(error, ("version 2." + std::to_string(model->schema_minor())).c_str()));
  // All the rest may look different in another major version.
  for (size_t i = sample.headerBytes / 2; i < sample.headerBytes; ++i)
    file[i] = '\xA5';
  if (static_cast<size_t>(major) < sample.headerBytes / 2)
    CHECK(sample.loadRehashed(file).code() == OM_ERROR_VERSION);
  file = sample.bytes;
  file[major] = 0;
  CHECK(sample.loadRehashed(file).code() == OM_ERROR_VERSION);

  file = sample.bytes;
  file[minor] = OM_SCHEMA_MINOR + 1;
  error = sample.loadRehashed(file);
  CHECK(error.code() == OM_ERROR_VERSION);
  CHECK(contains(error, ("version 1." + std::to_string(OM_SCHEMA_MINOR + 1)).c_str()));
  CHECK(contains(error, ("1.0 to 1." + minorText).c_str()));
}

TEST_CASE("code for a better processor is refused with the features it lacks") {
  Sample sample;
  sample.test.model.images[0].level = "x86-64-v99";
  sample.test.model.images[0].features = {"sse2", "avx9000", "warp"};
  om::Error error;
  CHECK_FALSE(om::Model::loadFile(writeModel(sample.test.model, "feature.om"), error));
  CHECK(error.code() == OM_ERROR_UNSUPPORTED);
  INFO(error.message());
  CHECK(contains(error, "avx9000, warp"));
  CHECK(contains(error, "x86-64-v99"));
  CHECK_FALSE(contains(error, "sse2"));

  sample.test.model.images[0].features = {};
  sample.test.model.images[0].arch = "pdp11";
  CHECK_FALSE(om::Model::loadFile(writeModel(sample.test.model, "arch.om"), error));
  CHECK(error.code() == OM_ERROR_UNSUPPORTED);
  CHECK(contains(error, "pdp11"));

  sample.test.model.images.clear();
  CHECK_FALSE(om::Model::loadFile(writeModel(sample.test.model, "no-code.om"), error));
  CHECK(error.code() == OM_ERROR_UNSUPPORTED);

  sample.test.model.target = "tpu";
  CHECK_FALSE(om::Model::loadFile(writeModel(sample.test.model, "target.om"), error));
  CHECK(error.code() == OM_ERROR_UNSUPPORTED);
  CHECK(contains(error, "tpu"));
}

TEST_CASE("a file with more code images than there are kinds of processors is refused") {
  Sample sample;
  auto &images = sample.test.model.images;
  const atc::om::OmImage first = images[0];
  std::string error;
  for (size_t count : {64, 65}) {
    images.assign(count, first);
    for (size_t i = 0; i < count; ++i)
      images[i].level = "level" + std::to_string(i);
    atc::om::OmMemorySink sink;
    CHECK(atc::om::writeOm(sample.test.model, sink, error) == (count == 64));
  }
  CHECK(error.find("there are too many") != std::string::npos);
}

TEST_CASE("of several code images the best that fits is taken") {
  Sample sample;
  auto &images = sample.test.model.images;
  images.push_back(images[0]);
  images.push_back(images[0]);
  images[1].level = "better";
  images[1].features = {"sse", "sse2", "cmov"};
  images[2].level = "best";
  images[2].features = {"sse", "sse2", "cmov", "avx9000"};
  const std::string path = writeModel(sample.test.model, "levels.om");
  om::Error error;
  om::Model model = om::Model::loadFile(path, error);
  REQUIRE(model);
  CHECK(std::string(model.info().cpu_level) == "better");

  om_load_options options = OM_LOAD_OPTIONS_INIT;
  options.cpu_level = "x86-64";
  model = om::Model::loadFile(path, error, options);
  REQUIRE(model);
  CHECK(std::string(model.info().cpu_level) == "x86-64");
  options.cpu_level = "best";
  CHECK_FALSE(om::Model::loadFile(path, error, options));
  CHECK(contains(error, "avx9000"));
  options.cpu_level = "unheard-of";
  CHECK_FALSE(om::Model::loadFile(path, error, options));
  CHECK(contains(error, "x86-64, better, best"));
}

TEST_CASE("calls without what they need are refused") {
  om_error error;
  om_model *model = nullptr;
  om_session *session = nullptr;
  CHECK(om_model_load_file(nullptr, nullptr, &model, &error) == OM_ERROR_ARGUMENT);
  CHECK(om_model_load_file("x.om", nullptr, nullptr, &error) == OM_ERROR_ARGUMENT);
  CHECK(om_model_load_memory(nullptr, 10, nullptr, &model, nullptr) == OM_ERROR_ARGUMENT);
  CHECK(om_session_create(nullptr, nullptr, &session, &error) == OM_ERROR_ARGUMENT);
  om_model_free(nullptr);
  om_session_free(nullptr);
}
