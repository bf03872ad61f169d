//===-- Signature.h - the signature of an .om file ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Since schema 1.1 a block for the signature stands behind the header's hash; it is all zeros in a
// file that is not signed. So signing moves nothing, and the signature covers the whole header,
// with a digest of every segment in it.

#ifndef OPENATC_RUNTIME_SIGNATURE_H
#define OPENATC_RUNTIME_SIGNATURE_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// The signature block as it stands in the file.
struct SignatureBlock {
  static constexpr char mark[] = "OATCSIG1";
  static constexpr uint32_t ed25519 = 1;

  char magic[8];
  uint32_t algorithm;
  uint32_t reserved[3]; ///< zeros
  om_public_key key;
  uint8_t signature[OM_SIGNATURE_BYTES];
  uint64_t hash; ///< XXH64 of everything before it: tells damage from tampering

  /// Returns the XXH64 hash of all fields before `hash`.
  uint64_t hashOfRest() const;
};
static_assert(sizeof(SignatureBlock) == 128 && sizeof(SignatureBlock::mark) == 9);

/// Returns the size in bytes of the block in a file of this schema.
inline uint64_t signatureBytes(const om::fb::Model &model) {
  return model.schema_major() == 1 && model.schema_minor() == 0 ? 0 : sizeof(SignatureBlock);
}

/// Checks that the block at `at` is either all zeros or complete; anything else is
/// OM_ERROR_CORRUPT.
om_status verifySignatureBlock(const char *at, om_error *error);

/// Returns the block of a verified file; null where the file is not signed. `data` is the file's
/// start.
const SignatureBlock *findSignature(const char *data, const om::fb::Model &model);

/// Checks that a verified file is signed, by one of the trusted keys, and that the signature
/// matches.
om_status verifySignature(const char *data, const om::fb::Model &model,
                          const om_load_options &options, om_error *error);

/// Compares a segment, whose bytes are at `bytes`, with the digest that the signature covers.
om_status verifyDigest(const om::fb::Model &model, uint32_t segment, const char *bytes,
                       const om_crypto &crypto, om_error *error);

/// Returns the length in bytes of what the signature covers: the header with its size prefix.
uint64_t headerLength(const char *data);

} // namespace atc::rt

#endif
