//===-- Trust.cpp - signatures checked by libsodium -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/trust.h"

#include "runtime-lite/src/PrintableText.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

static_assert(OM_KEY_BYTES == crypto_sign_ed25519_PUBLICKEYBYTES);
static_assert(OM_SIGNATURE_BYTES == crypto_sign_ed25519_BYTES);
static_assert(OM_DIGEST_BYTES == crypto_generichash_blake2b_BYTES);

/// Is separate from the runtime's function so that this library links with the runtime as an
/// archive and as a shared library.
__attribute__((format(printf, 3, 4))) static om_status fail(om_error *error, om_status code,
                                                            const char *format, ...) {
  if (!error)
    return code;
  error->code = code;
  char sentence[2 * sizeof(error->message)] = "";
  va_list args;
  va_start(args, format);
  std::vsnprintf(sentence, sizeof(sentence), format, args);
  va_end(args);
  atc::rt::copyPrintable(error->message, sizeof(error->message), sentence, std::strlen(sentence));
  return code;
}

static int verify(void *, const om_public_key *key, const uint8_t signature[OM_SIGNATURE_BYTES],
                  const void *message, size_t bytes) {
  return crypto_sign_ed25519_verify_detached(signature, static_cast<const uint8_t *>(message),
                                             bytes, key->bytes);
}

static int digest(void *, const void *data, size_t bytes, uint8_t result[OM_DIGEST_BYTES]) {
  return crypto_generichash_blake2b(result, OM_DIGEST_BYTES, static_cast<const uint8_t *>(data),
                                    bytes, nullptr, 0);
}

const om_crypto *om_trust_crypto(void) {
  static const om_crypto crypto = {sizeof(om_crypto), nullptr, verify, digest};
  return sodium_init() < 0 ? nullptr : &crypto;
}

om_status om_trust_read_key(const char *path, om_public_key *key, om_error *error) {
  if (!path || !key)
    return fail(error, OM_ERROR_ARGUMENT, "a key needs a path and a place for it.");
  // A pipe must not be waited for.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return fail(error, OM_ERROR_IO, "cannot open the key file '%s': %s.", path,
                std::strerror(errno));
  char text[128];
  const ssize_t count = read(file, text, sizeof(text) - 1);
  const int reason = errno;
  close(file);
  if (count < 0)
    return fail(error, OM_ERROR_IO, "cannot read the key file '%s': %s.", path,
                std::strerror(reason));
  const size_t size = static_cast<size_t>(count);
  text[size] = 0;

  constexpr size_t mark = sizeof(OM_PUBLIC_KEY_MARK) - 1, digits = 2 * OM_KEY_BYTES;
  if (std::strncmp(text, OM_SECRET_KEY_MARK, sizeof(OM_SECRET_KEY_MARK) - 1) == 0) {
    sodium_memzero(text, sizeof(text));
    return fail(error, OM_ERROR_ARGUMENT,
                "'%s' holds a secret key, where the public key belongs: a secret key stays with "
                "the one who signs.",
                path);
  }
  size_t length = 0;
  const bool good = size >= mark + 1 + digits && text[mark] == ' ' &&
                    std::strncmp(text, OM_PUBLIC_KEY_MARK, mark) == 0 &&
                    sodium_hex2bin(key->bytes, sizeof(key->bytes), text + mark + 1, digits, nullptr,
                                   &length, nullptr) == 0 &&
                    length == sizeof(key->bytes) &&
                    std::strspn(text + mark + 1 + digits, "\r\n") == size - mark - 1 - digits;
  return good ? OM_OK
              : fail(error, OM_ERROR_ARGUMENT,
                     "'%s' is no public key file: it should be one line, '%s' and %d hexadecimal "
                     "digits.",
                     path, OM_PUBLIC_KEY_MARK, int(digits));
}
