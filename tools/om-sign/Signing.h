//===-- Signing.h - makes keys and signs .om files ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OM_SIGN_SIGNING_H
#define OPENATC_TOOLS_OM_SIGN_SIGNING_H

#include "openatc/trust.h"

#include <string>

namespace atc::tools {

/// Makes a key pair: `<path>` (secret, mode 0600) and `<path>.pub`. Neither may
/// exist. On failure returns false and `error` is one line with an error code, as below.
bool makeKeys(const std::string &path, std::string &error);

/// Signs the file at `from` and puts the result at `to`, which may be the same
/// path and appears whole or not at all. A signature that is there is replaced.
bool signFile(const std::string &from, const std::string &to, const std::string &secretKey,
              std::string &error);

/// Checks hashes, signature and digests of a file for any machine, as a loader
/// with `require_signature` does.
bool verifyFile(const std::string &path, const om_public_key &key, std::string &error);

} // namespace atc::tools

#endif
