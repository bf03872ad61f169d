//===-- TrustTest.cpp - signatures and refusals of files for an NPU -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/trust.hpp"
#include "openatc/npu.h"
#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "test/npu/device/NpuTestModel.h"
#include "tools/om-sign/Signing.h"

#include <catch2/catch.hpp>
#include <cstdio>

namespace {
namespace fb = atc::om::fb;

std::string text(const om::Error &error) { return error.message(); }

/// A key pair; `path` is the secret one.
struct Keys {
  explicit Keys(const char *name) : path(scratchPath(name)) {
    std::remove(path.c_str());
    std::remove((path + ".pub").c_str());
    std::string error;
    if (!atc::tools::makeKeys(path, error) || !trusted.addFile(path + ".pub", refusal))
      throw std::runtime_error(error + refusal.message());
  }
  std::string path;
  om::Error refusal;
  om::TrustedKeys trusted;
};

std::vector<char> signedBytes(const atc::om::OmModel &model, const Keys &keys) {
  const std::string path = writeModel(model, "npu-trust.om");
  std::string error;
  if (!atc::tools::signFile(path, path, keys.path, error))
    throw std::runtime_error(error);
  return readBytes(path);
}

om::Error load(const std::vector<char> &file, const om_load_options &options) {
  AlignedBytes memory(file);
  om::Error error;
  const bool loaded = bool(om::Model::loadMemory(memory.data, memory.size, error, options));
  CHECK(loaded != bool(error));
  return error;
}

struct Range {
  fb::SegmentKind kind;
  uint64_t offset, size, hash;
};

std::vector<Range> segmentsOf(const std::vector<char> &file) {
  std::vector<Range> ranges;
  for (const fb::Segment *segment : *fb::GetSizePrefixedModel(file.data())->segments())
    ranges.push_back({segment->kind(), segment->offset(), segment->size(), segment->hash()});
  return ranges;
}

/// The file with the hash of a changed segment, and the header's, made right.
std::vector<char> rehashed(std::vector<char> file, const Range &range) {
  const uint64_t length = atc::rt::headerLength(file.data());
  const uint64_t now = atc::rt::hash64(file.data() + range.offset, range.size);
  unsigned positions = 0;
  for (uint64_t i = 0; i + 8 <= length; ++i)
    if (std::memcmp(file.data() + i, &range.hash, 8) == 0) {
      std::memcpy(file.data() + i, &now, 8);
      ++positions;
    }
  CHECK(positions == 1);
  const uint64_t hash = atc::rt::hash64(file.data(), length);
  std::memcpy(file.data() + length, &hash, 8);
  return file;
}

/// x[64] -> "doubled" -> "quadrupled" on the NPU, without a kernel of the CPU.
struct AllNpuModel : NpuTestModel {
  explicit AllNpuModel(const KernelImage &image) : NpuTestModel(image) {
    constexpr uint64_t bytes = rows * sizeof(float);
    const atc::om::OmBufferRef x{OM_INPUT, 0, 0, bytes}, doubled{OM_ARENA, 0, 0, bytes},
        quadrupled{OM_OUTPUT, 0, 0, bytes};
    model.images.clear();
    model.kernels.clear();
    model.arenaSize = bytes;
    model.tensors = {{"x", OM_F32, {rows}, 0, {}, x},
                     {"doubled", OM_F32, {rows}, 0, {}, doubled},
                     {"quadrupled", OM_F32, {rows}, 0, {}, quadrupled}};
    model.inputs = {0};
    model.outputs = {2};
    model.schedule = {{0, "double", {x, doubled}, 2000, {0}, {1}},
                      {0, "quadruple", {doubled, quadrupled}, 2000, {1}, {2}}};
    model.schedule[0].npu = model.schedule[1].npu = true;
  }
};
} // namespace

