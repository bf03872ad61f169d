//===-- StateTestModel.h - a model with a state, put together by hand -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_STATETESTMODEL_H
#define OPENATC_TEST_RUNTIME_STATETESTMODEL_H

#include "backends/om/FindStates.h"
#include "test/runtime-lite/HostTestModel.h"

/// Makes a cache [batch, positions, 2] to which each run appends x; `sum` is that of all elements,
/// as a kernel sees it that takes room, and `more` as one sees it that does not.
inline HostTestModel cacheModel(const KernelImage &image) {
  HostTestModel test(image);
  const int32_t x = test.input("x", OM_F32, {-1, -1, 2}),
                past = test.input("past", OM_F32, {-1, -1, 2});
  const int32_t present = test.slot(), sum = test.slot();
  test.call("KvAttention", {past, x}, {present, sum});
  test.output("sum", sum, OM_F32);
  test.output("present", present, OM_F32);
  test.output("more", test.make("host_add_one", {present}), OM_F32);
  test.model.states = {{1, 1, {{0, 0, 0}}}};
  return test;
}

/// Makes a state of three floats that begins with `values`, which the model borrows, and to which
/// each run adds one.
inline HostTestModel countingModel(const KernelImage &image,
                                   const std::vector<atc::om::InitialState> &values) {
  HostTestModel test(image);
  const int32_t state = test.input("state", OM_F32, {3});
  test.output("next", test.make("host_add_one", {state}), OM_F32);
  test.model.states = {{0, 0, {}}};
  std::string error;
  setInitialStates(test.model, values, error);
  return test;
}

#endif
