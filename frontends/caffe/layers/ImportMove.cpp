//===-- ImportMove.cpp - shapes and orders of elements --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Tensors.h"
#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

void importConcat(LayerContext &c) {
  const pb::ConcatParameter &p = c.layer().concat_param();
  const int64_t rank = c.bottom().rank();
  const int64_t axis =
      c.axis(!p.has_axis() && p.has_concat_dim() ? int64_t(p.concat_dim()) : p.axis(), rank);
  Dims dims = c.bottom().dims;
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < c.numBottoms() && !c.failed(); ++i) {
    inputs.push_back(c.bottom(i));
    if (i == 0)
      continue;
    Dims item = c.bottom(i).dims;
    bool fits = static_cast<int64_t>(item.size()) == rank;
    for (int64_t d = 0; d < rank && fits; ++d)
      fits = d == axis || item[d] == dims[d] || item[d] < 0 || dims[d] < 0;
    if (!fits)
      return c.fail("bottoms have the shapes " + printShape(c.bottom(0).dims) + " and " +
                    printShape(item) + ", which differ in another dim than axis " + Twine(axis));
    dims[axis] = dims[axis] < 0 || item[axis] < 0 ? -1 : dims[axis] + item[axis];
  }
  c.setTop(c.node("Concat", inputs, dims, {{"axis", axis}}));
}

void importSlice(LayerContext &c) {
  const pb::SliceParameter &p = c.layer().slice_param();
  const Tensor &input = c.bottom();
  const int64_t axis =
      c.axis(!p.has_axis() && p.has_slice_dim() ? int64_t(p.slice_dim()) : p.axis(), input.rank());
  const int64_t size = c.knownDim(0, axis, "the parts"), parts = c.layer().top_size();
  if (c.failed())
    return;
  if (parts == 0 || (p.slice_point_size() ? p.slice_point_size() != parts - 1 : size % parts != 0))
    return c.fail("cannot split " + Twine(size) + " into " + Twine(parts) + " tops with " +
                  Twine(p.slice_point_size()) + " of slice_point");
  Dims sizes;
  int64_t begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t end = i + 1 == parts         ? size
                        : p.slice_point_size() ? int64_t(p.slice_point(i))
                                               : begin + size / parts;
    if (end <= begin || end > size)
      return c.fail("slice_point " + Twine(end) + " must be more than " + Twine(begin) +
                    " and less than " + Twine(size));
    sizes.push_back(end - begin);
    begin = end;
  }
  std::vector<Dims> dims(parts, input.dims);
  for (int64_t i = 0; i < parts; ++i)
    dims[i][axis] = sizes[i];
  c.setTops(c.nodes("Split", {input, c.ints(sizes)}, dims, {{"axis", axis}}));
}

void importSplit(LayerContext &c) {
  std::vector<Tensor> tops;
  for (int i = 0; i < c.layer().top_size(); ++i)
    tops.push_back(c.node("Identity", {c.bottom()}, c.bottom().dims));
  c.setTops(tops);
}

void importFlatten(LayerContext &c) {
  const pb::FlattenParameter &p = c.layer().flatten_param();
  const Tensor &input = c.bottom();
  const int64_t begin = c.axis(p.axis(), input.rank());
  const int64_t end = c.axis(p.end_axis(), input.rank());
  if (!c.failed() && end < begin)
    c.fail("end_axis " + Twine(end) + " is less than axis " + Twine(begin));
  if (c.failed())
    return;
  Dims dims(input.dims.begin(), input.dims.begin() + begin);
  dims.push_back(product(input.dims, begin, end + 1));
  dims.append(input.dims.begin() + end + 1, input.dims.end());
  c.setTop(begin == 1 && end + 1 == input.rank()
               ? c.node("Flatten", {input}, dims, {{"axis", int64_t(1)}})
               : c.reshape(input, dims));
}

