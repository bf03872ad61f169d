//===-- ConstantDataTest.cpp - reading and making constants ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/ops/StructureOps.h"
#include "test/dialects/graph/RunGraph.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h" // NOLINT(misc-include-cleaner): handles are a template
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

RankedTensorType typeOf(MLIRContext &context, ArrayRef<int64_t> shape, unsigned width) {
  return RankedTensorType::get(shape, IntegerType::get(&context, width));
}

} // namespace

TEST_CASE("few elements are stored in the attribute", "[constant]") {
  Graph graph;
  std::vector<int32_t> values = {1, -2, 3};
  ElementsAttr attr = makeConstant(typeOf(graph.context, {3}, 32), ArrayRef<int32_t>(values));
  CHECK(isa<DenseElementsAttr>(attr));
  auto bytes = ConstantBytes::get(attr);
  REQUIRE(succeeded(bytes));
  CHECK(bytes->as<int32_t>() == ArrayRef<int32_t>(values));
}

TEST_CASE("a constant without elements has any element type", "[constant]") {
  Graph graph;
  auto type = RankedTensorType::get({0, 2}, StringType::get(&graph.context));
  ElementsAttr attr = makeConstant(type, std::vector<char>());
  CHECK(attr.getType() == type);
  CHECK(attr.empty());
}

TEST_CASE("many elements are moved into a resource", "[constant]") {
  Graph graph;
  std::vector<char> values(1000, 5);
  const char *address = values.data();
  ElementsAttr attr = makeConstant(typeOf(graph.context, {1000}, 8), std::move(values), "weights");
  REQUIRE(isa<DenseResourceElementsAttr>(attr));
  auto bytes = ConstantBytes::get(attr);
  REQUIRE(succeeded(bytes));
  CHECK(bytes->bytes().data() == address);
  CHECK_FALSE(bytes->ownsBytes());
}

TEST_CASE("names of resources differ", "[constant]") {
  Graph graph;
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    auto attr = makeConstant(typeOf(graph.context, {100}, 8), std::vector<char>(100), "w");
    names.insert(cast<DenseResourceElementsAttr>(attr).getRawHandle().getKey().str());
  }
  CHECK(names.size() == 3);
}

TEST_CASE("borrowed bytes are given back", "[constant]") {
  std::vector<char> storage(100, 1);
  int calls = 0;
  auto release = [&](void *data, size_t size, size_t) {
    CHECK(data == storage.data());
    calls += size == storage.size();
  };
  {
    Graph graph;
    ElementsAttr attr =
        makeConstant(typeOf(graph.context, {100}, 8), ArrayRef<char>(storage), release);
    CHECK(ConstantBytes::get(attr)->bytes().data() == storage.data());
    CHECK(calls == 0);
  }
  CHECK(calls == 1);
  // Few elements are copied, and their owner is told at once.
  Graph graph;
  storage.resize(3);
  makeConstant(typeOf(graph.context, {3}, 8), ArrayRef<char>(storage), release);
  CHECK(calls == 2);
}

TEST_CASE("splats expand on demand", "[constant]") {
  Graph graph;
  auto attr = DenseElementsAttr::get(typeOf(graph.context, {4}, 16), APInt(16, 7));
  auto bytes = ConstantBytes::get(attr);
  REQUIRE(succeeded(bytes));
  CHECK(bytes->isSplat());
  CHECK(bytes->as<int16_t>().size() == 1);
  CHECK(bytes->expandedAs<int16_t>() == ArrayRef<int16_t>({7, 7, 7, 7}));
}

TEST_CASE("bools are bytes", "[constant]") {
  Graph graph;
  auto type = typeOf(graph.context, {3}, 1);
  for (ElementsAttr attr :
       {ElementsAttr(DenseElementsAttr::get(type, ArrayRef<bool>{true, false, true})),
        makeConstant(type, ArrayRef<char>({1, 0, 1}))}) {
    auto bytes = ConstantBytes::get(attr);
    REQUIRE(succeeded(bytes));
    CHECK(bytes->bytes() == ArrayRef<char>({1, 0, 1}));
  }
}

TEST_CASE("bytes at an odd address are copied", "[constant]") {
  Graph graph;
  std::vector<char> storage(401, 0);
  ArrayRef<char> odd = ArrayRef<char>(storage).drop_front(1);
  storage[1] = 9;
  ElementsAttr attr =
      makeConstant(typeOf(graph.context, {100}, 32), odd, AsmResourceBlob::DeleterFn());
  auto bytes = ConstantBytes::get(attr);
  REQUIRE(succeeded(bytes));
  CHECK(bytes->ownsBytes());
  CHECK(bytes->as<int32_t>()[0] == 9);
}

TEST_CASE("resources of a wrong size are refused", "[constant]") {
  Graph graph;
  ElementsAttr attr = makeConstant(typeOf(graph.context, {100}, 32), std::vector<char>(400));
  auto handle = cast<DenseResourceElementsAttr>(attr).getRawHandle();
  CHECK(failed(ConstantBytes::get(
      DenseResourceElementsAttr::get(typeOf(graph.context, {101}, 32), handle))));
}

