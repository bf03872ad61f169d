//===-- ArgumentNames.h - arguments of Python in messages -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PYTHON_ARGUMENTNAMES_H
#define OPENATC_PYTHON_ARGUMENTNAMES_H

#include <string>

namespace atc::python {

/// Returns a message with the flags of the command line that it names replaced by the arguments of
/// Python's functions: the driver knows its options by their flags, which nobody here has given.
std::string withArgumentNames(std::string message);

} // namespace atc::python

#endif // OPENATC_PYTHON_ARGUMENTNAMES_H
