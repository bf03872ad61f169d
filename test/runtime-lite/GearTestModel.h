//===-- GearTestModel.h - models with gears and real kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_GEARTESTMODEL_H
#define OPENATC_TEST_RUNTIME_GEARTESTMODEL_H

#include "backends/om/GearMerger.h"
#include "openatc/om.hpp"
#include "test/runtime-lite/TestModel.h"

/// x[2, n, 48] -> y = (x * scale + bias) * scale + bias, by way of the arena.
struct GearTestModel {
  explicit GearTestModel(const KernelImage &image) : image(image), test(image) {}

  /// A static model for one n.
  atc::om::OmModel gear(int64_t n) const {
    const uint64_t rows = static_cast<uint64_t>(2 * n), bytes = rows * TestModel::columns * 4;
    atc::om::OmModel model;
    model.name = "gears";
    model.producer = "OpenATC test";
    atc::om::OmImage code;
    code.level = "x86-64";
    code.features = {"sse2"};
    code.code = image.bytes.data();
    code.codeSize = image.bytes.size();
    code.scratchBytes = TestModel::columns * sizeof(float);
    code.entries = {image.functions.at("scale_rows")};
    code.tasks = {rows};
    model.images = {code};
    model.kernels = {"scale_rows_" + std::to_string(n)};
    model.weights = {{test.scale.data(), TestModel::columns * 4, 0},
                     {test.bias.data(), TestModel::columns * 4, 192}};
    model.arenaSize = (bytes + 63) / 64 * 64;
    const atc::om::OmBufferRef x{OM_INPUT, 0, 0, bytes}, y{OM_OUTPUT, 0, 0, bytes},
        between{OM_ARENA, 0, 0, bytes}, scale{OM_WEIGHTS, 0, 0, TestModel::columns * 4},
        bias{OM_WEIGHTS, 0, 192, TestModel::columns * 4};
    model.tensors = {{"x", OM_F32, {2, n, TestModel::columns}, 0, {}, x},
                     {"y", OM_F32, {2, n, TestModel::columns}, 0, {}, y}};
    model.inputs = {0};
    model.outputs = {1};
    model.schedule = {{0, "first", {x, scale, bias, between}, 1000, {0}, {}},
                      {0, "second", {between, scale, bias, y}, 1000, {}, {1}}};
    return model;
  }

  /// The gears n = 2 and n = 4. With OM_GEARS_RANGE a run takes 1 to 4.
  atc::om::OmModel merge(om_gear_kind kind) {
    for (int64_t n : {2, 4})
      merger.add(gear(n), {n});
    atc::om::OmGears gears;
    gears.kind = kind;
    gears.axes = {{false, 0, 1, 0}};
    if (kind == OM_GEARS_RANGE) {
      gears.axes.push_back({true, 0, 1, 0});
      gears.min = {1};
    }
    atc::om::OmModel model = merger.take(std::move(gears));
    model.name = "gears";
    model.producer = "OpenATC test";
    return model;
  }

  /// What y is for an element of x in column `c`.
  float expect(float x, int c) const {
    return (x * test.scale[c] + test.bias[c]) * test.scale[c] + test.bias[c];
  }

  const KernelImage &image;
  TestModel test; ///< has the constants
  atc::om::GearMerger merger;
};

#endif
