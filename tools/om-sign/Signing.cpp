//===-- Signing.cpp - makes keys and signs .om files ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-sign/Signing.h"

#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Verify.h"
#include "support/ErrorCodes.h"
#include "support/OutputFile.h"
#include "tools/common/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace atc::tools {
namespace fb = atc::om::fb;

namespace {
bool failed(std::string &error, ErrorCode code, const std::string &sentence) {
  error = codedLine(code, sentence);
  return false;
}

bool systemFailed(std::string &error, ErrorCode code, const char *what, const std::string &path) {
  return failed(error, code,
                std::string("cannot ") + what + " '" + path + "': " + std::strerror(errno) + ".");
}

/// The two keys of a pair, gone from memory when they go.
struct SecretKey {
  ~SecretKey() { sodium_memzero(this, sizeof(*this)); }
  uint8_t seed[crypto_sign_ed25519_SEEDBYTES] = {};
  uint8_t secret[crypto_sign_ed25519_SECRETKEYBYTES] = {};
  om_public_key open = {};
  bool expand() { return crypto_sign_ed25519_seed_keypair(open.bytes, secret, seed) == 0; }
};

bool writeKeyFile(OutputFile &file, const char *mark, const uint8_t *bytes, size_t count) {
  char line[128], hex[2 * OM_KEY_BYTES + 1];
  sodium_bin2hex(hex, sizeof(hex), bytes, count);
  const int length = std::snprintf(line, sizeof(line), "%s %s\n", mark, hex);
  const bool done = file.write(line, length);
  sodium_memzero(line, sizeof(line));
  sodium_memzero(hex, sizeof(hex));
  return done;
}

bool readSecretKey(const std::string &path, SecretKey &key, std::string &error) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT ? failed(error, "E10410", "the key file '" + path + "' does not exist.")
                           : systemFailed(error, "E13001", "open the key file", path);
  struct stat info;
  char text[128] = {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t size = regular ? read(fd, text, sizeof(text) - 1) : -1;
  close(fd);
  if (size < 0)
    return failed(error, "E13003", "cannot read the key file '" + path + "'.");
  if (info.st_mode & 077)
    return failed(
        error, "E13001",
        "the secret key '" + path +
            "' can be read by others: make it private with chmod 600, or make a new one.");
  const std::string mark = OM_SECRET_KEY_MARK " ";
  const size_t digits = 2 * sizeof(key.seed);
  size_t length = 0;
  const bool good = static_cast<size_t>(size) >= mark.size() + digits &&
                    std::strncmp(text, mark.c_str(), mark.size()) == 0 &&
                    sodium_hex2bin(key.seed, sizeof(key.seed), text + mark.size(), digits, nullptr,
                                   &length, nullptr) == 0 &&
                    length == sizeof(key.seed) && key.expand();
  sodium_memzero(text, sizeof(text));
  return good || failed(error, "E13005",
                        "'" + path +
                            "' is no secret key file of om-sign keygen: it should be one "
                            "line, '" OM_SECRET_KEY_MARK "' and 64 hexadecimal digits.");
}

/// Maps a file and checks everything in it that needs no key.
bool readGood(const std::string &path, MappedFile &file, const fb::Model *&model,
              std::string &error) {
  if (!file.open(path, error))
    return false;
  om_error errorText;
  om_status status = rt::verifyFile(file.data(), file.size(), &model, &errorText);
  for (uint32_t i = 0; status == OM_OK && i < model->segments()->size(); ++i)
    status =
        rt::verifySegment(*model, i, file.data() + model->segments()->Get(i)->offset(), &errorText);
  return status == OM_OK ||
         failed(error, "E10041", "'" + path + "' cannot be loaded: " + errorText.message);
}
} // namespace

