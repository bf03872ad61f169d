//===-- ModelFolder.h - runs stored models with stored answers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FRONTENDS_ONNX_MODELFOLDER_H
#define OPENATC_TEST_FRONTENDS_ONNX_MODELFOLDER_H

#include <string>
#include <vector>

#include "test/frontends/onnx/TestModel.h"

namespace atc::test {

/// The outcome for a model: imported with correct results, refused by the importer, or wrong.
struct ModelResult {
  enum Kind { Passed, Refused, Wrong } kind;
  std::string reason;
};

/// How far results may be off, relative to the expected value and absolute.
struct Tolerance {
  double relative, absolute;
};

/// Imports `model`, runs it in the reference interpreter on the stored inputs
/// and compares with the stored outputs. `data` has input_0.pb, ... and
/// output_0.pb, ... Input shapes are those of the data unless `shapes` says
/// otherwise. From input `firstConstant` on the inputs count as initializers.
ModelResult runModel(const std::string &model, const std::string &data, Tolerance tolerance,
                     const InputShapes &shapes = {}, unsigned firstConstant = -1);

/// The folder `name` in the `shared` folder beside the checkout; empty where
/// there is none.
std::string findShared(const std::string &name);

} // namespace atc::test

#endif // OPENATC_TEST_FRONTENDS_ONNX_MODELFOLDER_H
