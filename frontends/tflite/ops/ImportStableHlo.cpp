//===-- ImportStableHlo.cpp - operators of StableHLO, general windows -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

#include <algorithm>

using llvm::ArrayRef;
using llvm::Twine;

namespace atc::tflite {
namespace {

/// Limit what is written out: widened tensors, indices of elements, positions of a window.
constexpr int64_t maxElements = 1 << 26;
constexpr int64_t maxIndices = 1 << 24;
constexpr int64_t maxPositions = 4096;

Dims listOf(const flatbuffers::Vector<int64_t> *list) {
  return list ? Dims(list->begin(), list->end()) : Dims();
}

/// Fails unless `list`, which `what` names, has one value of at least `min` per dim.
bool checkList(OpContext &c, const Dims &list, size_t rank, const char *what, int64_t min) {
  if (!c.failed() && list.size() != rank)
    c.fail(Twine("its ") + what + " has " + Twine(list.size()) + " values, expected " +
           Twine(rank));
  for (int64_t value : list)
    if (!c.failed() && (value < min || value > maxElements))
      c.fail(Twine("its ") + what + " has the value " + Twine(value) + ", expected at least " +
             Twine(min) + " and at most " + Twine(maxElements));
  return !c.failed();
}

/// Fails unless the values are different dims below `rank`.
bool checkDims(OpContext &c, const Dims &list, size_t rank, const char *what) {
  std::vector<bool> seen(rank);
  for (int64_t dim : list) {
    if (!c.failed() && (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim]))
      c.fail(Twine("its ") + what + " has the value " + Twine(dim) +
             ", expected different ones from 0 to " + Twine(static_cast<int64_t>(rank) - 1));
    if (!c.failed())
      seen[dim] = true;
  }
  return !c.failed();
}

/// Returns the number of elements of a tensor, or fails where it is too large.
int64_t countOf(OpContext &c, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (llvm::MulOverflow(count, dim, count) || count > maxElements) {
      c.fail("has more than " + Twine(maxElements) + " elements");
      return 1;
    }
  return count;
}

//===--- Pads and windows -------------------------------------------------===//

/// Puts `factors[i] - 1` elements `fill` between neighbours along each axis i; `dims` become those
/// of the result.
Value dilate(OpContext &c, Value value, Value fill, Dims &dims, const Dims &factors) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t factor = factors[axis];
    if (factor == 1 || dims[axis] < 2)
      continue;
    Dims wide = dims, pads(2 * (dims.size() + 1), 0), joined = dims;
    wide.insert(wide.begin() + axis + 1, 1);
    pads[dims.size() + 1 + axis + 1] = factor - 1;
    joined[axis] *= factor;
    countOf(c, joined);
    if (c.failed())
      return {};
    value = c.reshape(c.node("Pad", {c.reshape(value, wide), c.ints(pads), fill}), joined);
    dims[axis] = (dims[axis] - 1) * factor + 1;
    value = c.slice(value, axis, 0, dims[axis]);
  }
  return value;
}

/// Adds elements `fill` in front of and behind each axis, or removes them where counts are
/// negative.
Value pad(OpContext &c, Value value, Value fill, Dims &dims, const Dims &low, const Dims &high) {
  Dims pads = low;
  pads.append(high.begin(), high.end());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    dims[axis] += low[axis] + high[axis];
    if (dims[axis] < 0)
      c.fail("removes more elements than there are along dim " + Twine(axis));
  }
  countOf(c, dims);
  return c.node("Pad", {value, c.ints(pads), fill});
}

void importDilate(OpContext &c) {
  Dims dims = c.knownDims(0);
  const Dims factors = c.requireInts(1, "dilations");
  if (!checkList(c, factors, dims.size(), "dilations", 1))
    return;
  Value fill = c.reshape(c.in(2), {});
  c.setOutput(dilate(c, c.in(0), fill, dims, factors));
}