TEST_CASE("a flipped byte in a segment of any kind is refused with its name") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  Keys keys("npu-trust-key");
  const std::vector<char> good = signedBytes(test.model, keys);
  const om_load_options plain = OM_LOAD_OPTIONS_INIT, strict = keys.trusted.require();
  REQUIRE_FALSE(load(good, plain));
  REQUIRE_FALSE(load(good, strict));

  const std::vector<Range> ranges = segmentsOf(good);
  REQUIRE(ranges.size() == 3);
  for (const Range &range : ranges) {
    const char *name = range.kind == fb::SegmentKind::weights ? "weights"
                       : range.kind == fb::SegmentKind::code  ? "code bytes"
                                                              : "NPU programs";
    INFO(name);
    // Every byte of the small ones; of the code some, both ends among them.
    const uint64_t step = range.size > 1000 ? 97 : 1;
    std::vector<uint64_t> positions = {range.size - 1};
    for (uint64_t i = 0; i < range.size; i += step)
      positions.push_back(i);
    for (uint64_t i : positions)
      for (const om_load_options &options : {plain, strict}) {
        std::vector<char> file = good;
        file[range.offset + i] ^= 0x10;
        const om::Error error = load(file, options);
        CHECK(error.code() == OM_ERROR_CORRUPT);
        CHECK(text(error).find(name) != std::string::npos);
      }

    // An attacker makes the hashes right: then only the signature tells, and where a
    // check takes every signature the digest.
    std::vector<char> file = good;
    file[range.offset] ^= 0x10;
    file = rehashed(file, range);
    CHECK_FALSE(load(file, plain));
    CHECK(load(file, strict).code() == OM_ERROR_SIGNATURE);
    const om_crypto lenient = {
        sizeof(om_crypto), nullptr,
        [](void *, const om_public_key *, const uint8_t *, const void *, size_t) { return 0; },
        om_trust_crypto()->digest};
    om_load_options options = strict;
    options.crypto = &lenient;
    CHECK_FALSE(load(good, options));
    const om::Error error = load(file, options);
    CHECK(error.code() == OM_ERROR_SIGNATURE);
    CHECK(text(error).find(std::string("(") + fb::EnumNameSegmentKind(range.kind) + ")") !=
          std::string::npos);
  }
}

TEST_CASE("a model of NPU programs alone runs where native code is refused") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  AllNpuModel test(image);
  Keys keys("npu-only-key");
  om_load_options options = keys.trusted.require();
  options.refuse_native_code = 1;
  const std::vector<char> file = signedBytes(test.model, keys);
  AlignedBytes memory(file);
  om::Error error;
  om::Model model = om::Model::loadMemory(memory.data, memory.size, error, options);
  INFO(error.message());
  REQUIRE(model);
  om_npu *npu = nullptr;
  REQUIRE(om_npu_simulator(nullptr, &npu, &error.c) == OM_OK);
  {
    om_session_options running = OM_SESSION_OPTIONS_INIT;
    running.device = om_npu_device(npu);
    om::Session session(model, error, running);
    INFO(error.message());
    REQUIRE(session);
    om::Buffer x(64 * 4), y(64 * 4);
    for (int i = 0; i < 64; ++i)
      x.data<float>()[i] = float(i) - 20;
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    REQUIRE(session.run(inputs, outputs, error));
    for (int i = 0; i < 64; ++i)
      CHECK(y.data<float>()[i] == 4 * (float(i) - 20));
  }
  om_npu_free(npu);

  // A single CPU kernel beside them is native code.
  NpuTestModel mixed(image);
  CHECK(load(signedBytes(mixed.model, keys), options).code() == OM_ERROR_NATIVE_CODE);
}

TEST_CASE("keys come from files and from bytes") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  Keys keys("keys-key"), others("keys-other-key");
  const std::vector<char> file = signedBytes(test.model, keys);
  om_public_key key;
  om::Error error;
  REQUIRE(om_trust_read_key((keys.path + ".pub").c_str(), &key, &error.c) == OM_OK);

  om::TrustedKeys bytes;
  CHECK(load(file, bytes.require()).code() == OM_ERROR_ARGUMENT); // nobody is trusted
  REQUIRE(bytes.addBytes(key.bytes, sizeof(key.bytes), error));
  CHECK_FALSE(load(file, bytes.require()));
  CHECK(load(file, others.trusted.require()).code() == OM_ERROR_UNTRUSTED_KEY);
  REQUIRE(others.trusted.addFile(keys.path + ".pub", error));
  CHECK(others.trusted.size() == 2);
  CHECK_FALSE(load(file, others.trusted.require()));

  om::TrustedKeys none;
  CHECK_FALSE(none.addBytes(key.bytes, 31, error));
  CHECK(error.code() == OM_ERROR_ARGUMENT);
  CHECK(text(error) == "a public key has 32 bytes, but 31 are given.");
  CHECK_FALSE(none.addBytes(nullptr, 32, error));
  error = {};
  CHECK_FALSE(none.addFile(scratchPath("no-such.pub"), error));
  CHECK(error.code() == OM_ERROR_IO);
  error = {};
  CHECK_FALSE(none.addFile(keys.path, error)); // the secret one
  CHECK(error.code() == OM_ERROR_ARGUMENT);
  CHECK(none.size() == 0);
}
