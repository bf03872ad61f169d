//===-- Signature.cpp - the signature of an .om file ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Signature.h"

#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Support.h"

#include <cstdio>
#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

static_assert(sizeof(fb::Digest) == OM_DIGEST_BYTES);

uint64_t SignatureBlock::hashOfRest() const { return hash64(this, offsetof(SignatureBlock, hash)); }

uint64_t headerLength(const char *data) {
  return sizeof(flatbuffers::uoffset_t) +
         flatbuffers::GetPrefixedSize(reinterpret_cast<const uint8_t *>(data));
}

/// The block is 8-byte aligned as the header's end is.
static const SignatureBlock &blockAt(const char *at) {
  return *reinterpret_cast<const SignatureBlock *>(at);
}

om_status verifySignatureBlock(const char *at, om_error *error) {
  static const SignatureBlock none = {};
  const SignatureBlock &block = blockAt(at);
  if (std::memcmp(&block, &none, sizeof(block)) == 0)
    return OM_OK;
  if (block.hash != block.hashOfRest() ||
      std::memcmp(block.magic, SignatureBlock::mark, sizeof(block.magic)) != 0)
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: its signature does not match its hash.");
  if (block.algorithm != SignatureBlock::ed25519)
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the file is signed with algorithm %u, which this runtime does not know.",
                block.algorithm);
  return OM_OK;
}

const SignatureBlock *findSignature(const char *data, const fb::Model &model) {
  if (!signatureBytes(model))
    return nullptr;
  const SignatureBlock &block = blockAt(data + headerLength(data) + sizeof(uint64_t));
  return block.algorithm == SignatureBlock::ed25519 ? &block : nullptr;
}

om_status verifySignature(const char *data, const fb::Model &model, const om_load_options &options,
                          om_error *error) {
  const om_crypto *crypto = options.crypto;
  if (!crypto || crypto->struct_size < sizeof(om_crypto) || !crypto->verify || !crypto->digest)
    return fail(error, OM_ERROR_ARGUMENT,
                "a required signature cannot be checked without cryptography: link openatc_trust "
                "and set om_load_options.crypto to om_trust_crypto().");
  if (!options.trusted_keys || options.trusted_key_count == 0)
    return fail(error, OM_ERROR_ARGUMENT,
                "a signature is required, but no trusted key is given to check it with.");
  const SignatureBlock *block = findSignature(data, model);
  if (!block)
    return fail(error, OM_ERROR_UNSIGNED,
                "the model is not signed, but a signature is required: sign it with om-sign.");
  bool trusted = false;
  for (size_t i = 0; i < options.trusted_key_count; ++i)
    trusted |= std::memcmp(&options.trusted_keys[i], &block->key, sizeof(block->key)) == 0;
  if (!trusted) {
    char key[2 * OM_KEY_BYTES + 1];
    for (int i = 0; i < OM_KEY_BYTES; ++i)
      std::snprintf(key + 2 * i, 3, "%02x", block->key.bytes[i]);
    return fail(error, OM_ERROR_UNTRUSTED_KEY,
                "the model is signed with a key that is not trusted (%s): sign it with a trusted "
                "key, or trust this one.",
                key);
  }
  if (crypto->verify(crypto->user, &block->key, block->signature, data, headerLength(data)) != 0)
    return fail(error, OM_ERROR_SIGNATURE,
                "the model's signature is wrong: its header is not the one that was signed.");
  return OM_OK;
}

om_status verifyDigest(const fb::Model &model, uint32_t index, const char *bytes,
                       const om_crypto &crypto, om_error *error) {
  const fb::Segment &segment = *model.segments()->Get(index);
  uint8_t found[OM_DIGEST_BYTES];
  if (segment.digest() && crypto.digest(crypto.user, bytes, segment.size(), found) == 0 &&
      std::memcmp(found, segment.digest(), sizeof(found)) == 0)
    return OM_OK;
  return fail(error, OM_ERROR_SIGNATURE,
              "the model was changed after it was signed: segment %u (%s) does not match the "
              "digest that the signature covers.",
              index, fb::EnumNameSegmentKind(segment.kind()));
}

} // namespace atc::rt
