//===-- openatc/trust.hpp - whom a program trusts: the C++ wrapper --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header-only, over trust.h; a program that includes it links openatc_trust.
//
//   om::TrustedKeys keys;
//   om::Error error;
//   if (!keys.addFile("vendor.pub", error)) ...
//   om::Model model = om::Model::loadFile("net.om", error, keys.require());

#ifndef OPENATC_TRUST_HPP
#define OPENATC_TRUST_HPP

#include "openatc/om.hpp"
#include "openatc/trust.h"

#include <cstdio>

namespace om {

/// Public keys, one of which must have signed what is loaded.
class TrustedKeys {
public:
  /// A public key file of om-sign.
  bool addFile(const std::string &path, Error &error) {
    om_public_key key;
    if (om_trust_read_key(path.c_str(), &key, &error.c) != OM_OK)
      return false;
    keys.push_back(key);
    return true;
  }
  /// The 32 bytes of a public key.
  bool addBytes(const void *data, size_t bytes, Error &error) {
    om_public_key key;
    if (!data || bytes != sizeof(key.bytes)) {
      error.c.code = OM_ERROR_ARGUMENT;
      std::snprintf(error.c.message, sizeof(error.c.message),
                    "a public key has %zu bytes, but %zu are given.", sizeof(key.bytes),
                    data ? bytes : size_t(0));
      return false;
    }
    std::memcpy(key.bytes, data, bytes);
    keys.push_back(key);
    return true;
  }

  size_t size() const { return keys.size(); }

  /// `options` that ask for a signature with one of the keys. They refer to this
  /// object, which must stay as it is until the load is done.
  om_load_options require(om_load_options options = OM_LOAD_OPTIONS_INIT) const {
    options.require_signature = 1;
    options.trusted_keys = keys.data();
    options.trusted_key_count = keys.size();
    options.crypto = om_trust_crypto();
    return options;
  }

private:
  std::vector<om_public_key> keys;
};

} // namespace om

#endif
