//===-- ObjectCache.cpp - objects of host kernels kept on the disk --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is a magic number, the hash of the object, and the object.

#include "backends/cpu/ObjectCache.h"

#include "support/OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

using namespace llvm;

namespace atc::cpu {

namespace {
constexpr StringLiteral magic = "OATCOBJ1";
constexpr StringLiteral suffix = ".oatc-object";
constexpr size_t hashBytes = 16;

std::string hashOf(ArrayRef<StringRef> parts) {
  BLAKE3 hasher;
  for (StringRef part : parts) {
    const uint64_t size = part.size();
    hasher.update(ArrayRef(reinterpret_cast<const uint8_t *>(&size), sizeof(size)));
    hasher.update(part);
  }
  const BLAKE3Result<hashBytes> result = hasher.final<hashBytes>();
  return std::string(result.begin(), result.end());
}

std::string fromEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string joined(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}
} // namespace

std::string defaultCacheFolder() {
  if (std::getenv("OPENATC_CACHE_DIR"))
    return fromEnvironment("OPENATC_CACHE_DIR");
  if (std::string cache = fromEnvironment("XDG_CACHE_HOME"); sys::path::is_absolute(cache))
    return joined(cache, "openatc");
  if (std::string home = fromEnvironment("HOME"); sys::path::is_absolute(home))
    return joined(home, ".cache/openatc");
  return "";
}

ObjectCache::ObjectCache(const CacheOptions &given) : options(given) {
  if (options.mode != CacheMode::Disable && options.folder.empty())
    options.folder = defaultCacheFolder();
  if (options.folder.empty())
    options.mode = CacheMode::Disable;
}

std::string ObjectCache::key(ArrayRef<StringRef> parts) {
  SmallVector<StringRef> all = {OPENATC_CODE_GENERATOR_HASH, LLVM_VERSION_STRING};
  all.append(parts.begin(), parts.end());
  return toHex(hashOf(all), /*LowerCase=*/true);
}

std::string ObjectCache::pathOf(StringRef key) const {
  return joined(options.folder, (key + suffix).str());
}

std::optional<SmallVector<char, 0>> ObjectCache::find(StringRef key) const {
  if (options.mode != CacheMode::Enable)
    return std::nullopt;
  const std::string path = pathOf(key);
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.consume_front(magic) || bytes.size() < hashBytes)
    return std::nullopt;
  const StringRef object = bytes.drop_front(hashBytes);
  if (bytes.take_front(hashBytes) != hashOf({key, object}))
    return std::nullopt;
  // The time of the last use, by which prune() chooses.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectCache::store(StringRef key, ArrayRef<char> object) const {
  if (options.mode == CacheMode::Disable ||
      sys::fs::create_directories(options.folder, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return;
  const StringRef bytes(object.data(), object.size());
  OutputFile file(pathOf(key), {.mode = 0600, .durable = false});
  if (file.isOpen() && file.write(magic) && file.write(hashOf({key, bytes})) && file.write(bytes))
    file.commit();
  // Looking through the folder takes longer than most objects do: one in so many of them has it
  // done.
  if (key.starts_with("00"))
    prune();
}

void ObjectCache::prune() const {
  if (options.mode == CacheMode::Disable)
    return;
  struct Entry {
    sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (sys::fs::directory_iterator i(options.folder, error), end; !error && i != end;
       i.increment(error)) {
    auto status = i->status();
    if (!status || status->type() != sys::fs::file_type::regular_file)
      continue;
    // A process that was killed has left an unfinished file; a young one may belong to a process
    // that still writes it.
    if (StringRef(i->path()).ends_with(".part") &&
        status->getLastModificationTime() + std::chrono::hours(1) <
            std::chrono::system_clock::now())
      (void)sys::fs::remove(i->path()); // another process may have been faster
    if (!StringRef(i->path()).ends_with(suffix))
      continue;
    total += status->getSize();
    entries.push_back({status->getLastModificationTime(), status->getSize(), i->path()});
  }
  if (total <= options.maxBytes)
    return;
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::pair(a.used, StringRef(a.path)) < std::pair(b.used, StringRef(b.path));
  });
  for (const Entry &entry : entries) {
    if (total <= options.maxBytes / 4 * 3)
      return;
    if (!sys::fs::remove(entry.path))
      total -= entry.bytes;
  }
}

} // namespace atc::cpu
