//===-- TrustTest.cpp - what the loader refuses when told whom to trust ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/trust.h"
#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "test/runtime-lite/TestModel.h"
#include "tools/om-sign/Signing.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <set>
#include <sstream>
#include <sys/stat.h>

namespace {
using atc::rt::SignatureBlock;
constexpr size_t blockBytes = sizeof(SignatureBlock);

/// The executable mappings of this process; fails the test at one that is
/// writable too.
std::set<std::string> executableMappings() {
  std::set<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights;
    words >> range >> rights;
    CHECK_FALSE((rights[1] == 'w' && rights[2] == 'x'));
    if (rights[2] == 'x')
      found.insert(line);
  }
  CHECK_FALSE(found.empty()); // at least this program
  return found;
}

std::string newKey(const std::string &name) {
  const std::string path = scratchPath(name);
  std::remove(path.c_str());
  std::remove((path + ".pub").c_str());
  std::string error;
  if (!atc::tools::makeKeys(path, error))
    throw std::runtime_error(error);
  return path;
}

om_public_key publicKey(const std::string &secretPath) {
  om_public_key key;
  om_error error;
  if (om_trust_read_key((secretPath + ".pub").c_str(), &key, &error) != OM_OK)
    throw std::runtime_error(error.message);
  return key;
}

/// A signed file and options that ask for its signature.
struct Signed {
  Signed() : image(readKernelImage(OPENATC_TEST_KERNELS)), test(image) {
    path = writeModel(test.model, "unsigned.om");
    unsignedBytes = readBytes(path);
    secret = newKey("trust-key");
    key = publicKey(secret);
    path = scratchPath("signed.om");
    std::string error;
    if (!atc::tools::signFile(scratchPath("unsigned.om"), path, secret, error))
      throw std::runtime_error(error);
    bytes = readBytes(path);
    headerBytes = atc::rt::headerLength(bytes.data());
    options.require_signature = 1;
    options.trusted_keys = &key;
    options.trusted_key_count = 1;
    options.crypto = om_trust_crypto();
  }

  /// Whatever is refused leaves no code in memory.
  static om::Error load(const std::vector<char> &file, const om_load_options &options) {
    AlignedBytes memory(file);
    om::Error error;
    const bool loaded = bool(om::Model::loadMemory(memory.data, memory.size, error, options));
    CHECK(loaded != bool(error));
    return error;
  }
  om::Error load(const std::vector<char> &file) const { return load(file, options); }

  std::vector<char> rehashed(std::vector<char> file) const {
    const uint64_t hash = atc::rt::hash64(file.data(), headerBytes);
    std::memcpy(file.data() + headerBytes, &hash, sizeof(hash));
    return file;
  }
  std::vector<char> withBlock(const std::function<void(SignatureBlock &)> &change) const {
    std::vector<char> file = bytes;
    SignatureBlock block;
    std::memcpy(&block, file.data() + headerBytes + 8, blockBytes);
    change(block);
    block.hash = block.hashOfRest();
    std::memcpy(file.data() + headerBytes + 8, &block, blockBytes);
    return file;
  }

  KernelImage image;
  TestModel test;
  std::string path, secret;
  om_public_key key;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  std::vector<char> bytes, unsignedBytes;
  size_t headerBytes;
};

bool contains(const om::Error &error, const char *text) {
  return std::string(error.message()).find(text) != std::string::npos;
}
} // namespace

TEST_CASE("a signed model loads and gives the answers") {
  Signed sample;
  om::Error error;
  om::Model model = om::Model::loadFile(sample.path, error, sample.options);
  INFO(error.message());
  REQUIRE(model);
  om::Session session(model, error);
  om::Buffer x(TestModel::rows * TestModel::columns * 4), sums(TestModel::rows * 4),
      picks(TestModel::picked * 4);
  for (int i = 0; i < TestModel::rows * TestModel::columns; ++i)
    x.data<float>()[i] = float(i % 13) - 6;
  const void *inputs[] = {x.data()};
  void *outputs[] = {sums.data(), picks.data()};
  REQUIRE(session.run(inputs, outputs, error));
  std::vector<float> wantedSums, wantedPicks;
  sample.test.expect(x.data<float>(), wantedSums, wantedPicks);
  for (int i = 0; i < TestModel::rows; ++i)
    CHECK(sums.data<float>()[i] == Approx(wantedSums[i]));
  CHECK(std::memcmp(picks.data(), wantedPicks.data(), picks.size()) == 0);

  CHECK_FALSE(Signed::load(sample.bytes, OM_LOAD_OPTIONS_INIT)); // nobody has to ask for it
  CHECK(sample.bytes.size() == sample.unsignedBytes.size());
}