void importReshape(LayerContext &c) {
  const pb::ReshapeParameter &p = c.layer().reshape_param();
  const Tensor &input = c.bottom();
  const int64_t rank = input.rank();
  // The index after the last dim is allowed here: nothing is replaced there.
  const int64_t begin = p.axis() < 0 ? p.axis() + rank + 1 : p.axis();
  const int64_t end = p.num_axes() < 0 ? rank : begin + p.num_axes();
  if (begin < 0 || begin > rank || end > rank)
    c.fail("axis " + Twine(p.axis()) + " and num_axes " + Twine(p.num_axes()) +
           " are out of range for " + Twine(rank) + " dims");
  if (c.failed())
    return;
  Dims dims(input.dims.begin(), input.dims.begin() + begin);
  int64_t inferred = -1;
  for (int64_t i = 0; i < p.shape().dim_size(); ++i) {
    int64_t dim = p.shape().dim(i);
    if (dim == 0 && begin + i >= rank)
      return c.fail("dim " + Twine(i) + " of shape is 0, but its bottom has no such dim");
    if (dim == -1)
      inferred = dims.size();
    dims.push_back(dim == 0 ? input.dims[begin + i] : dim);
  }
  dims.append(input.dims.begin() + end, input.dims.end());
  const int64_t elements = product(input.dims, 0, rank);
  if (inferred >= 0 && elements > 0) {
    dims[inferred] = 1;
    const int64_t others = product(dims, 0, dims.size());
    if (others <= 0 || elements % others != 0)
      return c.fail("no whole number is left for the dim of -1 for a bottom of shape " +
                    printShape(input.dims));
    dims[inferred] = elements / others;
  }
  c.setTop(c.reshape(input, dims));
}

void importPermute(LayerContext &c) {
  const pb::PermuteParameter &p = c.layer().permute_param();
  const Tensor &input = c.bottom();
  const int64_t rank = input.rank();
  Dims order;
  for (uint32_t axis : p.order()) {
    if (axis >= rank || llvm::is_contained(order, int64_t(axis)))
      return c.fail("order " + Twine(axis) + " is out of range for " + Twine(rank) +
                    " dims or stated twice");
    order.push_back(axis);
  }
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  Dims dims;
  for (int64_t axis : order)
    dims.push_back(input.dims[axis]);
  c.setTop(c.node("Transpose", {input}, dims, {{"perm", order}}));
}

void importTile(LayerContext &c) {
  const pb::TileParameter &p = c.layer().tile_param();
  const Tensor &input = c.bottom();
  const int64_t axis = c.axis(p.axis(), input.rank());
  if (p.tiles() < 1)
    c.fail("tiles " + Twine(p.tiles()) + " must be 1 or more");
  if (c.failed())
    return;
  Dims repeats(input.rank(), 1), dims = input.dims;
  repeats[axis] = p.tiles();
  dims[axis] = dims[axis] < 0 ? -1 : dims[axis] * p.tiles();
  c.setTop(c.node("Tile", {input, c.ints(repeats)}, dims));
}

/// Crops the first bottom to the dims of the second one from `axis` on.
void importCrop(LayerContext &c) {
  const pb::CropParameter &p = c.layer().crop_param();
  const Tensor &input = c.bottom(0);
  const int64_t rank = input.rank(), axis = c.axis(p.axis(), rank);
  if (!c.failed() && c.bottom(1).rank() != rank)
    c.fail("its bottoms have " + Twine(rank) + " and " + Twine(c.bottom(1).rank()) + " dims");
  if (!c.failed() && p.offset_size() > 1 && p.offset_size() != rank - axis)
    c.fail("offset has " + Twine(p.offset_size()) + " values, expected 1 or " + Twine(rank - axis));
  Dims starts, ends, axes, dims = input.dims;
  for (int64_t i = axis; i < rank && !c.failed(); ++i) {
    const int64_t size = c.knownDim(1, i, "the crop"), from = c.knownDim(0, i, "the crop");
    const int64_t start = p.offset_size() == 0   ? 0
                          : p.offset_size() == 1 ? int64_t(p.offset(0))
                                                 : int64_t(p.offset(i - axis));
    if (start + size > from)
      return c.fail("offset " + Twine(start) + " and " + Twine(size) + " elements leave dim " +
                    Twine(i) + " of " + Twine(from));
    starts.push_back(start);
    ends.push_back(start + size);
    axes.push_back(i);
    dims[i] = size;
  }
  c.setTop(c.node("Slice", {input, c.ints(starts), c.ints(ends), c.ints(axes)}, dims));
}

/// Reshape, transpose, reshape.
Tensor regroup(LayerContext &c, const Tensor &value, const Dims &split, const Dims &order,
               const Dims &result) {
  Dims moved;
  for (int64_t axis : order)
    moved.push_back(split[axis]);
  Tensor wide = c.reshape(value, split);
  return c.reshape(c.node("Transpose", {wide}, moved, {{"perm", order}}), result);
}

