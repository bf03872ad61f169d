//===-- AirShapes.cpp - dims of operators that move elements --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single operator states the dims of its outputs, and Reshape and the like read them there. A
// graph that a program has built states none: they follow from constants and attributes.

#include "frontends/air/AirOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::air {

using Dims = std::vector<int64_t>;

static const nlohmann::ordered_json *find(const SingleOp &op, StringRef name) {
  auto found = find_if(op.attributes, [&](const auto &item) { return item.name == name; });
  return found == op.attributes.end() ? nullptr : &found->value;
}

static int64_t getInt(const SingleOp &op, StringRef name, int64_t otherwise) {
  const nlohmann::ordered_json *value = find(op, name);
  return value && value->is_number_integer() ? value->get<int64_t>() : otherwise;
}

static Dims getInts(const SingleOp &op, StringRef name) {
  const nlohmann::ordered_json *value = find(op, name);
  Dims list;
  if (value && value->is_number_integer())
    list.push_back(value->get<int64_t>());
  if (value && value->is_array())
    for (const auto &item : *value)
      if (item.is_number_integer())
        list.push_back(item.get<int64_t>());
  return list;
}

/// Returns the integers of a constant input; nullopt where the input is none.
static std::optional<Dims> constantOf(const SingleOp &op, size_t input) {
  if (input >= op.inputs.size() || !op.inputs[input].isConstant)
    return std::nullopt;
  return constantInts(op.inputs[input].values);
}

/// Returns an axis counted from the front of `rank` dims; nullopt where there is none.
static std::optional<int64_t> axisOf(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return axis;
}

bool isDynamic(ArrayRef<int64_t> dims) {
  return any_of(dims, [](int64_t dim) { return dim < 0; });
}

/// Fills the zeros (as in the input) and the one -1 (the rest) of the shape of Reshape. The rest is
/// not known where the input has dims of any size.
static std::optional<Dims> reshaped(const Dims &from, Dims shape) {
  int64_t elements = 1, known = 1;
  if (isDynamic(from)) {
    for (auto [i, dim] : enumerate(shape))
      if (dim == 0 && i < from.size())
        dim = from[i];
      else if (dim < -1)
        return std::nullopt;
    return shape;
  }
  for (int64_t dim : from)
    if (dim && elements > (int64_t(1) << 40) / dim)
      return std::nullopt;
    else
      elements *= dim;
  int64_t *open = nullptr;
  for (auto [i, dim] : enumerate(shape)) {
    if (dim == 0 && i < from.size())
      dim = from[i];
    if (dim == -1) {
      if (open)
        return std::nullopt;
      open = &dim;
    } else if (dim < 0 || (dim && known > (int64_t(1) << 40) / dim)) {
      return std::nullopt;
    } else {
      known *= dim;
    }
  }
  if (open && known)
    *open = elements / known;
  if ((open ? known * *open : known) != elements)
    return std::nullopt;
  return shape;
}

static std::optional<Dims> flattened(const Dims &from, int64_t axis, int64_t end) {
  const int64_t rank = from.size();
  if (axis < 0)
    axis += rank;
  if (end < 0)
    end += rank;
  if (axis < 0 || axis > rank || end < axis || end >= std::max<int64_t>(rank, 1))
    return std::nullopt;
  Dims shape(from.begin(), from.begin() + axis);
  int64_t product = 1;
  const Dims joined(from.begin() + axis, from.begin() + std::min(end + 1, rank));
  for (int64_t dim : joined)
    if (dim > 0 && product > (int64_t(1) << 40) / dim)
      return std::nullopt;
    else
      product *= dim;
  shape.push_back(isDynamic(joined) ? -1 : product);
  shape.insert(shape.end(), from.begin() + std::min(end + 1, rank), from.end());
  return shape;
}

static std::optional<Dims> squeezed(const Dims &from, const Dims &axes) {
  std::vector<bool> goes(from.size(), false);
  for (int64_t axis : axes)
    if (std::optional<int64_t> known = axisOf(axis, from.size()))
      goes[*known] = true;
    else
      return std::nullopt;
  Dims shape;
  for (auto [i, dim] : enumerate(from))
    if (axes.empty() ? dim != 1 : !goes[i])
      shape.push_back(dim);
  return shape;
}

static std::optional<Dims> unsqueezed(const Dims &from, const Dims &axes) {
  const int64_t rank = from.size() + axes.size();
  std::vector<bool> isNew(rank, false);
  for (int64_t axis : axes)
    if (std::optional<int64_t> known = axisOf(axis, rank))
      isNew[*known] = true;
    else
      return std::nullopt;
  Dims shape;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    if (isNew[i])
      shape.push_back(1);
    else if (next < from.size())
      shape.push_back(from[next++]);
    else
      return std::nullopt;
  return shape;
}

