//===-- Shapes.cpp - aclnn functions of pads, parts and windows ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <numeric>

using namespace atc::ascend;

namespace atc::ascend {

View padded(Plan &plan, const View &self, const Dims &low, const Dims &high, double value) {
  if (!plan.isGood())
    return {};
  View inner = self;
  Dims dims = self.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    // A negative number cuts elements.
    const int64_t cutFront = std::max<int64_t>(-low[i], 0),
                  cutBack = std::max<int64_t>(-high[i], 0);
    if (cutFront + cutBack > dims[i]) {
      plan.reject("the pads %lld and %lld leave nothing of a dim of %lld", (long long)low[i],
                  (long long)high[i], (long long)dims[i]);
      return {};
    }
    inner = part(inner, i, cutFront, dims[i] - cutFront - cutBack);
    dims[i] += low[i] + high[i];
  }
  const View result = plan.make(self.type, dims);
  plan.copy(plan.broadcast(plan.constant(value, self.type), dims), result);
  View middle = result;
  for (size_t i = 0; i < dims.size(); ++i)
    middle = part(middle, i, std::max<int64_t>(low[i], 0), inner.dims[i]);
  plan.copy(inner, middle);
  return result;
}

} // namespace atc::ascend

namespace {

/// Keeps the elements of the last two dims on one side of a diagonal.
View triangle(Plan &plan, const View &self, int64_t diagonal, bool isLower) {
  if (plan.isGood() && self.dims.size() < 2)
    plan.reject("self must have 2 dims or more");
  if (!plan.isGood())
    return {};
  const int64_t rows = self.dims[self.dims.size() - 2], columns = self.dims.back();
  const View mask = plan.make(ACL_BOOL, {rows, columns});
  for (int64_t i = 0; plan.isGood() && i < rows * columns; ++i) {
    const int64_t above = i % columns - i / columns;
    static_cast<bool *>(mask.memory->data())[i] = isLower ? above <= diagonal : above >= diagonal;
  }
  return plan.isGood() ? chosen(plan, mask, self, plan.constant(0, self.type)) : View{};
}

/// Splits pads in the order of programs, two numbers for each of the last dims, the last first.
bool splitPads(Plan &plan, const Dims &pads, size_t rank, Dims &low, Dims &high) {
  if (plan.isGood() && (pads.size() % 2 || pads.size() / 2 > rank))
    plan.reject("%zu pads are given; give two for each dim that is padded, of %zu", pads.size(),
                rank);
  for (int64_t pad : pads)
    plan.checkCount(pad < 0 ? -(pad + 1) : pad, "a number of elements to pad");
  low.assign(rank, 0);
  high.assign(rank, 0);
  for (size_t i = 0; plan.isGood() && i < pads.size() / 2; ++i) {
    low[rank - 1 - i] = pads[2 * i];
    high[rank - 1 - i] = pads[2 * i + 1];
  }
  return plan.isGood();
}

View constantPad(Plan &plan, const View &self, const aclIntArray *pad, const aclScalar *value) {
  Dims low, high;
  const Dims pads = plan.numbers(pad, "pad");
  const double number = value ? plan.number(value, "value") : 0;
  if (!splitPads(plan, pads, self.dims.size(), low, high))
    return {};
  return padded(plan, self, low, high, number);
}

/// Pads the last `count` dims with elements of the tensor itself.
View mirrorPad(Plan &plan, const View &self, const aclIntArray *padding, size_t count,
               bool isReflection, const aclTensor *out) {
  Dims low, high;
  const Dims pads = plan.numbers(padding, "padding");
  if (plan.isGood() && (pads.size() != 2 * count || self.dims.size() < count + 1))
    plan.reject("padding must have %zu numbers, and self %zu dims or more", 2 * count, count + 1);
  if (!splitPads(plan, pads, self.dims.size(), low, high))
    return {};
  Dims want = self.dims;
  for (size_t dim = 0; plan.isGood() && dim < want.size(); ++dim) {
    const int64_t size = want[dim], max = isReflection ? size - 1 : int64_t(1) << 28;
    if (low[dim] == 0 && high[dim] == 0)
      continue;
    if (low[dim] < 0 || high[dim] < 0 || size < 1 || std::max(low[dim], high[dim]) > max)
      plan.reject("padding %lld and %lld do not fit a dim of %lld", (long long)low[dim],
                  (long long)high[dim], (long long)size);
    want[dim] += low[dim] + high[dim];
  }
  // Before anything is allocated: pads may be much larger than the tensors.
  const View wanted = plan.output(out, "out");
  if (plan.isGood() && wanted.dims != want)
    plan.reject("out %s must be %s", textOf(wanted.dims).c_str(), textOf(want).c_str());
  if (!plan.isGood())
    return {};
  View result = self;
  for (size_t dim = 0; dim < self.dims.size(); ++dim) {
    const int64_t size = self.dims[dim];
    if (low[dim] == 0 && high[dim] == 0)
      continue;
    Dims positions;
    for (int64_t i = -low[dim]; i < size + high[dim]; ++i)
      positions.push_back(!isReflection ? std::clamp<int64_t>(i, 0, size - 1)
                          : i < 0       ? -i
                          : i >= size   ? 2 * (size - 1) - i
                                        : i);
    result = taken(plan, result, int64_t(dim),
                   indexTensor(plan, positions, {int64_t(positions.size())}));
  }
  return result;
}

View rolled(Plan &plan, const View &self, const aclIntArray *shifts, const aclIntArray *dims) {
  const Dims by = plan.numbers(shifts, "shifts");
  const Dims given = dims ? plan.numbers(dims, "dims") : Dims();
  if (plan.isGood() && (given.empty() ? by.size() != 1 : by.size() != given.size()))
    plan.reject("shifts must have a number for each of dims");
  if (!plan.isGood())
    return {};
  View x = self;
  if (given.empty())
    x = plan.reshaped(plan.dense(self, self.type), {countOf(self.dims)});
  for (size_t i = 0; i < by.size(); ++i) {
    const int64_t axis = given.empty() ? 0 : plan.axisOf(given[i], x.dims.size());
    if (!plan.isGood() || x.dims.empty() || x.dims[size_t(axis)] == 0)
      continue;
    const int64_t size = x.dims[size_t(axis)], shift = ((by[i] % size) + size) % size;
    const View turned = plan.make(x.type, x.dims);
    plan.copy(part(x, size_t(axis), 0, size - shift),
              part(turned, size_t(axis), shift, size - shift));
    plan.copy(part(x, size_t(axis), size - shift, shift), part(turned, size_t(axis), 0, shift));
    x = turned;
  }
  return given.empty() && plan.isGood() ? plan.reshaped(x, self.dims) : x;
}

View flipped(Plan &plan, const View &self, const aclIntArray *dims) {
  const Dims given = plan.numbers(dims, "dims");
  if (!plan.isGood() || given.empty())
    return self;
  View x = self;
  for (int64_t axis : plan.axesOf(given, self.dims.size())) {
    if (!plan.isGood() || x.dims.empty())
      break;
    Dims positions(size_t(x.dims[size_t(axis)]));
    std::iota(positions.rbegin(), positions.rend(), 0);
    x = taken(plan, x, axis, indexTensor(plan, positions, {int64_t(positions.size())}));
  }
  return x;
}

/// Repeats each element of a dim.
View interleaved(Plan &plan, const View &self, int64_t repeats, int64_t dim, int64_t outputSize) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (plan.isGood() && (repeats < 0 || self.dims.empty()))
    plan.reject("repeats is %lld; it is 0 or more, and self has a dim", (long long)repeats);
  plan.checkCount(repeats, "repeats");
  if (!plan.isGood())
    return {};
  Dims dims = self.dims;
  dims[size_t(axis)] *= repeats;
  if (outputSize != dims[size_t(axis)])
    plan.reject("outputSize is %lld, it must be %lld", (long long)outputSize,
                (long long)dims[size_t(axis)]);
  View spread = self;
  spread.dims.insert(spread.dims.begin() + axis + 1, repeats);
  spread.strides.insert(spread.strides.begin() + axis + 1, 0);
  const View result = plan.make(self.type, spread.dims);
  plan.copy(spread, result);
  return plan.reshaped(result, dims);
}

