//===-- ImportWindow.cpp - convolutions, pools, products ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

/// A window over height and width.
struct Window {
  Dims kernel = {1, 1}, pad = {0, 0}, stride = {1, 1}, dilation = {1, 1};

  Dims pads() const { return {pad[0], pad[1], pad[0], pad[1]}; }
  int64_t extent(unsigned i) const { return dilation[i] * (kernel[i] - 1) + 1; }
};

void check(LayerContext &c, const char *what, const Dims &values, int64_t minimum) {
  constexpr int64_t maximum = 1 << 20;
  for (int64_t value : values)
    if (value < minimum || value > maximum)
      c.fail(Twine(what) + " " + Twine(value) + " is not allowed, expected " + Twine(minimum) +
             " to " + Twine(maximum));
}

/// Reports an error where a size is given for both dims and for one of them: Caffe refuses that,
/// and either could be meant.
void checkStatedOnce(LayerContext &c, const char *both, const char *name, bool hasBoth, bool hasH,
                     bool hasW) {
  if (hasBoth && (hasH || hasW))
    c.fail(Twine(both) + " is given together with " + name + (hasH ? "_h" : "_w") +
           "; give either " + both + ", or " + name + "_h and " + name + "_w");
}

/// Does so for pools, where Caffe also wants both of the dims.
void checkStatedInPairs(LayerContext &c, const char *both, const char *name, bool hasBoth,
                        bool hasH, bool hasW) {
  checkStatedOnce(c, both, name, hasBoth, hasH, hasW);
  if (!hasBoth && hasH != hasW)
    c.fail(Twine(name) + (hasH ? "_h" : "_w") + " is given without " + name + (hasH ? "_w" : "_h") +
           "; give either " + both + ", or " + name + "_h and " + name + "_w");
}

/// Reads a list of one value for both dims or two, or `h` and `w` in place of it.
template <typename List>
Dims readPair(LayerContext &c, const char *what, const char *name, const List &list, bool hasH,
              bool hasW, int64_t h, int64_t w, int64_t otherwise) {
  checkStatedOnce(c, what, name, !list.empty(), hasH, hasW);
  if (list.size() > 2)
    c.fail(Twine(what) + " has " + Twine(list.size()) +
           " values; only images with height and width are supported");
  Dims both = {otherwise, otherwise};
  if (!list.empty())
    both = {list[0], list[list.size() - 1]};
  if (hasH)
    both[0] = h;
  if (hasW)
    both[1] = w;
  return both;
}

Window readConvolution(LayerContext &c) {
  const pb::ConvolutionParameter &p = c.layer().convolution_param();
  Window window;
  window.kernel = readPair(c, "kernel_size", "kernel", p.kernel_size(), p.has_kernel_h(),
                           p.has_kernel_w(), p.kernel_h(), p.kernel_w(), 0);
  window.pad =
      readPair(c, "pad", "pad", p.pad(), p.has_pad_h(), p.has_pad_w(), p.pad_h(), p.pad_w(), 0);
  window.stride = readPair(c, "stride", "stride", p.stride(), p.has_stride_h(), p.has_stride_w(),
                           p.stride_h(), p.stride_w(), 1);
  window.dilation = readPair(c, "dilation", "dilation", p.dilation(), false, false, 1, 1, 1);
  check(c, "kernel_size", window.kernel, 1);
  check(c, "pad", window.pad, 0);
  check(c, "stride", window.stride, 1);
  check(c, "dilation", window.dilation, 1);
  if (p.num_output() == 0)
    c.fail("num_output is missing");
  if (p.axis() != 1)
    c.fail("axis " + Twine(p.axis()) + " is not supported, only 1");
  return window;
}

