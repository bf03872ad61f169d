//===-- StoredModelTest.cpp - models with stored answers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <map>

#include "test/frontends/onnx/ModelFolder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace atc::test;

TEST_CASE("mnist gives the stored answers") {
  std::string models = findShared("models");
  if (models.empty()) {
    WARN("skipped: there is no folder 'shared/models' beside the checkout");
    return;
  }
  for (const char *set : {"test_data_set_0", "test_data_set_1", "test_data_set_2"}) {
    ModelResult result = runModel(models + "/mnist-onnxmodels.onnx",
                                  models + "/inputs/mnist-onnxmodels/" + set, {1e-4, 1e-3});
    INFO(set << ": " << result.reason);
    CHECK(result.kind == ModelResult::Passed);
  }
}

TEST_CASE("super-resolution gives the stored answer") {
  std::string models = findShared("models");
  if (models.empty()) {
    WARN("skipped: there is no folder 'shared/models' beside the checkout");
    return;
  }
  ModelResult result =
      runModel(models + "/super-resolution.onnx", models + "/inputs/super-resolution", {1e-4, 1e-4},
               {{"input", {1, 1, 224, 224}}});
  INFO(result.reason);
  CHECK(result.kind == ModelResult::Passed);
}

/// Tests whose data is not what it seems.
static bool isLeftOut(llvm::StringRef name) {
  // The data of bfloat16 is stored as uint16.
  if (name.contains("BFLOAT16"))
    return true;
  // Computed with an epsilon of 0.01, which its node does not have.
  if (name == "test_adam_multiple")
    return true;
  // Computed with a result of 2.4 pixels; runtimes agree on whole ones.
  return name.starts_with("test_resize_downsample_scales_") && name.ends_with("_align_corners");
}

/// The standard's own tests, one small model for each case of each operator.
/// Debian has them in libonnx-testdata; OPENATC_ONNX_NODE_TESTS names another
/// folder of the same form.
TEST_CASE("the operator tests of the ONNX standard") {
  const char *given = std::getenv("OPENATC_ONNX_NODE_TESTS");
  std::string root = given ? given : "/usr/share/libonnx-testdata/data/node";
  if (!llvm::sys::fs::exists(root)) {
    WARN("skipped: " << root << " is not there (Debian package libonnx-testdata)");
    return;
  }

  std::map<std::string, std::string> refused;
  unsigned passed = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(root, error), end; it != end && !error;
       it.increment(error)) {
    std::string name = llvm::sys::path::filename(it->path()).str();
    if (!llvm::sys::fs::exists(it->path() + "/model.onnx"))
      continue;
    // Shapes, axes and the like are inputs there: what must be constant is made so.
    ModelResult result;
    for (unsigned firstConstant : {99, 1, 0}) {
      result = runModel(it->path() + "/model.onnx", it->path() + "/test_data_set_0", {1e-3, 1e-5},
                        {}, firstConstant);
      if (result.kind != ModelResult::Refused)
        break;
    }
    if (isLeftOut(name))
      continue;
    INFO(name << ": " << result.reason);
    CHECK(result.kind != ModelResult::Wrong);
    passed += result.kind == ModelResult::Passed;
    if (result.kind == ModelResult::Refused)
      refused[name] = result.reason;
  }
  if (std::getenv("OPENATC_VERBOSE"))
    for (const auto &[name, reason] : refused)
      std::cout << name << ": " << reason.substr(0, 300) << '\n';
  INFO(passed << " passed, " << refused.size() << " refused");
  CHECK(passed >= (given ? 1u : 550u));
}