TEST_CASE("every flipped byte of a file is refused and nothing becomes executable") {
  Signed sample;
  const std::string path = scratchPath("flipped.om");
  const std::set<std::string> before = executableMappings();
  for (const om_load_options &options : {sample.options, om_load_options(OM_LOAD_OPTIONS_INIT)})
    for (size_t i = 0; i < sample.bytes.size(); i += i < 4096 + 448 ? 1 : 61) {
      std::vector<char> file = sample.bytes;
      file[i] ^= 0x10;
      INFO("byte " << i);
      const om::Error error = Signed::load(file, options);
      CHECK(error);
      if (i >= 12)
        CHECK((error.code() == OM_ERROR_CORRUPT || error.code() == OM_ERROR_TRUNCATED));
    }
  for (size_t i : {size_t(40), sample.headerBytes, sample.headerBytes + 50, size_t(4000),
                   size_t(4100), sample.bytes.size() - 1}) {
    std::vector<char> file = sample.bytes;
    file[i] ^= 1;
    std::ofstream(path, std::ios::binary).write(file.data(), file.size());
    om::Error error;
    CHECK_FALSE(om::Model::loadFile(path, error));
    CHECK(error.code() == OM_ERROR_CORRUPT);
  }
  CHECK(executableMappings() == before);
}

TEST_CASE("code for another processor is checked too") {
  Signed sample;
  auto &images = sample.test.model.images;
  images.push_back(images[0]);
  images[1].level = "never";
  images[1].features = {"avx9000"};
  std::vector<char> file = readBytes(writeModel(sample.test.model, "two-levels.om"));
  CHECK_FALSE(Signed::load(file, OM_LOAD_OPTIONS_INIT));
  file.back() ^= 1;
  CHECK(Signed::load(file, OM_LOAD_OPTIONS_INIT).code() == OM_ERROR_CORRUPT);
}

TEST_CASE("missing, foreign and wrong signatures have errors of their own") {
  Signed sample;
  om::Error error = sample.load(sample.unsignedBytes);
  CHECK(error.code() == OM_ERROR_UNSIGNED);
  CHECK(contains(error, "not signed"));
  error = sample.load(readBytes(OPENATC_TEST_SOURCE "/golden/schema-1.0.om"));
  CHECK(error.code() == OM_ERROR_UNSIGNED);

  // The signature cut out by an attacker.
  std::vector<char> file = sample.bytes;
  std::memset(file.data() + sample.headerBytes + 8, 0, blockBytes);
  CHECK(sample.load(file).code() == OM_ERROR_UNSIGNED);

  // Signed by somebody else; each of several trusted keys counts.
  const std::string otherSecret = newKey("trust-other-key");
  const om_public_key keys[] = {publicKey(otherSecret), sample.key};
  om_load_options options = sample.options;
  options.trusted_keys = keys;
  error = Signed::load(sample.bytes, options);
  CHECK(error.code() == OM_ERROR_UNTRUSTED_KEY);
  CHECK(contains(error, "not trusted"));
  options.trusted_key_count = 2;
  CHECK_FALSE(Signed::load(sample.bytes, options));

  // A trusted key's name over somebody else's signature, and a wrong signature.
  std::string text;
  const std::string otherPath = scratchPath("signed-by-other.om");
  REQUIRE(atc::tools::signFile(sample.path, otherPath, otherSecret, text));
  CHECK(sample.load(readBytes(otherPath)).code() == OM_ERROR_UNTRUSTED_KEY);
  const std::vector<char> other = readBytes(otherPath);
  error = sample.load(sample.withBlock([&](SignatureBlock &block) {
    std::memcpy(block.signature,
                other.data() + sample.headerBytes + 8 + offsetof(SignatureBlock, signature),
                sizeof(block.signature));
  }));
  CHECK(error.code() == OM_ERROR_SIGNATURE);
  CHECK(contains(error, "signature is wrong"));
  for (int i = 0; i < OM_SIGNATURE_BYTES; ++i)
    CHECK(sample.load(sample.withBlock([&](SignatureBlock &block) { block.signature[i] ^= 1; }))
              .code() == OM_ERROR_SIGNATURE);

  // A signature of an algorithm that is not known is none that can be skipped.
  CHECK(Signed::load(sample.withBlock([](SignatureBlock &block) { block.algorithm = 2; }),
                     OM_LOAD_OPTIONS_INIT)
            .code() == OM_ERROR_UNSUPPORTED);
}

