//===-- Trust.cpp - whose models om-run may run ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Trust.h"
#include "openatc/om.hpp"
#include "support/ErrorCodes.h"

#ifdef OPENATC_HAS_TRUST
#include "openatc/trust.h"
#endif

namespace atc::tools {

bool readTrust(const Options &options, std::vector<om_public_key> &keys, om_load_options &loading,
               std::vector<std::string> &errors) {
  auto failed = [&](ErrorCode code, const std::string &sentence) {
    errors.push_back(codedLine(code, sentence));
    return false;
  };
  loading.refuse_native_code = options.refuseNativeCode;
  loading.require_signature = options.requireSignature;
  if (options.requireSignature == options.trustedKeys.empty())
    return failed("E10057", "--require_signature and --trusted_key go only together.");
  if (!options.requireSignature)
    return true;
#ifdef OPENATC_HAS_TRUST
  om::Error error;
  bool areRead = true;
  for (const std::string &path : options.trustedKeys)
    if (om_trust_read_key(path.c_str(), &keys.emplace_back(), &error.c) != OM_OK)
      areRead = failed(error.code() == OM_ERROR_IO ? ErrorCode("E13001") : ErrorCode("E13005"),
                       error.message());
  loading.trusted_keys = keys.data();
  loading.trusted_key_count = keys.size();
  loading.crypto = om_trust_crypto();
  return areRead;
#else
  return failed("E10055", "--require_signature is not supported: this om-run was built without "
                          "libsodium.");
#endif
}

} // namespace atc::tools