bool makeKeys(const std::string &path, std::string &error) {
  SecretKey key;
  if (!om_trust_crypto())
    return failed(error, "E19999", "libsodium cannot be started.");
  randombytes_buf(key.seed, sizeof(key.seed));
  if (!key.expand())
    return failed(error, "E19999", "no key can be made.");
  // An existing key is never overwritten, nor is any other existing file.
  std::vector<OutputFile> files;
  files.push_back(OutputFile(path, {.mode = 0600, .replace = false}));
  files.push_back(OutputFile(path + ".pub", {.mode = 0644, .replace = false}));
  if (writeKeyFile(files[0], OM_SECRET_KEY_MARK, key.seed, sizeof(key.seed)) &&
      writeKeyFile(files[1], OM_PUBLIC_KEY_MARK, key.open.bytes, sizeof(key.open.bytes)) &&
      commitAll(files))
    return true;
  error = files[files[0].hasFailed() ? 0 : 1].errorLine();
  return false;
}

bool signFile(const std::string &from, const std::string &to, const std::string &secretKey,
              std::string &error) {
  const om_crypto *crypto = om_trust_crypto();
  if (!crypto)
    return failed(error, "E19999", "libsodium cannot be started.");
  SecretKey key;
  MappedFile file;
  const fb::Model *model = nullptr;
  if (!readSecretKey(secretKey, key, error) || !readGood(from, file, model, error))
    return false;
  if (!rt::signatureBytes(*model))
    return failed(error, "E10041",
                  "'" + from + "' has schema version " + std::to_string(model->schema_major()) +
                      "." + std::to_string(model->schema_minor()) +
                      ", which has no place for a signature: compile the model "
                      "again.");

  // A copy of the header, which already has room for the digests.
  const uint64_t length = rt::headerLength(file.data());
  const uint64_t front = length + sizeof(uint64_t) + sizeof(rt::SignatureBlock);
  std::vector<uint64_t> copy((front + 7) / 8);
  char *header = reinterpret_cast<char *>(copy.data());
  std::memcpy(header, file.data(), front);
  for (const fb::Segment *segment : *model->segments()) {
    const auto *place = reinterpret_cast<const char *>(segment->digest());
    if (!place)
      return failed(error, "E10041",
                    "'" + from +
                        "' has no place for a digest: compile the model "
                        "again.");
    crypto->digest(crypto->user, file.data() + segment->offset(), segment->size(),
                   reinterpret_cast<uint8_t *>(header + (place - file.data())));
  }
  const uint64_t hash = rt::hash64(header, length);
  std::memcpy(header + length, &hash, sizeof(hash));
  rt::SignatureBlock block = {};
  std::memcpy(block.magic, rt::SignatureBlock::mark, sizeof(block.magic));
  block.algorithm = rt::SignatureBlock::ed25519;
  block.key = key.open;
  if (crypto_sign_ed25519_detached(block.signature, nullptr,
                                   reinterpret_cast<const uint8_t *>(header), length,
                                   key.secret) != 0)
    return failed(error, "E19999", "the model cannot be signed.");
  block.hash = block.hashOfRest();
  std::memcpy(header + length + sizeof(hash), &block, sizeof(block));

  struct stat info;
  if (stat(from.c_str(), &info) != 0)
    return systemFailed(error, "E13001", "read", from);
  OutputFile result(to, {.mode = info.st_mode & 0777});
  if (result.write(header, front) && result.write(file.data() + front, file.size() - front) &&
      result.commit())
    return true;
  error = result.errorLine();
  return false;
}

bool verifyFile(const std::string &path, const om_public_key &key, std::string &error) {
  MappedFile file;
  const fb::Model *model = nullptr;
  if (!readGood(path, file, model, error))
    return false;
  om_load_options options = OM_LOAD_OPTIONS_INIT;
  options.trusted_keys = &key;
  options.trusted_key_count = 1;
  options.crypto = om_trust_crypto();
  om_error errorText;
  om_status status = rt::verifySignature(file.data(), *model, options, &errorText);
  for (uint32_t i = 0; status == OM_OK && i < model->segments()->size(); ++i)
    status = rt::verifyDigest(*model, i, file.data() + model->segments()->Get(i)->offset(),
                              *options.crypto, &errorText);
  return status == OM_OK ||
         failed(error, "E10041", "'" + path + "' is not trusted: " + errorText.message);
}

} // namespace atc::tools
