//===-- RankTestModel.h - a model of two ranks, put together by hand ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_RANKTESTMODEL_H
#define OPENATC_TEST_RUNTIME_RANKTESTMODEL_H

#include "openatc/collectives.h"
#include "test/runtime-lite/HostTestModel.h"

/// Adds a collective of both ranks.
inline HostTestModel::Step &collective(HostTestModel &test, const char *name,
                                       om_collective_kind kind, int32_t input, int32_t output,
                                       uint64_t elements, std::vector<int64_t> dims) {
  HostTestModel::Step &step = test.add(HostTestModel::Kind::Collective);
  step.name = name;
  step.collective = kind;
  step.inputs = {input};
  step.outputs = {output};
  step.elements = elements;
  step.dims = dims;
  step.ranks = {0, 1};
  return step;
}

/// Makes rank 1 of 2: y = all_gather(x), z = all_reduce(x), more = z + 1; z is needed first.
inline HostTestModel gatherModel(const KernelImage &image) {
  HostTestModel test(image);
  test.host().rank = 1;
  test.host().ranks = 2;
  const int32_t x = test.input("x", OM_F32, {3}), y = test.slot(), z = test.slot();
  collective(test, "gather", OM_ALL_GATHER, x, y, 3, {6});
  collective(test, "reduce", OM_ALL_REDUCE, x, z, 3, {3});
  collective(test, "send", OM_SEND, x, -1, 3, {3}).ranks = {0};
  test.add(HostTestModel::Kind::Wait).outputs = {z};
  const int32_t more = test.make("host_add_one", {z});
  test.add(HostTestModel::Kind::Wait).outputs = {y};
  test.output("y", y, OM_F32);
  test.output("more", more, OM_F32);
  return test;
}

#endif