void importHloPad(OpContext &c) {
  const auto *p = c.options2<fb::StablehloPadOptions>();
  if (!p)
    return c.fail("has no parameters");
  Dims dims = c.knownDims(0), gaps = listOf(p->interior());
  const Dims low = listOf(p->low()), high = listOf(p->high());
  if (!checkList(c, gaps, dims.size(), "interior padding", 0) ||
      !checkList(c, low, dims.size(), "padding in front", -maxElements) ||
      !checkList(c, high, dims.size(), "padding behind", -maxElements))
    return;
  for (int64_t &gap : gaps)
    ++gap;
  Value fill = c.reshape(c.in(1), {});
  Value wide = dilate(c, c.in(0), fill, dims, gaps);
  c.setOutput(pad(c, wide, fill, dims, low, high));
}

struct Window {
  Dims size, strides, baseDilations, dilations, low, high;
  const char *op; ///< of ONNX, which joins two elements
};

/// Joins the elements of each window to `first`, one operator per position in it.
void reduceWindows(OpContext &c, Value first, const Window &window) {
  Dims dims = c.knownDims(0);
  const size_t rank = dims.size();
  if (!checkList(c, window.size, rank, "window", 1) ||
      !checkList(c, window.strides, rank, "strides", 1) ||
      !checkList(c, window.baseDilations, rank, "base dilations", 1) ||
      !checkList(c, window.dilations, rank, "window dilations", 1) ||
      !checkList(c, window.low, rank, "padding in front", -maxElements) ||
      !checkList(c, window.high, rank, "padding behind", -maxElements))
    return;
  Value padded = dilate(c, c.in(0), first, dims, window.baseDilations);
  padded = pad(c, padded, first, dims, window.low, window.high);
  int64_t positions = 1;
  Dims counts, axes;
  for (size_t i = 0; i < rank && !c.failed(); ++i) {
    const int64_t reach = (window.size[i] - 1) * window.dilations[i] + 1;
    positions *= window.size[i];
    counts.push_back(reach > dims[i] ? 0 : (dims[i] - reach) / window.strides[i] + 1);
    axes.push_back(i);
    if (positions > maxPositions)
      c.fail("its window has more than " + Twine(maxPositions) + " elements");
    else if (!counts.back())
      c.fail("its window does not fit in dim " + Twine(i));
  }
  Value result = first;
  for (int64_t position = 0; position < positions && !c.failed(); ++position) {
    Dims begin(rank), end(rank);
    int64_t rest = position;
    for (size_t i = rank; i-- > 0; rest /= window.size[i]) {
      begin[i] = rest % window.size[i] * window.dilations[i];
      end[i] = begin[i] + (counts[i] - 1) * window.strides[i] + 1;
    }
    Value part =
        c.node("Slice", {padded, c.ints(begin), c.ints(end), c.ints(axes), c.ints(window.strides)});
    result = c.node(window.op, {result, part});
  }
  c.setOutput(result);
}

void importReduceWindow(OpContext &c) {
  using enum fb::WindowFunction;
  const auto *p = c.options2<fb::ReduceWindowOptions>();
  const fb::WindowFunction function = p ? p->function() : UNSUPPORTED;
  const char *op = function == ADD       ? "Add"
                   : function == MUL     ? "Mul"
                   : function == MINIMUM ? "Min"
                   : function == MAXIMUM ? "Max"
                   : function == ALL     ? "And"
                   : function == ANY     ? "Or"
                                         : nullptr;
  if (!op)
    return c.fail("has no function that is known");
  const Dims none(c.dims(0).size(), 0), ones(none.size(), 1);
  Value first = c.reshape(c.in(1), {});
  reduceWindows(c, first,
                {c.requireInts(2, "window"), c.requireInts(3, "strides"), ones,
                 c.requireInts(4, "window dilations"), none, none, op});
}

