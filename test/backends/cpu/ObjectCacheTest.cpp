//===-- ObjectCacheTest.cpp - objects of host kernels on the disk ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/ObjectCache.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace atc::cpu;
namespace fs = std::filesystem;

namespace {

/// A folder that does not exist yet, in one that is removed at the end of the test.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "openatc-cache-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    root = name;
  }
  ~Scratch() { fs::remove_all(root); }
  CacheOptions options(CacheMode mode = CacheMode::Enable, uint64_t maxBytes = 1 << 20) const {
    return {.mode = mode, .folder = (root / "a/b").string(), .maxBytes = maxBytes};
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto &entry : fs::recursive_directory_iterator(root))
      if (entry.is_regular_file())
        all.push_back(entry.path());
    return all;
  }
  fs::path root;
};

std::string textOf(const std::optional<llvm::SmallVector<char, 0>> &object) {
  return object ? std::string(object->begin(), object->end()) : "(none)";
}

void store(const ObjectCache &cache, const std::string &key, const std::string &text) {
  cache.store(key, llvm::ArrayRef(text.data(), text.size()));
}

} // namespace

TEST_CASE("a key depends on every part and on where parts end") {
  CHECK(ObjectCache::key({"a", "b"}) == ObjectCache::key({"a", "b"}));
  CHECK(ObjectCache::key({"a", "b"}) != ObjectCache::key({"a", "c"}));
  CHECK(ObjectCache::key({"a", "b"}) != ObjectCache::key({"ab"}));
  CHECK(ObjectCache::key({"a", ""}) != ObjectCache::key({"a"}));
}

TEST_CASE("an object that was stored is found under its key alone") {
  Scratch scratch;
  ObjectCache cache(scratch.options());
  const std::string one = ObjectCache::key({"one"}), two = ObjectCache::key({"two"});
  CHECK(!cache.find(one));
  store(cache, one, "first");
  store(cache, two, std::string("with\0zero", 9));
  CHECK(textOf(cache.find(one)) == "first");
  CHECK(textOf(cache.find(two)) == std::string("with\0zero", 9));
  store(cache, one, "other");
  CHECK(textOf(cache.find(one)) == "other");
  CHECK(scratch.files().size() == 2);
}

TEST_CASE("Disable touches nothing, Force writes without reading") {
  Scratch scratch;
  const std::string key = ObjectCache::key({"x"});
  store(ObjectCache(scratch.options(CacheMode::Disable)), key, "text");
  CHECK(scratch.files().empty());
  store(ObjectCache(scratch.options(CacheMode::Force)), key, "forced");
  CHECK(!ObjectCache(scratch.options(CacheMode::Force)).find(key));
  CHECK(!ObjectCache(scratch.options(CacheMode::Disable)).find(key));
  CHECK(textOf(ObjectCache(scratch.options()).find(key)) == "forced");
}

TEST_CASE("a damaged file is not read") {
  Scratch scratch;
  ObjectCache cache(scratch.options());
  const std::string key = ObjectCache::key({"x"});
  store(cache, key, "some object");
  const fs::path path = scratch.files().at(0);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  auto rewrite = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] ^= 1;
    rewrite(changed);
    CHECK(!cache.find(key));
    rewrite(whole.substr(0, i));
    CHECK(!cache.find(key));
  }
  rewrite(whole + "x");
  CHECK(!cache.find(key));
  rewrite(whole);
  CHECK(textOf(cache.find(key)) == "some object");
  // The object of another key is damage as well.
  const std::string other = ObjectCache::key({"y"});
  fs::copy_file(path, path.parent_path() / (other + path.extension().string()));
  CHECK(!cache.find(other));
}

TEST_CASE("what was not used for the longest time is removed first") {
  Scratch scratch;
  ObjectCache cache(scratch.options(CacheMode::Enable, /*maxBytes=*/5000));
  const std::string text(1000, 'x');
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back(ObjectCache::key({std::to_string(i)}));
    store(cache, keys.back(), text);
    const fs::path path = fs::path(scratch.options().folder) / (keys.back() + ".oatc-object");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(10 - i));
  }
  cache.prune();
  CHECK(scratch.files().size() == 4);
  CHECK(cache.find(keys[0])); // Now it was used later than all others.
  store(cache, ObjectCache::key({"4"}), text);
  cache.prune();
  CHECK(scratch.files().size() == 3);
  CHECK(cache.find(keys[0]));
  CHECK(!cache.find(keys[1]));
  CHECK(!cache.find(keys[2]));
  CHECK(cache.find(keys[3]));
}

TEST_CASE("some of the objects that are kept have the folder pruned") {
  Scratch scratch;
  ObjectCache cache(scratch.options(CacheMode::Enable, /*maxBytes=*/1500));
  const std::string text(1000, 'x');
  store(cache, "10", text);
  store(cache, "20", text);
  CHECK(scratch.files().size() == 2);
  store(cache, "00", text);
  CHECK(scratch.files().size() == 1);
}

TEST_CASE("unfinished files of processes that were killed are removed") {
  Scratch scratch;
  ObjectCache cache(scratch.options());
  store(cache, "key", "text");
  const fs::path folder = scratch.options().folder;
  std::ofstream(folder / "new.oatc-object.abcdef.part") << "being written";
  std::ofstream(folder / "old.oatc-object.abcdef.part") << "left";
  fs::last_write_time(folder / "old.oatc-object.abcdef.part",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.prune();
  CHECK(fs::exists(folder / "new.oatc-object.abcdef.part"));
  CHECK(!fs::exists(folder / "old.oatc-object.abcdef.part"));
  CHECK(cache.find("key"));
}

TEST_CASE("a folder that cannot be made is no error") {
  Scratch scratch;
  std::ofstream(scratch.root / "a") << "a file";
  ObjectCache cache(scratch.options());
  store(cache, "key", "text");
  CHECK(!cache.find("key"));
  cache.prune();
  CHECK(scratch.files().size() == 1);
}

TEST_CASE("the folder is OPENATC_CACHE_DIR, else one for caches of the user") {
  auto set = [](const char *name, const char *value) {
    value ? setenv(name, value, 1) : unsetenv(name);
  };
  set("OPENATC_CACHE_DIR", "/c");
  set("XDG_CACHE_HOME", "/x");
  set("HOME", "/h");
  CHECK(defaultCacheFolder() == "/c");
  set("OPENATC_CACHE_DIR", "");
  CHECK(defaultCacheFolder().empty());
  set("OPENATC_CACHE_DIR", nullptr);
  CHECK(defaultCacheFolder() == "/x/openatc");
  set("XDG_CACHE_HOME", "relative");
  CHECK(defaultCacheFolder() == "/h/.cache/openatc");
  set("XDG_CACHE_HOME", nullptr);
  set("HOME", nullptr);
  CHECK(defaultCacheFolder().empty());
}