void importShuffleChannel(LayerContext &c) {
  const int64_t group = c.layer().shuffle_channel_param().group();
  c.requireRank(0, 4);
  const Dims dims = c.knownDims(0, "the groups");
  if (!c.failed() && (group < 1 || dims[1] % group))
    c.fail("group " + Twine(group) + " does not divide " + Twine(dims[1]) + " channels");
  if (c.failed())
    return;
  c.setTop(regroup(c, c.bottom(), {dims[0], group, dims[1] / group, dims[2], dims[3]},
                   {0, 2, 1, 3, 4}, dims));
}

/// The reorganization of YOLOv2: blocks of stride x stride become channels, in its order.
void importReorg(LayerContext &c) {
  const pb::ReorgParameter &p = c.layer().reorg_param();
  const int64_t s = p.stride();
  c.requireRank(0, 4);
  const Dims dims = c.knownDims(0, "the blocks");
  if (p.reverse())
    c.fail("reverse: true is not supported");
  if (!c.failed() && (s < 1 || dims[2] % s || dims[3] % s || dims[1] * dims[2] % (s * s)))
    c.fail("stride " + Twine(s) + " does not divide the image " + printShape(dims));
  if (c.failed())
    return;
  c.setTop(regroup(c, c.bottom(), {dims[0], dims[1] * dims[2] / (s * s), s, dims[3], s},
                   {0, 2, 4, 1, 3}, {dims[0], dims[1] * s * s, dims[2] / s, dims[3] / s}));
}

//===--- Sizes of images --------------------------------------------------===//

Tensor resize(LayerContext &c, const Dims &dims, const char *mode, const char *coordinates) {
  return c.node("Resize", {c.bottom(), c.empty(), c.empty(), c.ints(dims)}, dims,
                {{"mode", std::string(mode)},
                 {"coordinate_transformation_mode", std::string(coordinates)},
                 {"nearest_mode", std::string("floor")}});
}

void importInterp(LayerContext &c) {
  const pb::InterpParameter &p = c.layer().interp_param();
  c.requireRank(0, 4);
  Dims dims = c.knownDims(0, "the size of the result");
  if (p.pad_beg() || p.pad_end())
    c.fail("pad_beg and pad_end are not supported");
  if (p.zoom_factor() < 1 || p.shrink_factor() < 1)
    c.fail("zoom_factor and shrink_factor must be 1 or more");
  if (c.failed())
    return;
  const int64_t stated[] = {p.height(), p.width()};
  for (unsigned i = 0; i < 2; ++i) {
    int64_t &dim = dims[2 + i];
    if (c.numBottoms() > 1)
      dim = c.knownDim(1, 2 + i, "the size of the result");
    else if (stated[i] > 0)
      dim = stated[i];
    else {
      dim = (dim - 1) / p.shrink_factor() + 1;
      dim += (dim - 1) * (p.zoom_factor() - 1);
    }
  }
  c.setTop(resize(c, dims, "linear", "align_corners"));
}

/// Puts each element where the mask of a pool says, in planes of zeros.
Tensor unpooled(LayerContext &c, const Dims &dims) {
  const Tensor &mask = c.bottom(1);
  if (dims[2] < mask.dims[2] || dims[3] < mask.dims[3]) {
    c.fail("its result " + printShape(dims) + " is smaller than the mask " + printShape(mask.dims));
    return {};
  }
  const Dims planes = {mask.dims[0], mask.dims[1], 1, 1};
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < planes[0] * planes[1]; ++i)
    begins.push_back(i * dims[2] * dims[3]);
  Tensor positions = c.node("Cast", {mask}, mask.dims, {{"to", int64_t(onnx::TensorProto::INT64)}});
  Tensor all = c.node("Add", {positions, c.reshape(c.ints(begins), planes)}, mask.dims);
  // A position outside its plane would be one of another plane; the kernel refuses -1.
  Tensor none = c.ints({-1});
  Tensor isBelow = c.node("Less", {positions, c.ints({dims[2] * dims[3]})}, mask.dims);
  Tensor fits = c.node("And", {isBelow, c.node("Less", {none, positions}, mask.dims)}, mask.dims);
  all = c.node("Where", {fits, all, none}, mask.dims);
  // The window that gives the result its size by itself; where it lies means nothing here.
  const Dims window = {dims[2] - mask.dims[2] + 1, dims[3] - mask.dims[3] + 1};
  return c.node("MaxUnpool", {c.bottom(), all}, dims,
                {{"kernel_shape", window}, {"strides", Dims{1, 1}}});
}