TEST_CASE("a model changed after signing is refused even with right hashes") {
  Signed sample;
  unsigned refused = 0, tried = 0;
  for (size_t i = 12; i < sample.headerBytes; i += 3) {
    std::vector<char> file = sample.bytes;
    file[i] ^= 0x01;
    const om::Error error = sample.load(sample.rehashed(file));
    CHECK(error);
    ++tried;
    refused += error.code() == OM_ERROR_SIGNATURE;
  }
  CHECK(refused > 0);
  CHECK(refused < tried); // the others are no good header to begin with

  // Another weight, with the hash of its segment made right in the header.
  std::vector<char> file = sample.bytes;
  const uint64_t old = atc::rt::hash64(file.data() + 4096, 448);
  file[4096] ^= 1;
  const uint64_t now = atc::rt::hash64(file.data() + 4096, 448);
  for (size_t i = 0; i + 8 <= sample.headerBytes; ++i)
    if (std::memcmp(file.data() + i, &old, 8) == 0)
      std::memcpy(file.data() + i, &now, 8);
  file = sample.rehashed(file);
  CHECK_FALSE(Signed::load(file, OM_LOAD_OPTIONS_INIT));
  CHECK(sample.load(file).code() == OM_ERROR_SIGNATURE);

  // The digests alone find it: a check that takes every signature shows them.
  const om_crypto lenient = {
      sizeof(om_crypto), nullptr,
      [](void *, const om_public_key *, const uint8_t *, const void *, size_t) { return 0; },
      om_trust_crypto()->digest};
  om_load_options options = sample.options;
  options.crypto = &lenient;
  options.verify_weights = 0; // a required signature has them checked always
  CHECK_FALSE(Signed::load(sample.bytes, options));
  const om::Error error = Signed::load(file, options);
  CHECK(error.code() == OM_ERROR_SIGNATURE);
  CHECK(contains(error, "segment 0 (weights)"));
}

TEST_CASE("a required signature needs cryptography and keys") {
  Signed sample;
  om_load_options options = sample.options;
  options.crypto = nullptr;
  om::Error error = Signed::load(sample.bytes, options);
  CHECK(error.code() == OM_ERROR_ARGUMENT);
  CHECK(contains(error, "om_trust_crypto"));
  options = sample.options;
  options.trusted_key_count = 0;
  CHECK(Signed::load(sample.bytes, options).code() == OM_ERROR_ARGUMENT);
}

TEST_CASE("native code is refused on request") {
  Signed sample;
  om_load_options options = sample.options;
  options.refuse_native_code = 1;
  const std::set<std::string> before = executableMappings();
  for (const std::vector<char> &file : {sample.bytes, sample.unsignedBytes}) {
    const om::Error error = Signed::load(file, options);
    CHECK(error.code() == OM_ERROR_NATIVE_CODE);
    CHECK(contains(error, "x86-64"));
  }
  CHECK(executableMappings() == before);
}

TEST_CASE("no memory is writable and executable at any time") {
  struct Watch {
    static int verify(void *, const om_public_key *key, const uint8_t *signature, const void *data,
                      size_t bytes) {
      executableMappings();
      return om_trust_crypto()->verify(nullptr, key, signature, data, bytes);
    }
    static int digest(void *, const void *data, size_t bytes, uint8_t *result) {
      executableMappings();
      return om_trust_crypto()->digest(nullptr, data, bytes, result);
    }
  };
  Signed sample;
  const om_crypto watching = {sizeof(om_crypto), nullptr, Watch::verify, Watch::digest};
  om_load_options checked = sample.options;
  checked.crypto = &watching;
  AlignedBytes memory(sample.bytes);
  const size_t before = executableMappings().size();
  for (const om_load_options &options : {checked, om_load_options(OM_LOAD_OPTIONS_INIT)})
    for (bool fromFile : {true, false}) {
      om::Error error;
      om::Model model = fromFile ? om::Model::loadFile(sample.path, error, options)
                                 : om::Model::loadMemory(memory.data, memory.size, error, options);
      REQUIRE(model);
      CHECK(executableMappings().size() == before + 1); // the model's code, read-only
      om::Session session(model, error);
      om::Buffer x(model.input(0).bytes), sums(model.output(0).bytes), picks(model.output(1).bytes);
      const void *inputs[] = {x.data()};
      void *outputs[] = {sums.data(), picks.data()};
      unsigned launches = 0;
      auto look = [&](uint32_t) {
        executableMappings();
        ++launches;
      };
      REQUIRE(session.run(inputs, outputs, look, error));
      CHECK(launches == 4);
    }
  CHECK(executableMappings().size() == before);
}

