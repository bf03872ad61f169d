//===-- GraphOptions.h - the names of options in graph programs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_GRAPHOPTIONS_H
#define OPENATC_SUPPORT_GRAPHOPTIONS_H

#include <optional>
#include <string>
#include <string_view>

namespace atc {

/// Returns the flag of atc that an option of a graph program ("ge.exec.precision_mode", or the
/// flag's own name) stands for: "" where the option has no meaning here, nothing where it is not
/// known.
std::optional<std::string> flagOfGraphOption(std::string_view option);

} // namespace atc

#endif // OPENATC_SUPPORT_GRAPHOPTIONS_H
