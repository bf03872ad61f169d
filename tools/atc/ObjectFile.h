//===-- ObjectFile.h - models as object files -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_OBJECTFILE_H
#define OPENATC_TOOLS_ATC_OBJECTFILE_H

#include "openatc/om.hpp"
#include "support/Diagnostics.h"
#include "support/OutputFile.h"

#include <string>
#include <vector>

namespace atc::tools {

/// Writes the `.om` file in `file` as an ELF object at `path`, which ends in ".o", and beside it a
/// C header with its sizes and the indices of its inputs and outputs (".h"). The object has the
/// file in one section of readable, executable memory at a multiple of 4096, under the symbol
/// `<name>_om`, where the name is that of the path. Adds both to `files`, which the caller commits.
/// Reports errors: the code in the file must be of one architecture.
void writeObject(const ::om::Buffer &file, const std::string &path, std::vector<OutputFile> &files,
                 Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_OBJECTFILE_H
