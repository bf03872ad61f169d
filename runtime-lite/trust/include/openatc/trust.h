/*===-- openatc/trust.h - the cryptography for signed .om files -------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A library of its own (openatc_trust, on libsodium), so that the runtime needs
 * nothing. A program that runs only models it trusts does
 *
 *   om_public_key key;
 *   if (om_trust_read_key("vendor.pub", &key, &error) != OM_OK) ...
 *   om_load_options options = OM_LOAD_OPTIONS_INIT;
 *   options.require_signature = 1;
 *   options.trusted_keys = &key;
 *   options.trusted_key_count = 1;
 *   options.crypto = om_trust_crypto();
 *   if (om_model_load_file("model.om", &options, &model, &error) != OM_OK) ...
 */
#ifndef OPENATC_TRUST_H
#define OPENATC_TRUST_H

#include "openatc/om.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first word of a key file; a space and 64 hexadecimal digits follow. */
#define OM_PUBLIC_KEY_MARK "openatc-ed25519-public"
#define OM_SECRET_KEY_MARK "openatc-ed25519-secret"

/* Ed25519 and BLAKE2b of libsodium, for om_load_options.crypto. NULL when
 * libsodium cannot start; a load that requires a signature then fails. */
OM_API const om_crypto *om_trust_crypto(void);

/* Reads a public key file as om-sign writes it. */
OM_API om_status om_trust_read_key(const char *path, om_public_key *key, om_error *error);

#ifdef __cplusplus
}
#endif

#endif