void convolve(LayerContext &c, bool depthwise, bool transposed) {
  const pb::ConvolutionParameter &p = c.layer().convolution_param();
  c.requireRank(0, 4);
  const Window window = readConvolution(c);
  const int64_t channels = c.knownDim(0, 1, "the weights");
  const int64_t outputs = p.num_output();
  const int64_t group = depthwise && !p.has_group() ? channels : p.group();
  if (!c.failed() && (group < 1 || channels % group || outputs % group))
    c.fail("group " + Twine(group) + " does not divide " + Twine(channels) + " channels and " +
           Twine(outputs) + " of num_output");
  if (c.failed())
    return;
  const Tensor &input = c.bottom();
  Dims dims = {input.dims[0], outputs, -1, -1};
  for (unsigned i = 0; i < 2; ++i) {
    const int64_t size = input.dims[2 + i];
    if (size < 0)
      continue;
    const int64_t room = size + 2 * window.pad[i] - window.extent(i);
    if (!transposed && room < 0)
      return c.fail("the window is larger than the image " + printShape(input.dims));
    dims[2 + i] = transposed ? window.stride[i] * (size - 1) + window.extent(i) - 2 * window.pad[i]
                             : room / window.stride[i] + 1;
    if (dims[2 + i] <= 0)
      return c.fail("its pads leave nothing of the result");
  }
  const Dims weights = {transposed ? channels : outputs, (transposed ? outputs : channels) / group,
                        window.kernel[0], window.kernel[1]};
  std::vector<Tensor> inputs = {input, c.weights(0, weights)};
  if (p.bias_term())
    inputs.push_back(c.weights(1, {outputs}));
  c.setTop(c.node(transposed ? "ConvTranspose" : "Conv", inputs, dims,
                  {{"kernel_shape", window.kernel},
                   {"pads", window.pads()},
                   {"strides", window.stride},
                   {"dilations", window.dilation},
                   {"group", group}}));
}

void importConvolution(LayerContext &c) { convolve(c, false, false); }
void importDepthwise(LayerContext &c) { convolve(c, true, false); }
void importDeconvolution(LayerContext &c) { convolve(c, false, true); }

//===--- Pools ------------------------------------------------------------===//

Window readPool(LayerContext &c) {
  const pb::PoolingParameter &p = c.layer().pooling_param();
  Window window;
  auto pair = [](bool hasH, bool hasW, int64_t h, int64_t w, int64_t both) {
    return Dims{hasH ? h : both, hasW ? w : both};
  };
  checkStatedInPairs(c, "kernel_size", "kernel", p.has_kernel_size(), p.has_kernel_h(),
                     p.has_kernel_w());
  checkStatedInPairs(c, "pad", "pad", p.has_pad(), p.has_pad_h(), p.has_pad_w());
  checkStatedInPairs(c, "stride", "stride", p.has_stride(), p.has_stride_h(), p.has_stride_w());
  window.kernel =
      pair(p.has_kernel_h(), p.has_kernel_w(), p.kernel_h(), p.kernel_w(), p.kernel_size());
  window.pad = pair(p.has_pad_h(), p.has_pad_w(), p.pad_h(), p.pad_w(), p.pad());
  window.stride = pair(p.has_stride_h(), p.has_stride_w(), p.stride_h(), p.stride_w(),
                       p.has_stride() ? p.stride() : 1);
  check(c, "kernel_size", window.kernel, 1);
  check(c, "stride", window.stride, 1);
  for (unsigned i = 0; i < 2; ++i)
    if (!c.failed() && window.pad[i] >= window.kernel[i])
      c.fail("pad " + Twine(window.pad[i]) + " must be less than the kernel " +
             Twine(window.kernel[i]));
  return window;
}

/// Windows that begin behind the image and the pad in front of it are left out.
int64_t pooledSize(int64_t size, const Window &window, unsigned i, bool ceil) {
  const int64_t room = size + 2 * window.pad[i] - window.kernel[i];
  const int64_t stride = window.stride[i];
  int64_t pooled = (ceil ? (room + stride - 1) / stride : room / stride) + 1;
  if (window.pad[i] && (pooled - 1) * stride >= size + window.pad[i])
    --pooled;
  return pooled;
}

void globalPool(LayerContext &c, bool isMax) {
  const Dims &dims = c.bottom().dims;
  c.setTop(c.node(isMax ? "GlobalMaxPool" : "GlobalAveragePool", {c.bottom()},
                  {dims[0], dims[1], 1, 1}));
}