/// Returns whether a subgraph of two scalars returns what its only operator makes of both, or,
/// without an operator, its second input.
bool joinsItsInputs(const fb::SubGraph &graph) {
  const auto *inputs = graph.inputs(), *outputs = graph.outputs();
  if (!inputs || inputs->size() != 2 || !outputs || outputs->size() != 1)
    return false;
  if (!graph.operators() || graph.operators()->size() == 0)
    return outputs->Get(0) == inputs->Get(1);
  const fb::Operator &op = *graph.operators()->Get(0);
  auto isBoth = [&](int32_t a, int32_t b) {
    return op.inputs()->Get(0) == inputs->Get(a) && op.inputs()->Get(1) == inputs->Get(b);
  };
  const auto *add = op.builtin_options_as_AddOptions();
  const auto *mul = op.builtin_options_as_MulOptions();
  const bool isPlain = (!add || add->activation() == fb::Activation::NONE) &&
                       (!mul || mul->activation() == fb::Activation::NONE);
  return isPlain && op.inputs() && op.inputs()->size() == 2 && (isBoth(0, 1) || isBoth(1, 0)) &&
         op.outputs() && op.outputs()->size() == 1 && op.outputs()->Get(0) == outputs->Get(0);
}

/// Returns the operator of ONNX that a subgraph of two scalars is; "" where it returns the second
/// one; null, and an error, for others.
const char *functionOf(OpContext &c, int64_t index) {
  using enum fb::BuiltinOperator;
  const ModelReader &reader = c.model.reader;
  const bool isKnown = index >= 0 && index < static_cast<int64_t>(reader.numSubgraphs()) &&
                       joinsItsInputs(reader.subgraph(index));
  const auto *operators = isKnown ? reader.subgraph(index).operators() : nullptr;
  if (isKnown && (!operators || operators->size() == 0))
    return "";
  if (isKnown && operators->size() == 1)
    switch (reader.code(*operators->Get(0))) {
    case ADD:
    case STABLEHLO_ADD:
      return "Add";
    case MUL:
    case STABLEHLO_MULTIPLY:
      return "Mul";
    case MINIMUM:
    case STABLEHLO_MINIMUM:
      return "Min";
    case MAXIMUM:
    case STABLEHLO_MAXIMUM:
      return "Max";
    case LOGICAL_AND:
    case STABLEHLO_AND:
      return "And";
    case LOGICAL_OR:
    case STABLEHLO_OR:
      return "Or";
    default:
      break;
    }
  c.fail("its subgraph " + Twine(index) +
         " must be one sum, product, minimum, maximum, conjunction or disjunction of its inputs");
  return nullptr;
}

void importHloReduceWindow(OpContext &c) {
  const auto *p = c.options2<fb::StablehloReduceWindowOptions>();
  if (!p || c.numInputs() != 2)
    return c.fail("needs its parameters and one tensor");
  const char *op = functionOf(c, p->body_subgraph());
  if (!op || !*op)
    return c.fail("its subgraph must join two elements");
  const Dims padding = listOf(p->padding()), ones(c.dims(0).size(), 1);
  Dims low, high;
  for (size_t i = 0; i + 1 < padding.size(); i += 2) {
    low.push_back(padding[i]);
    high.push_back(padding[i + 1]);
  }
  if (padding.empty())
    low = high = Dims(ones.size(), 0);
  auto orOnes = [&](Dims list) { return list.empty() ? ones : list; };
  Value first = c.reshape(c.in(1), {});
  reduceWindows(c, first,
                {listOf(p->size()), orOnes(listOf(p->strides())),
                 orOnes(listOf(p->base_dilations())), orOnes(listOf(p->window_dilations())), low,
                 high, op});
}

//===--- Gathers and scatters ---------------------------------------------===//

/// Returns where slices begin, one per vector of indices and one value per dim of the operand:
/// [..., 1, rank]. `map` are the operand's dims that the indices are of.
Value beginsOf(OpContext &c, int64_t vectorDim, const Dims &map, size_t rank) {
  Value indices = c.indices(1);
  const int64_t indexRank = c.rank(1);
  if (c.failed() || vectorDim < 0 || vectorDim > indexRank || map.empty()) {
    c.fail("its vectors of indices along dim " + Twine(vectorDim) + " are not understood");
    return {};
  }
  if (vectorDim == indexRank)
    indices = c.unsqueeze(indices, {-1});
  if (vectorDim < indexRank - 1) {
    Dims order;
    for (int64_t i = 0; i < indexRank; ++i)
      if (i != vectorDim)
        order.push_back(i);
    order.push_back(vectorDim);
    indices = c.transpose(indices, order);
  }
  Value zeros = c.node("Mul", {c.slice(indices, -1, 0, 1), c.ints({0})});
  Dims columns(rank, map.size());
  for (size_t i = 0; i < map.size(); ++i)
    columns[map[i]] = i;
  Value all = c.node("Concat", {indices, zeros}, {{"axis", int64_t(-1)}});
  return c.unsqueeze(c.node("Gather", {all, c.ints(columns)}, {{"axis", int64_t(-1)}}), {-2});
}

