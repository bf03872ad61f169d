//===-- ImageLinker.h - object code becomes one mappable image ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_IMAGELINKER_H
#define OPENATC_BACKENDS_CPU_IMAGELINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace atc::cpu {

/// Code and its constants as bytes that work, read-only, at any 4096-aligned address.
struct LinkedImage {
  std::vector<char> bytes;
  std::map<std::string, uint64_t> functions; ///< name -> offset in bytes
};

/// Links ELF objects (position-independent code, all of one architecture of Architectures.h) into
/// an image. Fails for objects that need external symbols, a loader's help at run time, or writable
/// memory; the error names every such symbol and section. Thread-safe: one call runs at a time,
/// others wait.
llvm::Expected<LinkedImage> linkImage(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace atc::cpu

#endif
