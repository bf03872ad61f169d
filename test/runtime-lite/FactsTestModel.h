//===-- FactsTestModel.h - a model with names of dims and metadata --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_FACTSTESTMODEL_H
#define OPENATC_TEST_RUNTIME_FACTSTESTMODEL_H

#include "test/runtime-lite/HostTestModel.h"

/// Makes y = x + 1 for x: f32[batch,seq,3], where the last dim but one has a name too.
inline HostTestModel factsModel(const KernelImage &image) {
  HostTestModel test(image);
  const int32_t x = test.input("x", OM_F32, {-1, -1, 3});
  test.host().inputs[0].dimNames = {"batch", "seq", ""};
  test.output("y", test.make("host_add_one", {x}), OM_F32);
  test.host().outputs[0].unranked = false;
  test.host().outputs[0].dims = {-1, -1, 3};
  test.host().outputs[0].dimNames = {"batch", "", ""};
  test.model.metadata = {{"author", "the tests"}, {"license", "Apache-2.0"}};
  return test;
}

#endif