/// Returns the coordinates of all elements of a box: [elements, rank].
Value boxOf(OpContext &c, const Dims &sizes) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t elements = countOf(c, sizes);
  if (elements > maxIndices / std::max<int64_t>(1, rank))
    c.fail("has parts of more than " + Twine(maxIndices / std::max<int64_t>(1, rank)) +
           " elements");
  std::vector<int64_t> grid(c.failed() ? 0 : elements * rank);
  for (size_t row = 0; row < grid.size(); row += rank) {
    int64_t rest = row / rank;
    for (int64_t i = rank; i-- > 0; rest /= sizes[i])
      grid[row + i] = rest % sizes[i];
  }
  return c.constant(onnx::TensorProto::INT64, {elements, rank}, bytesOf(grid));
}

/// Returns the dims below `rank` that are not in `list`.
Dims othersThan(const Dims &list, size_t rank) {
  Dims others;
  for (size_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(list, static_cast<int64_t>(i)))
      others.push_back(i);
  return others;
}

void importHloGather(OpContext &c) {
  const auto *p = c.options2<fb::StablehloGatherOptions>();
  if (!p)
    return c.fail("has no parameters");
  const Dims dims = c.knownDims(0), sizes = listOf(p->slice_sizes());
  const Dims offsets = listOf(p->offset_dims()), collapsed = listOf(p->collapsed_slice_dims());
  const Dims map = listOf(p->start_index_map());
  const size_t resultRank = c.outputDims().size();
  if (!checkList(c, sizes, dims.size(), "slice sizes", 0) ||
      !checkDims(c, map, dims.size(), "start_index_map") ||
      !checkDims(c, collapsed, dims.size(), "collapsed_slice_dims") ||
      !checkDims(c, offsets, resultRank, "offset_dims"))
    return;
  Dims last, kept;
  for (size_t i = 0; i < dims.size(); ++i) {
    last.push_back(dims[i] - sizes[i]);
    if (last.back() < 0 || (llvm::is_contained(collapsed, i) && sizes[i] != 1))
      return c.fail("a slice of " + Twine(sizes[i]) + " does not fit dim " + Twine(i));
    if (!llvm::is_contained(collapsed, i))
      kept.push_back(sizes[i]);
  }
  if (kept.size() != offsets.size() || resultRank < kept.size())
    return c.fail("its offset_dims do not fit its slices");
  Value begins = beginsOf(c, p->index_vector_dim(), map, dims.size());
  begins = c.node("Min", {c.node("Max", {begins, c.ints({0})}), c.ints(last)});
  Value found = c.node("GatherND", {c.in(0), c.node("Add", {begins, boxOf(c, sizes)})});
  // [batch, elements of a slice] -> [batch, slice] -> the order of the result
  Value batch = c.node("Shape", {begins}, {{"end", int64_t(-2)}});
  Value shape = c.node("Concat", {batch, c.ints(kept)}, {{"axis", int64_t(0)}});
  Dims order(resultRank);
  const size_t numBatch = resultRank - kept.size();
  for (size_t i = 0; i < kept.size(); ++i)
    order[offsets[i]] = numBatch + i;
  for (auto [i, dim] : llvm::enumerate(othersThan(offsets, resultRank)))
    order[dim] = i;
  c.setOutput(c.transpose(c.node("Reshape", {found, shape}), order));
}