/// Windows that reach over the pad behind the image count fewer elements: factors that turn
/// a mean over the whole kernel into that.
Tensor meanFactors(LayerContext &c, const Window &window, const Dims &in, const Dims &out) {
  std::vector<float> factors;
  auto count = [&](unsigned i, int64_t at) {
    const int64_t begin = at * window.stride[i] - window.pad[i];
    return std::min(begin + window.kernel[i], in[2 + i] + window.pad[i]) - begin;
  };
  for (int64_t y = 0; y < out[2]; ++y)
    for (int64_t x = 0; x < out[3]; ++x)
      factors.push_back(
          float(double(window.kernel[0] * window.kernel[1]) / double(count(0, y) * count(1, x))));
  return c.constant({1, 1, out[2], out[3]}, factors);
}

/// Returns a pool of the input, and its mask where one is asked for; one tensor of no use after an
/// error.
std::vector<Tensor> poolWindows(LayerContext &c, const Window &window, bool ceil, bool isMax,
                                bool hasMask) {
  const std::vector<Tensor> none(1);
  Dims dims = c.bottom().dims;
  Dims pads = window.pads();
  bool isPartial = false;
  for (unsigned i = 0; i < 2; ++i) {
    const int64_t size = c.knownDim(0, 2 + i, "the windows");
    if (c.failed())
      return none;
    if (size + 2 * window.pad[i] < window.kernel[i])
      c.fail("the window is larger than the image " + printShape(dims));
    if (c.failed())
      return none;
    const int64_t pooled = pooledSize(size, window, i, ceil);
    const int64_t end = (pooled - 1) * window.stride[i] + window.kernel[i];
    isPartial |= end > size + 2 * window.pad[i];
    pads[2 + i] = std::max<int64_t>(0, end - size - window.pad[i]);
    dims[2 + i] = pooled;
  }
  Attrs attributes = {{"kernel_shape", window.kernel}, {"pads", pads}, {"strides", window.stride}};
  if (hasMask) {
    // Caffe counts the elements of a plane, ONNX those of all.
    std::vector<Tensor> both = c.nodes("MaxPool", {c.bottom()}, {dims, dims}, attributes);
    if (c.failed())
      return none;
    const int64_t plane = c.bottom().dims[2] * c.bottom().dims[3];
    Tensor positions = c.node("Mod", {both[1], c.ints({plane})}, dims);
    Tensor mask = c.node("Cast", {positions}, dims, {{"to", int64_t(onnx::TensorProto::FLOAT)}});
    return {both[0], mask};
  }
  if (isMax)
    return {c.node("MaxPool", {c.bottom()}, dims, attributes)};
  attributes.push_back({"count_include_pad", int64_t(1)});
  Tensor mean = c.node("AveragePool", {c.bottom()}, dims, attributes);
  if (isPartial)
    mean = c.mul(mean, meanFactors(c, window, c.bottom().dims, dims));
  return {mean};
}

void importPooling(LayerContext &c) {
  const pb::PoolingParameter &p = c.layer().pooling_param();
  c.requireRank(0, 4);
  if (p.pool() == pb::PoolingParameter::STOCHASTIC)
    c.fail("pool: STOCHASTIC is not supported, only MAX and AVE");
  const bool hasMask = c.layer().top_size() > 1;
  if (hasMask && (p.pool() != pb::PoolingParameter::MAX || p.global_pooling()))
    c.fail("only a MAX pool of windows has a second top, its mask");
  if (c.failed())
    return;
  const bool isMax = p.pool() == pb::PoolingParameter::MAX;
  const bool ceil =
      p.has_round_mode() ? p.round_mode() == pb::PoolingParameter::CEIL : p.ceil_mode();
  if (p.global_pooling() && (p.has_kernel_size() || p.has_kernel_h() || p.has_kernel_w()))
    return c.fail("global_pooling takes the whole image, but kernel_size, kernel_h or kernel_w is "
                  "given too; give one of the two");
  if (p.global_pooling())
    return globalPool(c, isMax);
  c.setTops(poolWindows(c, readPool(c), ceil, isMax, hasMask));
}