View interleavedAll(Plan &plan, const View &self, int64_t repeats, int64_t outputSize) {
  if (!plan.isGood())
    return {};
  return interleaved(plan, plan.reshaped(plan.dense(self, self.type), {countOf(self.dims)}),
                     repeats, 0, outputSize);
}

/// Copies parts of a dim to outputs.
aclnnStatus splitPlan(Plan &plan, const View &x, int64_t axis, const Dims &sizes,
                      const std::vector<View> &outputs, uint64_t *size, aclOpExecutor **executor) {
  if (plan.isGood() && x.dims.empty())
    plan.reject("self must have a dim");
  for (int64_t count : sizes)
    plan.checkCount(count, "a size");
  const int64_t whole = plan.isGood() ? std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) : 0;
  if (plan.isGood() && (sizes.size() != outputs.size() || whole != x.dims[size_t(axis)] ||
                        std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n < 0; })))
    plan.reject("the parts %s do not fit a dim of %lld and %zu outputs", textOf(sizes).c_str(),
                (long long)x.dims[size_t(axis)], outputs.size());
  int64_t at = 0;
  for (size_t i = 0; plan.isGood() && i < sizes.size(); ++i) {
    plan.write(part(x, size_t(axis), at, sizes[i]), outputs[i]);
    at += sizes[i];
  }
  return plan.finish(size, executor);
}

