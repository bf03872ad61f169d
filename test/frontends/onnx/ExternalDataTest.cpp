//===-- ExternalDataTest.cpp - weights in files beside the model ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <random>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/StructureOps.h"
#include "test/frontends/onnx/TestModel.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone with the object.
struct Folder {
  fs::path path =
      fs::temp_directory_path() / ("onnx-external-" + std::to_string(std::random_device()()));
  Folder() { fs::create_directories(path / "model" / "weights"); }
  ~Folder() { fs::remove_all(path); }
  std::string model() const { return (path / "model").string(); }
};

/// x + w, the 100 floats of w in another file.
TestModel externalModel(const Names &entries) {
  TestModel model;
  model.input("x", {100}).output("y");
  onnx::TensorProto &tensor = model.initializer("w", {100}, onnx::TensorProto::FLOAT);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    onnx::StringStringEntryProto *entry = tensor.add_external_data();
    entry->set_key(entries[i]);
    entry->set_value(entries[i + 1]);
  }
  model.node("Add", {"x", "w"}, {"y"}, "add");
  return model;
}

void writeFloats(const fs::path &path, size_t skip, int count) {
  std::ofstream file(path, std::ios::binary);
  file << std::string(skip, 'x');
  for (int i = 0; i < count; ++i) {
    float value = i * 0.5f;
    file.write(reinterpret_cast<const char *>(&value), sizeof(value));
  }
}

/// The first constant of the module.
llvm::ArrayRef<float> constantOf(Imported &result) {
  llvm::ArrayRef<float> floats;
  result.module->walk([&](graph::ConstantOp op) {
    auto bytes = graph::ConstantBytes::get(op.getValue());
    REQUIRE(mlir::succeeded(bytes));
    floats = bytes->as<float>();
  });
  return floats;
}

} // namespace

TEST_CASE("external data is mapped") {
  Folder folder;
  writeFloats(folder.path / "model" / "weights" / "w.bin", 16, 101);
  Imported result = import(
      externalModel({"location", "weights/w.bin", "offset", "16", "length", "400", "other", "1"}),
      {}, folder.model());
  INFO(result.messages());
  REQUIRE(result);
  llvm::ArrayRef<float> floats = constantOf(result);
  REQUIRE(floats.size() == 100);
  CHECK(floats[0] == 0.0f);
  CHECK(floats[99] == 49.5f);
}

TEST_CASE("the data may lie at any byte, the length may be left out") {
  Folder folder;
  writeFloats(folder.path / "model" / "w.bin", 3, 100);
  Imported result = import(externalModel({"location", "w.bin", "offset", "3"}), {}, folder.model());
  INFO(result.messages());
  REQUIRE(result);
  CHECK(constantOf(result)[99] == 49.5f);
}

TEST_CASE("a model file finds its data beside it") {
  Folder folder;
  writeFloats(folder.path / "model" / "w.bin", 0, 100);
  std::string path = folder.model() + "/model.onnx";
  std::ofstream(path, std::ios::binary) << externalModel({"location", "w.bin"}).bytes();
  Imported result = importFile(path);
  INFO(result.messages());
  CHECK(result);
}

TEST_CASE("a model in the cache of a model hub finds its data among the blobs") {
  Folder folder;
  const fs::path cache = folder.path / "models--a--b";
  const fs::path snapshot = cache / "snapshots" / "4e1b" / "onnx";
  fs::create_directories(snapshot);
  fs::create_directories(cache / "blobs");
  fs::create_directories(folder.path / "models--c--d" / "blobs");
  std::ofstream(cache / "blobs" / "1111", std::ios::binary)
      << externalModel({"location", "model.onnx_data"}).bytes();
  fs::create_symlink("../../../blobs/1111", snapshot / "model.onnx");
  const fs::path data = snapshot / "model.onnx_data";
  auto importWith = [&](const fs::path &file) {
    writeFloats(file, 0, 100);
    fs::remove(data);
    fs::create_symlink(fs::relative(file, snapshot), data);
    return importFile((snapshot / "model.onnx").string());
  };
  Imported result = importWith(cache / "blobs" / "2222");
  INFO(result.messages());
  CHECK(result);
  // Neither what else lies in the cache nor another model's blobs belong to the model.
  const auto refused = Contains("leads out of the model's folder");
  CHECK_THAT(importWith(folder.path / "models--c--d" / "blobs" / "2222").messages(), refused);
  CHECK_THAT(importWith(cache / "refs").messages(), refused);
  CHECK_THAT(importWith(folder.path / "secret.bin").messages(), refused);
  // A folder of blobs that is itself a link is none of the model's.
  fs::rename(cache / "blobs", folder.path / "elsewhere");
  fs::create_directory_symlink("../elsewhere", cache / "blobs");
  fs::remove(data);
  fs::create_symlink("../../../blobs/2222", data);
  CHECK_THAT(importFile((snapshot / "model.onnx").string()).messages(), refused);
}

TEST_CASE("errors of external data") {
  Folder folder;
  writeFloats(folder.path / "model" / "w.bin", 0, 100);
  writeFloats(folder.path / "secret.bin", 0, 100);
  fs::create_symlink(folder.path / "secret.bin", folder.path / "model" / "link.bin");
  std::ofstream(folder.path / "model" / "empty.bin").flush();
  auto errorText = [&](const Names &entries) {
    Imported result = import(externalModel(entries), {}, folder.model());
    CHECK_FALSE(result);
    return result.messages();
  };
  std::string begin = "E14001: initializer 'w' ";
  CHECK_THAT(errorText({"location", "none.bin"}),
             Contains(begin + "cannot be read: external data file 'none.bin' cannot be used: "));
  CHECK_THAT(errorText({"location", "../secret.bin"}), Contains("leads out of the model's folder"));
  CHECK_THAT(errorText({"location", "link.bin"}), Contains("leads out of the model's folder"));
  CHECK_THAT(errorText({"location", (folder.path / "secret.bin").string()}),
             Contains("is not a path relative to the model's folder"));
  CHECK_THAT(errorText({"offset", "0"}), Contains("is not a path relative to the model's folder"));
  CHECK_THAT(errorText({"location", "weights"}), Contains("is not a regular file"));
  CHECK_THAT(errorText({"location", "empty.bin"}), Contains("is empty"));
  CHECK_THAT(errorText({"location", "w.bin", "offset", "8"}),
             Contains(begin + "needs bytes 8 to 408 of external data file 'w.bin', which has 400"));
  CHECK_THAT(errorText({"location", "w.bin", "offset", "18446744073709551615"}),
             Contains("of external data file 'w.bin', which has 400"));
  CHECK_THAT(errorText({"location", "w.bin", "offset", "-1"}),
             Contains(begin + "has external data with offset '-1', which is not a number"));
  CHECK_THAT(errorText({"location", "w.bin", "length", "12"}),
             Contains(begin + "has 12 bytes of data, expected 400"));
}