/// Pools to 1, 2, 4 ... windows per side and joins the results of all of these levels. The pads
/// share what the windows reach over the image.
void importPyramid(LayerContext &c) {
  const pb::SppParameter &p = c.layer().spp_param();
  constexpr int64_t maxHeight = 16;
  c.requireRank(0, 4);
  if (p.pool() == pb::PoolingParameter::STOCHASTIC)
    c.fail("pool: STOCHASTIC is not supported, only MAX and AVE");
  if (p.pyramid_height() < 1 || p.pyramid_height() > maxHeight)
    c.fail("pyramid_height " + Twine(p.pyramid_height()) + " is not allowed, expected 1 to " +
           Twine(maxHeight));
  std::vector<Tensor> levels;
  const int64_t height = p.pyramid_height();
  int64_t sum = 0;
  for (int64_t level = 0; level < height && !c.failed(); ++level) {
    const int64_t bins = int64_t(1) << level;
    Window window;
    for (unsigned i = 0; i < 2; ++i) {
      const int64_t size = c.knownDim(0, 2 + i, "the windows");
      window.kernel[i] = window.stride[i] = std::max<int64_t>(1, (size + bins - 1) / bins);
      window.pad[i] = (window.kernel[i] * bins - size + 1) / 2;
      if (!c.failed() && window.pad[i] >= window.kernel[i])
        c.fail("the image " + printShape(c.bottom().dims) + " is too small for " + Twine(bins) +
               " windows per side, as pyramid_height " + Twine(height) + " asks for");
    }
    if (c.failed())
      return;
    Tensor pooled =
        poolWindows(c, window, true, p.pool() == pb::PoolingParameter::MAX, false).front();
    if (height == 1)
      return c.setTop(pooled);
    const int64_t values = product(pooled.dims, 1, 4);
    sum = values < 0 || sum < 0 ? -1 : sum + values;
    levels.push_back(c.node("Flatten", {pooled}, {pooled.dims[0], values}, {{"axis", int64_t(1)}}));
  }
  if (!c.failed())
    c.setTop(c.node("Concat", levels, {levels[0].dims[0], sum}, {{"axis", int64_t(1)}}));
}
//===--- Products ---------------------------------------------------------===//

void importInnerProduct(LayerContext &c) {
  const pb::InnerProductParameter &p = c.layer().inner_product_param();
  const Tensor &input = c.bottom();
  const int64_t axis = c.axis(p.axis(), input.rank()), outputs = p.num_output();
  if (outputs == 0)
    c.fail("num_output is missing");
  for (int64_t i = axis; i < input.rank(); ++i)
    c.knownDim(0, i, "the weights");
  if (c.failed())
    return;
  const int64_t depth = product(input.dims, axis, input.rank());
  const int64_t rows = product(input.dims, 0, axis);
  Tensor matrix = input;
  if (input.rank() != 2 || axis != 1)
    matrix = c.node("Flatten", {input}, {rows, depth}, {{"axis", axis}});
  std::vector<Tensor> inputs = {
      matrix, c.weights(0, p.transpose() ? Dims{depth, outputs} : Dims{outputs, depth})};
  if (p.bias_term())
    inputs.push_back(c.weights(1, {outputs}));
  Tensor result =
      c.node("Gemm", inputs, {rows, outputs}, {{"transB", int64_t(p.transpose() ? 0 : 1)}});
  if (axis != 1) {
    Dims dims(input.dims.begin(), input.dims.begin() + axis);
    dims.push_back(outputs);
    result = c.reshape(result, dims);
  }
  c.setTop(result);
}

} // namespace

llvm::ArrayRef<LayerRow> windowLayers() {
  static const LayerRow rows[] = {{"Convolution", importConvolution},
                                  {"ConvolutionDepthwise", importDepthwise},
                                  {"Deconvolution", importDeconvolution},
                                  {"DepthwiseConvolution", importDepthwise},
                                  {"InnerProduct", importInnerProduct},
                                  {"Pooling", importPooling},
                                  {"SPP", importPyramid}};
  return rows;
}

} // namespace atc::caffe
