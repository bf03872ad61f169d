//===-- Generated.cpp - runs the generated code of a call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/GeneratedCode.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// The outputs that a kernel has made.
struct RecordedOutputs {
  void *data[kGeneratedOutputs] = {};
  Dims dims[kGeneratedOutputs];
  uint8_t dtypes[kGeneratedOutputs] = {};
  uint32_t made = 0; ///< bit i: output i
};

void *Context::record(uint32_t i, void *made, uint8_t dtype, const Dims &dims) {
  if (i >= kGeneratedOutputs)
    return made;
  recorded->data[i] = made;
  recorded->dims[i] = dims;
  recorded->dtypes[i] = dtype;
  recorded->made |= 1u << i;
  for (uint32_t o = 0; o < outputs(); ++o)
    if (wants(o) && !(recorded->made >> o & 1))
      return made;
  return nullptr;
}

/// Returns whether a tensor is what code was generated for; `fact` are the values of a port in
/// kGeneratedFor.
static bool fits(const int64_t *fact, uint8_t dtype, const Dims &dims) {
  return (fact[0] == kAny || fact[0] == dtype) && (fact[1] == kAny || fact[1] == dims.rank) &&
         (fact[2] == kAny || fact[2] == dims.product());
}

bool hasFittingCode(const Context &c) {
  if (!c.generatedCode())
    return false;
  const List<int64_t> facts = c.integers(kGeneratedFor);
  if (facts.size != kRowFacts + int64_t(kPortFacts) * (int64_t(c.inputs()) + c.outputs()))
    return false;
  for (uint32_t i = 0; i < c.inputs(); ++i) {
    const int64_t *fact = facts.data + kRowFacts + kPortFacts * i;
    const Tensor input = c.in(i);
    if (input ? input.kind() != Kind::Tensor || !fits(fact, input.dtype(), input.dims())
              : fact[0] != kAny)
      return false;
    // Indices into a tensor without elements are all out of range: kernels report that at once.
    if (input && input.count() == 0 && fact[2] != 0)
      return false;
  }
  return true;
}

void runGenerated(Context &c, void (*run)(Context &)) {
  RecordedOutputs outputs;
  c.recorded = &outputs;
  run(c);
  c.recorded = nullptr;
  for (uint32_t o = 0; o < c.outputs(); ++o)
    if (c.wants(o) && !(outputs.made >> o & 1))
      return;
  if (c.inputs() > kGeneratedInputs || c.outputs() > kGeneratedOutputs || !(outputs.made & 1))
    return c.fail("its generated code is for fewer inputs or outputs");

  const int64_t *facts = c.integers(kGeneratedFor).data;
  for (uint32_t o = 0; o < c.outputs(); ++o)
    if (outputs.data[o] && !fits(facts + kRowFacts + kPortFacts * (c.inputs() + o),
                                 outputs.dtypes[o], outputs.dims[o]))
      return c.fail("its generated code is not for element type % and rank % of output %",
                    outputs.dtypes[o], outputs.dims[o].rank, o);

  constexpr uint32_t ports = kGeneratedInputs + kGeneratedOutputs;
  int64_t dims[ports * host::kMaxRank + kErrorWords] = {};
  void *buffers[1 + ports] = {dims};
  uint32_t port = 0;
  int64_t elements = 0;
  auto add = [&](void *data, const Dims &shape) {
    for (uint32_t d = 0; d < shape.rank; ++d)
      dims[port * host::kMaxRank + d] = shape[d];
    elements = maximum(elements, shape.product());
    buffers[1 + port++] = data;
  };
  for (uint32_t i = 0; i < c.inputs(); ++i) {
    const Tensor input = c.in(i);
    if (input)
      add(const_cast<char *>(input.bytes()), input.dims());
    else
      add(nullptr, Dims());
  }
  int64_t results = 0;
  for (uint32_t o = 0; o < c.outputs(); ++o) {
    add(outputs.data[o], outputs.dims[o]);
    results = maximum(results, outputs.data[o] ? outputs.dims[o].product() : 0);
  }

  const Dims &first = outputs.dims[0];
  const int64_t rowDims = minimum(facts[0], int64_t(first.rank));
  const int64_t tasks = results ? first.product(0, first.rank - uint32_t(rowDims)) : 0;
  const host::GeneratedCode code = c.generatedCode();
  if (tasks)
    parallelIf(c, tasks, 4 * elements / tasks + 1,
               [&](int64_t begin, int64_t end) { code(buffers, nullptr, begin, end); });
  const int64_t *error = dims + port * host::kMaxRank;
  if (error[2] == kIndexError)
    c.fail("index % is outside of a dim of % elements", error[0], error[1]);
  else if (error[2] == kBroadcastError)
    c.fail("a dim of % cannot be expanded to %", error[0], error[1]);
  else if (error[2] == kClassError)
    c.fail("target % of % classes", error[0], error[1]);
}

} // namespace atc::kernels