TEST_CASE("constants that are no longer used free their bytes", "[constant]") {
  std::vector<char> kept(100, 1), dropped(100, 2);
  int keptCalls = 0, droppedCalls = 0;
  Graph graph;
  OpBuilder builder(&graph.context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto type = typeOf(graph.context, {100}, 8);
  ElementsAttr used =
      makeConstant(type, ArrayRef<char>(kept), [&](void *, size_t, size_t) { ++keptCalls; });
  makeConstant(type, ArrayRef<char>(dropped), [&](void *, size_t, size_t) { ++droppedCalls; });
  ConstantOp::create(builder, builder.getUnknownLoc(), used);
  releaseUnusedConstants(*module);
  CHECK(keptCalls == 0);
  CHECK(droppedCalls == 1);
}

TEST_CASE("a module that shares constants frees those it made alone", "[constant]") {
  std::vector<char> shared(100, 1), own(100, 2);
  int sharedCalls = 0, ownCalls = 0;
  Graph graph;
  OpBuilder builder(&graph.context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  auto type = typeOf(graph.context, {100}, 8);
  makeConstant(type, ArrayRef<char>(shared), [&](void *, size_t, size_t) { ++sharedCalls; });
  shareConstants(*module);
  makeConstant(type, ArrayRef<char>(own), [&](void *, size_t, size_t) { ++ownCalls; });
  releaseUnusedConstants(*module);
  CHECK(sharedCalls == 0);
  CHECK(ownCalls == 1);
  (*module)->setAttr(kSharedConstantsAttr, builder.getUnitAttr());
  makeConstant(type, ArrayRef<char>(own), [&](void *, size_t, size_t) { ++ownCalls; });
  releaseUnusedConstants(*module);
  CHECK(ownCalls == 1);
  (*module)->removeAttr(kSharedConstantsAttr);
  releaseUnusedConstants(*module);
  CHECK(sharedCalls == 1);
  CHECK(ownCalls == 2);
}

TEST_CASE("a deferred constant is computed when it is read", "[constant]") {
  constexpr int64_t size = 1 << 16;
  Graph graph;
  OpBuilder builder(&graph.context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto type = typeOf(graph.context, {size}, 8);
  int calls = 0;
  auto addOne = [&](ElementsAttr source) {
    ++calls;
    std::vector<char> bytes;
    auto data = ConstantBytes::get(source);
    if (failed(data))
      return bytes;
    for (char byte : data->bytes())
      bytes.push_back(static_cast<char>(byte + 1));
    return bytes;
  };
  ElementsAttr source = makeConstant(type, std::vector<char>(size, 4));
  ElementsAttr deferred = deferConstant(source, type, "add one", addOne);
  REQUIRE(deferred);
  CHECK(calls == 0);
  CHECK(deferredSource(deferred, "add one") == source);
  CHECK(!deferredSource(deferred, "add two"));
  CHECK(!deferredSource(source, "add one"));
  // What is derived from a deferred constant reads it, and its source stays as long as it is used.
  ElementsAttr next = deferConstant(deferred, type, "add one", addOne);
  auto constant = ConstantOp::create(builder, builder.getUnknownLoc(), next);
  releaseUnusedConstants(*module);
  for (int reads = 0; reads < 2; ++reads) {
    auto bytes = ConstantBytes::get(next);
    REQUIRE(succeeded(bytes));
    CHECK(bytes->bytes().size() == size);
    CHECK(llvm::all_of(bytes->bytes(), [](char byte) { return byte == 6; }));
    CHECK(calls == 2);
  }
  constant.erase();
  releaseUnusedConstants(*module);
  CHECK(failed(ConstantBytes::get(source)));
  CHECK(failed(ConstantBytes::get(next)));
}

TEST_CASE("derived constants are shared within a scope", "[constant]") {
  constexpr int64_t size = 1 << 16;
  Graph graph;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&graph.context));
  auto type = typeOf(graph.context, {size}, 8);
  ElementsAttr source = makeConstant(type, std::vector<char>(size, 4));
  auto derive = [&](ElementsAttr from, int parameter) {
    return *deriveConstant(from, recipeOf("fill", parameter), [&]() -> FailureOr<ElementsAttr> {
      return makeConstant(type, std::vector<char>(size, static_cast<char>(parameter)));
    });
  };
  CHECK(derive(source, 1) != derive(source, 1));
  {
    DerivedConstantsScope scope(&graph.context);
    ElementsAttr first = derive(source, 1);
    CHECK(derive(source, 1) == first);
    CHECK(derive(source, 2) != first);
    CHECK(derive(makeConstant(type, std::vector<char>(size, 4)), 1) != first);
    // Bytes that have been freed are made again.
    releaseUnusedConstants(*module);
    ElementsAttr again = derive(source, 1);
    CHECK(again != first);
    CHECK(ConstantBytes::get(again)->bytes().front() == 1);
  }
  ElementsAttr outside = derive(source, 1);
  CHECK(derive(source, 1) != outside);
}

/// Returns the bytes of files that are mapped and in memory.
static int64_t residentFileBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0, shared = 0;
  file >> size >> resident >> shared;
  return shared * int64_t(llvm::sys::Process::getPageSizeEstimate());
}

TEST_CASE("pages of a file leave memory and come back", "[constant]") {
  constexpr int64_t size = 8 << 20;
  Graph graph;
  SmallString<64> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("constant", "bin", path));
  const llvm::FileRemover remover(path);
  {
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    REQUIRE(!error);
    file << std::string(size, 'x');
  }
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  REQUIRE(buffer);
  ElementsAttr constant =
      makeConstant(typeOf(graph.context, {size}, 8),
                   ArrayRef<char>((*buffer)->getBufferStart(), size), AsmResourceBlob::DeleterFn());
  markFileBacked(constant);
  auto isFull = [&] {
    return llvm::all_of(ConstantBytes::get(constant)->bytes(),
                        [](char byte) { return byte == 'x'; });
  };
  CHECK(isFull());
  const int64_t before = residentFileBytes();
  const DerivedConstantsScope scope(&graph.context);
  CHECK(succeeded(deriveConstant(constant, "same", [&] { return FailureOr(constant); })));
  CHECK(residentFileBytes() <= before - size / 2);
  CHECK(isFull());
}