/// Returns numbers as a tensor of doubles.
View numberTensor(Plan &plan, const std::vector<double> &values, const Dims &dims) {
  View view = plan.make(ACL_DOUBLE, dims);
  if (plan.isGood())
    std::copy(values.begin(), values.end(), static_cast<double *>(view.memory->data()));
  return view;
}

View identity(Plan &plan, int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0 || (columns && rows > (int64_t{1} << 28) / columns)) {
    plan.reject("n %lld and m %lld are negative or too large", (long long)rows, (long long)columns);
    return {};
  }
  std::vector<double> values(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    values[static_cast<size_t>(i * columns + i)] = 1;
  return numberTensor(plan, values, {rows, columns});
}

View evenly(Plan &plan, double from, double to, int64_t steps) {
  if (steps < 0 || steps > (1 << 28))
    plan.reject("steps is %lld; it is 0 to 2^28", (long long)steps);
  std::vector<double> values;
  for (int64_t i = 0; plan.isGood() && i < steps; ++i)
    values.push_back(steps == 1 ? from : from + (to - from) * double(i) / double(steps - 1));
  return numberTensor(plan, values, {int64_t(values.size())});
}

View range(Plan &plan, double from, double to, double by) {
  const double count = by != 0 ? std::floor((to - from) / by) + 1 : 0;
  if (plan.isGood() && !(count >= 1 && count < 1e8))
    plan.reject("start %g, end %g and step %g are no range", from, to, by);
  std::vector<double> values;
  for (int64_t i = 0; plan.isGood() && i < int64_t(count); ++i)
    values.push_back(from + double(i) * by);
  return numberTensor(plan, values, {int64_t(values.size())});
}