TEST_CASE("signed code stays what was checked when the file is overwritten") {
  Signed sample;
  om::Error error;
  om::Model model = om::Model::loadFile(sample.path, error, sample.options);
  REQUIRE(model);
  // Not the rename that the rules ask for, but a write into the mapped file.
  std::fstream file(sample.path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(8192);
  file.write(std::vector<char>(sample.bytes.size() - 8192, '\xCC').data(),
             sample.bytes.size() - 8192);
  file.close();
  om::Session session(model, error);
  om::Buffer x(model.input(0).bytes), sums(model.output(0).bytes), picks(model.output(1).bytes);
  const void *inputs[] = {x.data()};
  void *outputs[] = {sums.data(), picks.data()};
  CHECK(session.run(inputs, outputs, error));
}

TEST_CASE("options of an older program mean what they meant") {
  Signed sample;
  om_load_options options = sample.options;
  options.struct_size = offsetof(om_load_options, refuse_native_code);
  options.refuse_native_code = 1;
  CHECK_FALSE(Signed::load(sample.unsignedBytes, options));
}

TEST_CASE("the cryptography gives the published answers") {
  const om_crypto *crypto = om_trust_crypto();
  REQUIRE(crypto);
  // BLAKE2b with 32 bytes of "abc", as Python's hashlib gives it.
  uint8_t digest[OM_DIGEST_BYTES];
  REQUIRE(crypto->digest(nullptr, "abc", 3, digest) == 0);
  const uint8_t blake[] = {0xbd, 0xdd, 0x81, 0x3c, 0x63, 0x42, 0x39, 0x72};
  CHECK(std::memcmp(digest, blake, sizeof(blake)) == 0);
  // RFC 8032, 7.1, test 2.
  const om_public_key key = {{0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a,
                              0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4,
                              0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c}};
  uint8_t signature[OM_SIGNATURE_BYTES] = {
      0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f,
      0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76,
      0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99,
      0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c, 0x38, 0x7b, 0x2e, 0xae,
      0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00};
  CHECK(crypto->verify(nullptr, &key, signature, "\x72", 1) == 0);
  CHECK(crypto->verify(nullptr, &key, signature, "\x73", 1) != 0);
  signature[9] ^= 4;
  CHECK(crypto->verify(nullptr, &key, signature, "\x72", 1) != 0);
}

TEST_CASE("key files") {
  const std::string secret = newKey("file-key");
  struct stat info;
  REQUIRE(stat(secret.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  std::string error;
  CHECK_FALSE(atc::tools::makeKeys(secret, error)); // never replaced
  CHECK(error.find("E13004") == 0);

  om_public_key key;
  om_error errorText;
  CHECK(om_trust_read_key(secret.c_str(), &key, &errorText) == OM_ERROR_ARGUMENT);
  CHECK(std::string(errorText.message).find("secret key") != std::string::npos);
  CHECK(om_trust_read_key(scratchPath("no-such-key").c_str(), &key, &errorText) == OM_ERROR_IO);
  const std::string path = scratchPath("bad-key");
  const std::string good(64, 'a');
  for (const std::string &text :
       {std::string(), std::string(OM_PUBLIC_KEY_MARK), OM_PUBLIC_KEY_MARK " " + good.substr(1),
        OM_PUBLIC_KEY_MARK " " + good + "a", OM_PUBLIC_KEY_MARK " g" + good.substr(1),
        "something else " + good}) {
    std::ofstream(path, std::ios::trunc) << text;
    INFO(text);
    CHECK(om_trust_read_key(path.c_str(), &key, &errorText) == OM_ERROR_ARGUMENT);
  }
  std::ofstream(path, std::ios::trunc) << OM_PUBLIC_KEY_MARK " " + good + "\r\n";
  CHECK(om_trust_read_key(path.c_str(), &key, &errorText) == OM_OK);
  CHECK(key.bytes[31] == 0xaa);

  // A secret that others can read is none.
  Signed sample;
  chmod(secret.c_str(), 0640);
  CHECK_FALSE(atc::tools::signFile(sample.path, sample.path, secret, error));
  CHECK(error.find("E13001") == 0);
  CHECK(readBytes(sample.path) == sample.bytes);
}
