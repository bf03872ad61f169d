//===-- ObjectCache.h - objects of host kernels kept on the disk *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of a host kernel depends on the compiler, the CPU level and the element types of its
// calls alone, and takes the optimizer up to seconds. A cache keeps it from one compilation to the
// next. What it returns is what the code generator would return, bit for bit: a model's file does
// not depend on the state of the cache.

#ifndef OPENATC_BACKENDS_CPU_OBJECTCACHE_H
#define OPENATC_BACKENDS_CPU_OBJECTCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace atc::cpu {

enum class CacheMode {
  Disable, ///< reads and writes nothing
  Enable,  ///< reads what is there, writes what is not
  Force,   ///< reads nothing, replaces what is there
};

struct CacheOptions {
  CacheMode mode = CacheMode::Enable;
  /// The folder, which is created when something is written. Empty: defaultCacheFolder().
  std::string folder = {};
  /// Above this many bytes the files that were not used for the longest time are removed.
  uint64_t maxBytes = uint64_t(512) << 20;
};

/// Returns $OPENATC_CACHE_DIR, else openatc/ in $XDG_CACHE_HOME, else in ~/.cache. Empty: there
/// is none of these (or OPENATC_CACHE_DIR is empty), and nothing is cached.
std::string defaultCacheFolder();

/// A folder of objects, one file per key. Several processes and threads may use it at the same
/// time: a file appears when it is complete. A file that is damaged is not read. Nothing that goes
/// wrong here is an error of the compilation: what cannot be read is generated, and what cannot be
/// written is not kept.
class ObjectCache {
public:
  explicit ObjectCache(const CacheOptions &options);

  /// Returns the name under which an object is kept that depends on `parts` alone: a hash of them,
  /// of this compiler's code generator and of LLVM's version.
  static std::string key(llvm::ArrayRef<llvm::StringRef> parts);

  /// Returns the object of that key; nothing where there is none.
  std::optional<llvm::SmallVector<char, 0>> find(llvm::StringRef key) const;
  /// Keeps an object, and prunes the folder with one in 256 of them.
  void store(llvm::StringRef key, llvm::ArrayRef<char> object) const;
  /// Removes the files that were not used for the longest time, down to three quarters of
  /// `maxBytes`, where all together are larger than that, and unfinished files (*.part) that a
  /// killed process left more than an hour ago.
  void prune() const;

private:
  std::string pathOf(llvm::StringRef key) const;

  CacheOptions options;
};

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_OBJECTCACHE_H