View columns(Plan &plan, const View &self, const Dims &kernel, const Dims &dilation,
             const Dims &padding, const Dims &stride) {
  for (const Dims *list : {&kernel, &dilation, &padding, &stride})
    if (plan.isGood() && list->size() != 2)
      plan.reject("kernelSize, dilation, padding and stride must have 2 numbers each");
  const size_t rank = self.dims.size();
  if (plan.isGood() && rank != 3 && rank != 4)
    plan.reject("self must have 3 or 4 dims");
  if (!plan.isGood())
    return {};
  int64_t counts[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t free =
        self.dims[rank - 2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    if (stride[i] < 1 || dilation[i] < 1 || kernel[i] < 1 || padding[i] < 0 || free < 0) {
      plan.reject("the window does not fit the image %s", textOf(self.dims).c_str());
      return {};
    }
    counts[i] = free / stride[i] + 1;
  }
  Dims pads(rank, 0);
  pads[rank - 2] = padding[0];
  pads[rank - 1] = padding[1];
  const View wide = padded(plan, self, pads, pads, 0);
  Dims dims(self.dims.begin(), self.dims.end() - 2);
  const size_t lead = dims.size();
  dims.insert(dims.end(), {kernel[0], kernel[1], counts[0], counts[1]});
  const View result = plan.make(self.type, dims);
  for (int64_t i = 0; plan.isGood() && i < kernel[0] * kernel[1]; ++i) {
    const int64_t row = i / kernel[1], column = i % kernel[1];
    View from = part(wide, lead, row * dilation[0], counts[0], stride[0]);
    from = part(from, lead + 1, column * dilation[1], counts[1], stride[1]);
    View to = part(part(result, lead, row, 1), lead + 1, column, 1);
    to.dims.erase(to.dims.begin() + int64_t(lead), to.dims.begin() + int64_t(lead) + 2);
    to.strides.erase(to.strides.begin() + int64_t(lead), to.strides.begin() + int64_t(lead) + 2);
    plan.copy(from, to);
  }
  Dims shown(self.dims.begin(), self.dims.end() - 3);
  shown.push_back(self.dims[rank - 3] * kernel[0] * kernel[1]);
  shown.push_back(counts[0] * counts[1]);
  return plan.isGood() ? plan.reshaped(result, shown) : result;
}

bool checkImage(Plan &plan, const View &self, const Dims &size) {
  if (plan.isGood() && (self.dims.size() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1 ||
                        countOf(self.dims) == 0))
    plan.reject("self must be an image of 4 dims, and outputSize two positive numbers");
  for (int64_t count : size)
    plan.checkCount(count, "a number of outputSize");
  return plan.isGood();
}

View nearest(Plan &plan, const View &self, const aclIntArray *outputSize) {
  const Dims size = plan.numbers(outputSize, "outputSize");
  if (!checkImage(plan, self, size))
    return {};
  View result = self;
  for (int64_t axis : {2, 3}) {
    const int64_t from = self.dims[size_t(axis)], to = size[size_t(axis - 2)];
    Dims positions;
    for (int64_t i = 0; i < to; ++i)
      positions.push_back(i * from / to);
    result = taken(plan, result, axis, indexTensor(plan, positions, {to}));
  }
  return result;
}

View bilinear(Plan &plan, const View &self, const aclIntArray *outputSize, bool alignCorners,
              double scalesH, double scalesW) {
  const Dims size = plan.numbers(outputSize, "outputSize");
  if (!checkImage(plan, self, size))
    return {};
  const double scales[] = {scalesH, scalesW};
  for (size_t i = 0; i < 2; ++i)
    if (!alignCorners && scales[i] > 0 &&
        std::abs(scales[i] - double(size[i]) / double(self.dims[i + 2])) > 1e-6)
      plan.reject("a scale of %g does not bring %lld elements to %lld; give 0, or the quotient",
                  scales[i], (long long)self.dims[i + 2], (long long)size[i]);
  const aclDataType type = floatOf(self.type);
  View given = plan.dense(self, type);
  given.format = ACL_FORMAT_NCHW;
  return plan.apply("ResizeBilinearV2D", {given},
                    {{type, {self.dims[0], self.dims[1], size[0], size[1]}}},
                    Json::array({attribute("align_corners", "bool", alignCorners),
                                 attribute("half_pixel_centers", "bool", !alignCorners)}))[0];
}

} // namespace

#define ACLNN_TRIANGLE(name, isLower)                                                              \
  ACLNN_FUNCTION(name, (const aclTensor *self, int64_t diagonal, aclTensor *out), out,             \
                 triangle(plan, IN(self), diagonal, isLower))                                      \
  ACLNN_FUNCTION(Inplace##name, (aclTensor * selfRef, int64_t diagonal), selfRef,                  \
                 triangle(plan, IN(selfRef), diagonal, isLower))
ACLNN_TRIANGLE(Tril, true)
ACLNN_TRIANGLE(Triu, false)

ACLNN_FUNCTION(ConstantPadNd,
               (const aclTensor *self, const aclIntArray *pad, const aclScalar *value,
                aclTensor *out),
               out, constantPad(plan, IN(self), pad, value))