void importUpsample(LayerContext &c) {
  const pb::UpsampleParameter &p = c.layer().upsample_param();
  c.requireRank(0, 4);
  const bool hasMask = c.numBottoms() > 1;
  if (hasMask && !c.failed() && c.bottom(1).dims != c.bottom().dims)
    c.fail("the mask has the shape " + printShape(c.bottom(1).dims) + ", expected " +
           printShape(c.bottom().dims) + " as the bottom");
  Dims dims = c.knownDims(0, "the size of the result");
  if (c.failed())
    return;
  const bool hasStride = p.has_stride() || p.has_stride_h() || p.has_stride_w();
  const int64_t both = p.has_stride()                ? p.stride()
                       : p.has_scale() && !hasStride ? int64_t(p.scale())
                                                     : 2;
  const int64_t h = p.has_scale_h() ? p.scale_h() : p.has_stride_h() ? p.stride_h() : both;
  const int64_t w = p.has_scale_w() ? p.scale_w() : p.has_stride_w() ? p.stride_w() : both;
  if (h < 1 || w < 1)
    return c.fail("scale must be 1 or more");
  dims[2] = p.has_upsample_h() ? p.upsample_h() : dims[2] * h;
  dims[3] = p.has_upsample_w() ? p.upsample_w() : dims[3] * w;
  if (llvm::Expected<int64_t> count = countElements(dims); !count)
    return c.fail("the size of its result, " + printShape(dims) +
                  ", is too large: " + llvm::toString(count.takeError()));
  if (hasMask)
    return c.setTop(unpooled(c, dims));
  Tensor result = resize(c, dims, "nearest", "asymmetric");
  c.setTop(hasStride && p.has_scale() && p.scale() != 1 ? c.mul(result, c.scalar(p.scale()))
                                                        : result);
}

//===--- Lookups ----------------------------------------------------------===//

Tensor asIndices(LayerContext &c, const Tensor &value) {
  return c.node("Cast", {value}, value.dims, {{"to", int64_t(onnx::TensorProto::INT64)}});
}

/// Takes a row of the weights per number.
void importEmbed(LayerContext &c) {
  const pb::EmbedParameter &p = c.layer().embed_param();
  const int64_t rows = p.input_dim(), outputs = p.num_output();
  if (rows == 0 || outputs == 0)
    c.fail("input_dim and num_output must be positive");
  Dims dims = c.bottom().dims;
  dims.push_back(outputs);
  Tensor result = c.node("Gather", {c.weights(0, {rows, outputs}), asIndices(c, c.bottom())}, dims);
  c.setTop(p.bias_term() ? c.add(result, c.weights(1, {outputs})) : result);
}

/// Takes items of the batch in the order that the second bottom states.
void importBatchReindex(LayerContext &c) {
  c.requireRank(1, 1);
  if (!c.failed() && c.bottom().rank() == 0)
    c.fail("bottom '" + Twine(c.layer().bottom(0)) + "' has no batch");
  if (c.failed())
    return;
  Dims dims = c.bottom().dims;
  dims[0] = c.bottom(1).dims[0];
  c.setTop(c.node("Gather", {c.bottom(), asIndices(c, c.bottom(1))}, dims));
}

/// The top is the layer's weights.
void importParameter(LayerContext &c) {
  const auto &stated = c.layer().parameter_param().shape().dim();
  const Dims dims(stated.begin(), stated.end());
  if (llvm::any_of(dims, [](int64_t dim) { return dim < 1; }))
    return c.fail("its shape " + printShape(dims) + " must have positive dims");
  Tensor value = c.weights(0, dims);
  c.setTop(c.node("Identity", {value}, dims));
}

} // namespace

llvm::ArrayRef<LayerRow> moveLayers() {
  static const LayerRow rows[] = {{"BatchReindex", importBatchReindex},
                                  {"Concat", importConcat},
                                  {"Crop", importCrop},
                                  {"Embed", importEmbed},
                                  {"Parameter", importParameter},
                                  {"Flatten", importFlatten},
                                  {"Interp", importInterp},
                                  {"Permute", importPermute},
                                  {"Reorg", importReorg},
                                  {"Reshape", importReshape},
                                  {"ShuffleChannel", importShuffleChannel},
                                  {"Slice", importSlice},
                                  {"Split", importSplit},
                                  {"Tile", importTile},
                                  {"Upsample", importUpsample}};
  return rows;
}

} // namespace atc::caffe
