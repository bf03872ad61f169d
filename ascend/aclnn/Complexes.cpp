//===-- Complexes.cpp - aclnn functions of complex numbers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace atc::ascend {

View partOfComplex(Plan &plan, View view, bool isImaginary, const char *name) {
  if (plan.isGood() && view.type != ACL_COMPLEX64)
    plan.reject("%s must be of complex64", name);
  view.type = ACL_FLOAT;
  view.offset = 2 * view.offset + isImaginary;
  for (int64_t &stride : view.strides)
    stride *= 2;
  return view;
}

} // namespace atc::ascend

namespace {

void writeComplex(Plan &plan, const View &real, const View &imaginary, const View &out) {
  if (!plan.isGood())
    return;
  plan.write(plan.broadcast(real, out.dims), partOfComplex(plan, out, false, "out"));
  plan.write(plan.broadcast(imaginary, out.dims), partOfComplex(plan, out, true, "out"));
}

} // namespace

aclnnStatus aclnnComplexGetWorkspaceSize(const aclTensor *real, const aclTensor *imag,
                                         aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View first = plan.input(real, "real"), second = plan.input(imag, "imag"),
             y = plan.output(out, "out");
  const auto dims = broadcastDims(first.dims, second.dims);
  if (plan.isGood() && (!dims || *dims != y.dims))
    plan.reject("out %s must have the dims of real %s and imag %s together", textOf(y.dims).c_str(),
                textOf(first.dims).c_str(), textOf(second.dims).c_str());
  writeComplex(plan, first, second, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Complex)

aclnnStatus aclnnPolarGetWorkspaceSize(const aclTensor *input, const aclTensor *angle,
                                       aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View radius = plan.input(input, "input"), turn = plan.input(angle, "angle"),
             y = plan.output(out, "out");
  writeComplex(plan, combined(plan, "Mul", radius, computed(plan, "Cos", turn), true),
               combined(plan, "Mul", radius, computed(plan, "Sin", turn), true), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Polar)

static View realOf(Plan &plan, const View &self) {
  return plan.isGood() && self.type != ACL_COMPLEX64 ? self
                                                     : partOfComplex(plan, self, false, "self");
}
ACLNN_FUNCTION(Real, (const aclTensor *self, aclTensor *out), out, realOf(plan, IN(self)))