/// Returns the dims of a tensor that is repeated along its dims of 1 up to `to`, of which -1 keeps
/// the tensor's dim.
static std::optional<Dims> broadcast(const Dims &from, Dims to) {
  if (from.size() > to.size())
    return std::nullopt;
  const size_t added = to.size() - from.size();
  for (auto [i, dim] : enumerate(to)) {
    const int64_t have = i < added ? 1 : from[i - added];
    if (dim == -1 && i >= added)
      dim = have;
    if (dim < 0 || (have != dim && have != 1))
      return std::nullopt;
  }
  return to;
}

/// Returns the dims of an image [N, C, H, W] or [N, H, W, C] whose rows and columns become `size`.
static std::optional<Dims> resized(const SingleOpTensor &image, const Dims &size) {
  constexpr int kNHWC = 1;
  if (image.dims.size() != 4 || size.size() != 2)
    return std::nullopt;
  Dims dims = image.dims;
  std::copy(size.begin(), size.end(), dims.begin() + (image.format == kNHWC ? 1 : 2));
  return dims;
}

/// Returns the integers of the attribute `name` or of a constant input; nullopt where neither is
/// given.
static std::optional<Dims> statedInts(const SingleOp &op, size_t input, StringRef name) {
  std::optional<Dims> stated = constantOf(op, input);
  return stated || !find(op, name) ? stated : getInts(op, name);
}

static std::optional<Dims> movedDims(const SingleOp &op) {
  const Dims &from = op.inputs[0].dims;
  const StringRef type = op.type;
  if (type.starts_with("BroadcastTo") || type == "Expand" || type == "ExpandD") {
    std::optional<Dims> shape = statedInts(op, 1, "shape");
    return shape ? broadcast(from, *shape) : std::nullopt;
  }
  if (type == "Fill")
    return constantOf(op, 0);
  if (type == "FillD")
    return find(op, "dims") ? std::optional(getInts(op, "dims")) : std::nullopt;
  if (type.starts_with("Resize")) {
    std::optional<Dims> size = statedInts(op, 1, "size");
    return size ? resized(op.inputs[0], *size) : std::nullopt;
  }
  if (type == "Upsample" && from.size() == 4 && !isDynamic(from)) {
    const int64_t rows = getInt(op, "stride_h", 2), columns = getInt(op, "stride_w", 2);
    if (constexpr int64_t max = 1 << 20; rows < 1 || columns < 1 || rows > max || columns > max ||
                                         from[2] > INT32_MAX || from[3] > INT32_MAX)
      return std::nullopt;
    return Dims{from[0], from[1], from[2] * rows, from[3] * columns};
  }
  if (type == "Reshape") {
    std::optional<Dims> shape = statedInts(op, 1, "shape");
    // Only a part of the input's dims may be replaced.
    const int64_t axis = getInt(op, "axis", 0), count = getInt(op, "num_axes", -1);
    if (!shape || axis < 0 || axis > int64_t(from.size()))
      return std::nullopt;
    Dims whole(from.begin(), from.begin() + axis);
    whole.insert(whole.end(), shape->begin(), shape->end());
    if (count >= 0 && axis + count <= int64_t(from.size()))
      whole.insert(whole.end(), from.begin() + axis + count, from.end());
    return reshaped(from, std::move(whole));
  }
  if (type == "Flatten") {
    // Two dims: those in front of the axis, and the rest.
    const int64_t axis = getInt(op, "axis", 1);
    std::optional<Dims> rest = flattened(from, axis, -1);
    return rest && !from.empty() && axis > 0 ? flattened(*rest, 0, rest->size() - 2) : rest;
  }
  if (type == "FlattenV2")
    return flattened(from, getInt(op, "axis", 1), getInt(op, "end_axis", -1));
  if (type == "Squeeze" || type == "SqueezeV2")
    return squeezed(from, getInts(op, "axis"));
  if (type == "Unsqueeze" || type == "UnsqueezeV2")
    return unsqueezed(from, getInts(op, type == "Unsqueeze" ? "axes" : "axis"));
  if (type == "ExpandDims") {
    std::optional<Dims> axis = constantOf(op, 1);
    return unsqueezed(from, axis ? *axis : getInts(op, "axis"));
  }
  return std::nullopt;
}

bool readsOutputShape(StringRef type) {
  return type.starts_with("Resize") ||
         is_contained({"Reshape", "Flatten", "FlattenV2", "Squeeze", "SqueezeV2", "Unsqueeze",
                       "UnsqueezeV2", "ExpandDims", "BroadcastTo", "BroadcastToD", "Expand",
                       "ExpandD", "Fill", "FillD", "Upsample", "FullyConnection"},
                      type);
}

bool inferMovedShape(SingleOp &op) {
  if (op.inputs.empty() || op.outputs.empty() || op.inputs[0].isAbsent)
    return false;
  std::optional<Dims> dims = movedDims(op);
  if (!dims)
    return false;
  op.outputs[0].dims = std::move(*dims);
  // The first input of Fill is its dims.
  op.outputs[0].type = op.inputs[op.type == "Fill" && op.inputs.size() > 1 ? 1 : 0].type;
  return true;
}

} // namespace atc::air