#define ACLNN_PAD(name, count, isReflection)                                                       \
  ACLNN_FUNCTION(name, (const aclTensor *self, const aclIntArray *padding, aclTensor *out), out,   \
                 mirrorPad(plan, IN(self), padding, count, isReflection, out))
ACLNN_PAD(ReflectionPad1d, 1, true)
ACLNN_PAD(ReflectionPad2d, 2, true)
ACLNN_PAD(ReflectionPad3d, 3, true)
ACLNN_PAD(ReplicationPad1d, 1, false)
ACLNN_PAD(ReplicationPad2d, 2, false)
ACLNN_PAD(ReplicationPad3d, 3, false)
ACLNN_FUNCTION(Roll,
               (const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims,
                aclTensor *out),
               out, rolled(plan, IN(x), shifts, dims))
ACLNN_FUNCTION(Flip, (const aclTensor *self, const aclIntArray *dims, aclTensor *out), out,
               flipped(plan, IN(self), dims))
ACLNN_FUNCTION(RepeatInterleaveInt,
               (const aclTensor *self, int64_t repeats, int64_t outputSize, aclTensor *out), out,
               interleavedAll(plan, IN(self), repeats, outputSize))
ACLNN_FUNCTION(RepeatInterleaveIntWithDim,
               (const aclTensor *self, int64_t repeats, int64_t dim, int64_t outputSize,
                aclTensor *out),
               out, interleaved(plan, IN(self), repeats, dim, outputSize))

aclnnStatus aclnnSplitTensorGetWorkspaceSize(const aclTensor *self, uint64_t splitSections,
                                             int64_t dim, aclTensorList *out, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self");
  const std::vector<View> parts = plan.outputs(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (splitSections == 0 || x.dims.empty()))
    plan.reject("splitSections must be positive, and self have a dim");
  Dims sizes;
  for (int64_t left = plan.isGood() ? x.dims[size_t(axis)] : 0; left > 0; left -= sizes.back())
    sizes.push_back(int64_t(std::min<uint64_t>(splitSections, uint64_t(left))));
  return splitPlan(plan, x, axis, sizes, parts, size, executor);
}
ACLNN_RUN(SplitTensor)
aclnnStatus aclnnSplitWithSizeGetWorkspaceSize(const aclTensor *self, const aclIntArray *splitSize,
                                               int64_t dim, aclTensorList *out, uint64_t *size,
                                               aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self");
  const Dims sizes = plan.numbers(splitSize, "splitSize");
  const std::vector<View> parts = plan.outputs(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (sizes.empty() || x.dims.empty()))
    plan.reject("splitSize must have numbers, and self a dim");
  return splitPlan(plan, x, axis, sizes, parts, size, executor);
}
ACLNN_RUN(SplitWithSize)

ACLNN_FUNCTION(Eye, (int64_t n, int64_t m, aclTensor *out), out, identity(plan, n, m))
ACLNN_FUNCTION(Linspace,
               (const aclScalar *start, const aclScalar *end, int64_t steps, aclTensor *out), out,
               evenly(plan, plan.number(start, "start"), plan.number(end, "end"), steps))
ACLNN_FUNCTION(
    Range, (const aclScalar *start, const aclScalar *end, const aclScalar *step, aclTensor *out),
    out,
    range(plan, plan.number(start, "start"), plan.number(end, "end"), plan.number(step, "step")))
ACLNN_FUNCTION(Im2col,
               (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *dilation,
                const aclIntArray *padding, const aclIntArray *stride, aclTensor *out),
               out,
               columns(plan, IN(self), plan.numbers(kernelSize, "kernelSize"),
                       plan.numbers(dilation, "dilation"), plan.numbers(padding, "padding"),
                       plan.numbers(stride, "stride")))
ACLNN_FUNCTION(UpsampleNearest2d,
               (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out), out,
               nearest(plan, IN(self), outputSize))
ACLNN_FUNCTION(UpsampleBilinear2d,
               (const aclTensor *self, const aclIntArray *outputSize, const bool alignCorners,
                const double scalesH, const double scalesW, aclTensor *out),
               out, bilinear(plan, IN(self), outputSize, alignCorners, scalesH, scalesW))
