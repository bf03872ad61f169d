//===-- Trust.h - whose models om-run may run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_TRUST_H
#define OPENATC_TOOLS_OMRUN_TRUST_H

#include "openatc/om.h"
#include "tools/om-run/Options.h"

#include <string>
#include <vector>

namespace atc::tools {

/// Sets what `options` say about signatures and native code. `keys` get the trusted keys, which
/// `loading` points to and which have to live as long as it. Returns false with coded lines added
/// to `errors` where a key cannot be read, and for options that would do nothing.
bool readTrust(const Options &options, std::vector<om_public_key> &keys, om_load_options &loading,
               std::vector<std::string> &errors);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_TRUST_H
