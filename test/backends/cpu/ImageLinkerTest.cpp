//===-- ImageLinkerTest.cpp - objects become images that run anywhere -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/ImageLinker.h"
#include "backends/om/OmWriter.h"
#include "openatc/om.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <iterator>
#include <sys/mman.h>

using atc::cpu::LinkedImage;
using atc::cpu::linkImage;

namespace {
std::string object(const std::string &name) {
  std::ifstream file(OPENATC_TEST_OBJECTS "/" + name + ".o", std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

LinkedImage linked(std::initializer_list<std::string> names) {
  std::vector<std::string> bytes;
  for (const std::string &name : names)
    bytes.push_back(object(name));
  std::vector<llvm::StringRef> refs(bytes.begin(), bytes.end());
  auto image = linkImage(refs);
  if (image)
    return std::move(*image);
  FAIL(llvm::toString(image.takeError()));
  return {};
}

std::string refusal(std::initializer_list<std::string> names) {
  std::vector<std::string> bytes;
  for (const std::string &name : names)
    bytes.push_back(object(name));
  std::vector<llvm::StringRef> refs(bytes.begin(), bytes.end());
  auto image = linkImage(refs);
  return image ? "" : llvm::toString(image.takeError());
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// An image mapped R-X at an address of its own.
struct Mapped {
  explicit Mapped(const LinkedImage &image) : size(image.bytes.size()) {
    base = static_cast<char *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(base, image.bytes.data(), size);
    mprotect(base, size, PROT_READ | PROT_EXEC);
  }
  ~Mapped() { munmap(base, size); }
  char *base;
  size_t size;
};

using Table = int (*)(int);

size_t openFiles() {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (readdir(folder))
    ++count;
  closedir(folder);
  return count;
}
} // namespace

TEST_CASE("an image runs at any address, with its constants and calls between objects") {
  LinkedImage image = linked({"good", "helper"});
  REQUIRE(image.functions.count("lookup"));
  REQUIRE(image.functions.count("scale"));
  Mapped first(image), second(image);
  for (const Mapped *at : {&first, &second}) {
    auto lookup = reinterpret_cast<Table>(at->base + image.functions["lookup"]);
    CHECK(lookup(0) == 300);
    CHECK(lookup(3) == 307);
    CHECK(lookup(9) == -1);
    // A switch, which compiles to a table of jumps.
    auto choose = reinterpret_cast<Table>(at->base + image.functions["choose"]);
    for (int i = 0; i < 8; ++i)
      CHECK(choose(i) == i * i * 3 + 11);
    CHECK(choose(100) == -5);
  }
}

TEST_CASE("linking can be done again and again and leaves nothing open") {
  linked({"good", "helper"});
  size_t before = openFiles();
  for (int i = 0; i < 20; ++i)
    linked({"good", "helper"});
  CHECK(openFiles() == before);
}

TEST_CASE("what a loader would have to do is refused by name") {
  std::string undefined = refusal({"good"});
  CHECK(contains(undefined, "E19999: "));
  CHECK(contains(undefined, "'helper_value'"));

  std::string library = refusal({"calls_library"});
  CHECK(contains(library, "'expf'"));
  CHECK(contains(library, "'puts'"));

  std::string writable = refusal({"writable"});
  CHECK(contains(writable, "'.data'"));
  CHECK(contains(writable, "'counter'"));
  CHECK(contains(writable, "'.bss'"));
  CHECK(contains(writable, "'zeroed'"));

  // Addresses in constants can only be filled in at run time.
  std::string pointers = refusal({"pointers"});
  CHECK(contains(pointers, "'.data.rel.ro"));
  CHECK(contains(pointers, "'table_of_pointers'"));

  CHECK(contains(refusal({"good", "good", "helper"}), "duplicate symbol"));
  // After failures it still works.
  linked({"good", "helper"});
}

TEST_CASE("code that is not position-independent is refused") {
  CHECK(contains(refusal({"absolute"}), "cannot become an image"));
  linked({"good", "helper"});
}

TEST_CASE("objects for other architectures become an image") {
  const std::string arch =
      GENERATE(std::string("-aarch64"), std::string("-riscv64"), std::string("-armv7"));
  LinkedImage image = linked({"good" + arch, "helper" + arch});
  CHECK(image.functions.count("choose") == 1);
  CHECK(image.functions.count("scale") == 1);
  // `lookup` reads its table relative to itself: no address is left to fill in.
  CHECK(image.functions.at("lookup") < image.bytes.size());
  CHECK(contains(refusal({"good" + arch}), "'helper_value'"));
  CHECK(contains(refusal({"pointers" + arch}), "'table_of_pointers'"));
}

TEST_CASE("objects for different processors are refused") {
  CHECK(
      contains(refusal({"good", "helper-aarch64"}), "different architectures: x86_64 and aarch64"));
  CHECK(contains(refusal({"good-armv7", "helper"}), "different architectures: arm and x86_64"));
  linked({"good", "helper"});
}

TEST_CASE("bytes that are no object are refused") {
  for (const std::string &bytes :
       {std::string(), std::string("not an object"), std::string(4096, '\0'),
        object("good").substr(0, 100), object("good").substr(0, 400)}) {
    auto image = linkImage({llvm::StringRef(bytes)});
    CHECK_FALSE(static_cast<bool>(image));
    CHECK(contains(llvm::toString(image.takeError()), "E19999: "));
  }
  std::string shared = object("good");
  shared[16] = 3; // e_type: already linked
  auto image = linkImage({llvm::StringRef(shared)});
  CHECK_FALSE(static_cast<bool>(image));
  llvm::consumeError(image.takeError());
}

TEST_CASE("a linked kernel runs from an .om file") {
  LinkedImage image = linked({"good", "helper"});
  using namespace atc::om;
  const std::vector<float> weights(16, 2.5f);
  OmModel model;
  const OmBufferRef x{OM_INPUT, 0, 0, 64}, w{OM_WEIGHTS, 0, 0, 64}, y{OM_OUTPUT, 0, 0, 64};
  model.name = "linked";
  model.tensors = {{"x", OM_F32, {16}, 0, {}, x}, {"y", OM_F32, {16}, 0, {}, y}};
  model.inputs = {0};
  model.outputs = {1};
  model.weights = {{weights.data(), 64, 0}};
  model.kernels = {"scale"};
  OmImage code;
  code.level = "x86-64";
  code.code = image.bytes.data();
  code.codeSize = image.bytes.size();
  code.entries = {image.functions["scale"]};
  code.tasks = {16};
  model.images = {code};
  model.schedule = {{0, "scale", {x, w, y}, 16, {0}, {1}}};
  const std::string path = OPENATC_TEST_OBJECTS "/linked.om";
  std::string errorText;
  REQUIRE(writeOm(model, path, errorText));

  om::Error error;
  om::Model loaded = om::Model::loadFile(path, error);
  INFO(error.message());
  REQUIRE(loaded);
  om::Session session(loaded, error);
  om::Buffer in(64), out(64);
  for (int i = 0; i < 16; ++i)
    in.data<float>()[i] = static_cast<float>(i);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  REQUIRE(session.run(inputs, outputs, error));
  for (int i = 0; i < 16; ++i)
    CHECK(out.data<float>()[i] == 2.5f * i + 0.125f);
}