/// Writes elements beside the operand to one more, which is removed.
void importHloScatter(OpContext &c) {
  const auto *p = c.options2<fb::StablehloScatterOptions>();
  if (!p || c.numInputs() != 3)
    return c.fail("needs its parameters and one tensor");
  const Dims dims = c.knownDims(0), updates = c.knownDims(2);
  const Dims window = listOf(p->update_window_dims()), inserted = listOf(p->inserted_window_dims());
  const Dims map = listOf(p->scatter_dims_to_operand_dims());
  if (!checkDims(c, window, updates.size(), "update_window_dims") ||
      !checkDims(c, inserted, dims.size(), "inserted_window_dims") ||
      !checkDims(c, map, dims.size(), "scatter_dims_to_operand_dims"))
    return;
  if (window.size() + inserted.size() != dims.size())
    return c.fail("its update_window_dims do not fit its operand");
  const char *op = functionOf(c, p->update_subgraph());
  if (!op)
    return;
  if (llvm::is_contained({"And", "Or"}, llvm::StringRef(op)))
    return c.fail(
        "its subgraph must be one sum, product, minimum or maximum of its inputs, or return the "
        "second one");
  Dims sizes(dims.size(), 1), strides(dims.size(), 1);
  for (auto [i, dim] : llvm::enumerate(othersThan(inserted, dims.size())))
    sizes[dim] = updates[window[i]];
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  const int64_t count = countOf(c, dims);
  Value coordinates =
      c.node("Add", {beginsOf(c, p->index_vector_dim(), map, dims.size()), boxOf(c, sizes)});
  // Of several updates of one element, the last one in the order of the updates remains.
  const Dims batch = othersThan(window, updates.size());
  Dims split, order(updates.size());
  for (auto [i, dim] : llvm::enumerate(llvm::concat<const int64_t>(batch, window))) {
    split.push_back(updates[dim]);
    order[dim] = i;
  }
  split.push_back(dims.size());
  order.push_back(updates.size());
  coordinates = c.transpose(c.reshape(coordinates, split), order);
  coordinates = c.reshape(coordinates, {-1, static_cast<int64_t>(dims.size())});
  const OnnxAttributes alongRow = {{"keepdims", int64_t(0)}};
  Value isInside = c.node("And", {c.node("GreaterOrEqual", {coordinates, c.ints({0})}),
                                  c.node("Less", {coordinates, c.ints(dims)})});
  isInside = c.cast(
      c.node("ReduceMin", {c.cast(isInside, onnx::TensorProto::INT32), c.ints({1})}, alongRow),
      onnx::TensorProto::BOOL);
  Value at =
      c.node("ReduceSum", {c.node("Mul", {coordinates, c.ints(strides)}), c.ints({1})}, alongRow);
  at = c.unsqueeze(c.node("Where", {isInside, at, c.ints({count})}), {1});
  Value values = c.reshape(c.in(2), {-1});
  Value flat = c.node("Concat", {c.reshape(c.in(0), {-1}), c.reshape(c.scalarLike(0, 0), {1})},
                      {{"axis", int64_t(0)}});
  const std::string reduction = llvm::StringRef(*op ? op : "none").lower();
  Value written = c.node("ScatterND", {flat, at, values}, {{"reduction", reduction}});
  c.setOutput(c.reshape(c.slice(written, 0, 0, count), dims));
}

/// Multiplies integers of 64 bits by a power of two, of which the lower bits remain.
void importShiftLeft(OpContext &c) {
  Value factor = c.node("Pow", {c.intScalar(2), c.indices(1)});
  c.setOutput(c.cast(c.node("Mul", {c.indices(0), factor}), onnxType(c.inputTensor(0).type())));
}

} // namespace

llvm::ArrayRef<OpRow> stableHloOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{DILATE, importDilate},
                               {REDUCE_WINDOW, importReduceWindow},
                               {STABLEHLO_GATHER, importHloGather},
                               {STABLEHLO_PAD, importHloPad},
                               {STABLEHLO_REDUCE_WINDOW, importHloReduceWindow},
                               {STABLEHLO_SCATTER, importHloScatter},
                               {STABLEHLO_SHIFT_LEFT, importShiftLeft}};
  return rows;
}

} // namespace atc::tflite
