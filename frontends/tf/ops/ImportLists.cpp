//===-- ImportLists.cpp - TensorArray and TensorList operators ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "frontends/tf/ops/TensorLists.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

//===----------------------------------------------------------------------===//
// Lists as inputs and outputs
//===----------------------------------------------------------------------===//

/// The list that input `index` stands for; null after an error.
const TensorList *listAt(NodeContext &n, unsigned index) {
  if (n.failed() || index >= n.numInputs())
    return nullptr;
  if (const TensorList *list = n.importer().findList(n.tensor(index)))
    return list;
  n.failInput(index, "is no list or array of tensors that the graph makes");
  return nullptr;
}

/// Makes an output stand for `list`; its value is never read.
void setList(NodeContext &n, unsigned output, TensorList list) {
  if (n.failed())
    return;
  n.importer().setList(TensorName{n.proto().name(), output}, std::move(list));
  n.setOutput(output, n.scalar(0, n.builder().getF32Type()));
}

void setSize(TensorList &list, Value size) {
  std::optional<int64_t> known = knownInteger(size);
  list.count = known ? *known : -1;
  list.size = known ? Value() : size;
}

/// Returns the shape that the attribute element_shape states.
std::optional<SmallVector<int64_t>> statedItem(NodeContext &n) {
  auto found = n.proto().attr().find("element_shape");
  if (found == n.proto().attr().end() || !found->second.has_shape() ||
      found->second.shape().unknown_rank())
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (const auto &dim : found->second.shape().dim())
    dims.push_back(dim.size());
  return dims;
}

/// Returns the shape of items that an input states: nothing for a scalar, which is -1.
std::optional<SmallVector<int64_t>> itemInput(NodeContext &n, unsigned index) {
  Value shape = n.input(index);
  ElementsAttr known;
  if (!shape || NodeContext::rank(shape) != 1)
    return std::nullopt;
  if (matchPattern(shape, m_Constant(&known)) && isa<IntegerType>(known.getElementType()))
    return readInts(known);
  if (!NodeContext::isStatic(shape))
    return std::nullopt;
  return SmallVector<int64_t>(NodeContext::shape(shape)[0], -1);
}

//===----------------------------------------------------------------------===//
// Operators of both kinds
//===----------------------------------------------------------------------===//

void read(NodeContext &n, unsigned list, unsigned index) {
  Value at = n.input(index);
  if (const TensorList *from = listAt(n, list))
    n.setOutput(readItem(n, *from, at));
}

void write(NodeContext &n, unsigned list, unsigned index, unsigned item, bool grows) {
  Value at = n.input(index), value = n.input(item);
  if (const TensorList *before = listAt(n, list)) {
    TensorList after = *before;
    after.grows |= grows;
    writeItem(n, after, at, value);
    setList(n, 0, std::move(after));
  }
}

void size(NodeContext &n, unsigned list) {
  if (const TensorList *from = listAt(n, list))
    n.setOutput(sizeOf(n, *from, n.builder().getI32Type()));
}

/// The indices that an input is known to be; nothing where it is not.
std::optional<SmallVector<int64_t>> knownIndices(Value indices) {
  ElementsAttr known;
  if (!indices || !matchPattern(indices, m_Constant(&known)) ||
      !isa<IntegerType>(known.getElementType()))
    return std::nullopt;
  return readInts(known);
}

bool countsUp(ArrayRef<int64_t> indices) {
  return llvm::equal(indices, llvm::seq<int64_t>(0, static_cast<int64_t>(indices.size())));
}

/// The items at `indices` as rows.
void gather(NodeContext &n, unsigned list, unsigned index) {
  Value indices = n.input(index);
  const TensorList *from = listAt(n, list);
  if (!from)
    return;
  std::optional<SmallVector<int64_t>> known = knownIndices(indices);
  // Items that are known one by one may be fewer than the list has.
  if (from->elements && known && !known->empty()) {
    TensorList chosen = *from;
    chosen.elements.emplace();
    for (int64_t at : *known)
      chosen.elements->push_back(
          readItem(n, *from, n.scalar(static_cast<double>(at), n.builder().getI64Type())));
    return n.setOutput(stackItems(n, chosen));
  }
  Value all = stackItems(n, *from);
  if (n.failed())
    return;
  bool isAll = known && NodeContext::hasRank(all) && countsUp(*known) &&
               NodeContext::shape(all)[0] == static_cast<int64_t>(known->size());
  n.setOutput(isAll ? all : n.create<graph::GatherOp>(all, indices, 0));
}

Value rowsOf(NodeContext &n, Value value, int64_t start, int64_t count) {
  SmallVector<int64_t> starts(n.rank(value), 0), sizes(n.shape(value));
  starts[0] = start;
  sizes[0] = count;
  return n.create<graph::SliceOp>(value, starts, sizes, SmallVector<int64_t>(sizes.size(), 1));
}

/// Row i of `rows` becomes the item at indices[i].
void scatter(NodeContext &n, TensorList list, Value indices, Value rows) {
  if (n.failed())
    return;
  std::optional<SmallVector<int64_t>> known = knownIndices(indices);
  if (NodeContext::isStatic(rows) && known &&
      (NodeContext::rank(rows) == 0 ||
       NodeContext::shape(rows)[0] != static_cast<int64_t>(known->size())))
    return n.failNode("does not have a row for each index");
  const bool isNew =
      list.isEmpty() || (list.elements && llvm::all_of(*list.elements, [](Value v) { return !v; }));
  bool fills = isNew && known && countsUp(*known) && !list.size &&
               list.count <= static_cast<int64_t>(known->size());
  if (fills)
    return setList(n, 0, listOfRows(rows));
  if (known && NodeContext::isStatic(rows)) {
    SmallVector<int64_t> item(NodeContext::shape(rows).drop_front());
    for (auto [row, at] : llvm::enumerate(*known))
      writeItem(n, list, n.scalar(static_cast<double>(at), n.builder().getI64Type()),
                n.reshape(rowsOf(n, rows, static_cast<int64_t>(row), 1), item));
    return setList(n, 0, std::move(list));
  }
  Value axis = n.intList({1});
  Value all = isNew ? filledLike(n, rows, 0) : stackItems(n, list);
  Value at = n.callHost("Unsqueeze", {n.cast(indices, n.builder().getI64Type()), axis});
  if (Value stacked = n.callHost("ScatterND", {all, at, rows}))
    setList(n, 0, listOfRows(stacked));
}

/// Scatters rows into a list; the arguments are the positions of the inputs.
void scatterInto(NodeContext &n, unsigned list, unsigned indicesAt, unsigned rowsAt) {
  Value indices = n.input(indicesAt), rows = n.input(rowsAt);
  if (const TensorList *from = listAt(n, list))
    scatter(n, *from, indices, rows);
}

/// Pieces of `value` of the rows that `lengths` state.
void split(NodeContext &n, TensorList list, Value value, ArrayRef<int64_t> lengths) {
  n.requireRank(value == n.input(0) ? 0 : 1, 1, maxRank);
  if (n.failed())
    return;
  if (!NodeContext::isStatic(value))
    return n.failNode("splits a tensor whose shape is not fixed");
  int64_t start = 0, rows = n.shape(value)[0];
  list.elements.emplace();
  for (int64_t length : lengths) {
    if (length < 0 || length > rows - start)
      return n.failNode("has the lengths " + printDims(lengths) + ", which do not fit " +
                        Twine(rows) + " rows");
    list.elements->push_back(rowsOf(n, value, start, length));
    start += length;
  }
  list.count = static_cast<int64_t>(lengths.size());
  setList(n, 0, std::move(list));
}

/// The rows of all items one behind the other; output 1 is how many each item has.
void concat(NodeContext &n, unsigned list) {
  const TensorList *from = listAt(n, list);
  if (!from)
    return;
  SmallVector<Value> rows;
  SmallVector<int64_t> lengths;
  if (from->elements) {
    for (size_t at = 0; at < from->elements->size() && !n.failed(); ++at) {
      Value element =
          readItem(n, *from, n.scalar(static_cast<double>(at), n.builder().getI64Type()));
      if (!n.failed() && (!NodeContext::isStatic(element) || n.rank(element) == 0))
        n.failNode("joins elements of rank 0 or of no fixed shape");
      if (n.failed())
        return;
      rows.push_back(element);
      lengths.push_back(n.shape(element)[0]);
    }
    if (rows.empty())
      return n.failNode("joins no elements");
    n.setOutput(0,
                rows.size() == 1 ? rows.front() : n.create<graph::ConcatOp>(ValueRange(rows), 0));
    return n.setOutput(1, n.intList(lengths));
  }
  Value all = stackItems(n, *from);
  if (!n.failed() && !NodeContext::isStatic(all))
    n.failNode("joins the rows of items whose shape is not fixed");
  if (!n.failed() && n.rank(all) < 2)
    n.failNode("joins elements of rank 0");
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(all).drop_front());
  lengths.assign(n.shape(all)[0], shape[0]);
  shape[0] *= n.shape(all)[0];
  n.setOutput(0, n.reshape(all, shape));
  n.setOutput(1, n.intList(lengths));
}

//===----------------------------------------------------------------------===//
// TensorArray: what it holds is known by its flow
//===----------------------------------------------------------------------===//

void importArray(NodeContext &n) {
  TensorList list;
  list.element = n.typeAttr("dtype", pb::DT_FLOAT);
  list.item = statedItem(n);
  list.grows = n.boolAttr("dynamic_size", false);
  if (n.failed())
    return;
  setSize(list, n.input(0));
  if (list.count < -1 || list.count > (1 << 24))
    return n.failInput(0, "asks for " + Twine(list.count) + " elements");
  n.setOutput(0, n.scalar(0, n.builder().getF32Type()));
  setList(n, 1, std::move(list));
}

void importArrayRead(NodeContext &n) { read(n, 2, 1); }
void importArrayWrite(NodeContext &n) { write(n, 3, 1, 2, /*grows=*/false); }
void importArraySize(NodeContext &n) { size(n, 1); }
void importArrayGather(NodeContext &n) { gather(n, 2, 1); }
void importArrayConcat(NodeContext &n) { concat(n, 1); }
void importArrayScatter(NodeContext &n) { scatterInto(n, 3, 1, 2); }
void importArraySplit(NodeContext &n) {
  Value value = n.input(1);
  SmallVector<int64_t> lengths = n.constantInts(2);
  if (const TensorList *list = listAt(n, 3))
    split(n, *list, value, lengths);
}

//===----------------------------------------------------------------------===//
// TensorList: a value of its own
//===----------------------------------------------------------------------===//

void importReserve(NodeContext &n) {
  TensorList list;
  list.element = n.typeAttr("element_dtype", pb::DT_FLOAT);
  list.item = itemInput(n, 0);
  if (n.failed())
    return;
  if (n.op() == "TensorListReserve")
    setSize(list, n.input(1));
  else
    list.count = 0;
  setList(n, 0, std::move(list));
}

void importFromTensor(NodeContext &n) {
  Value rows = n.input(0);
  if (NodeContext::hasRank(rows))
    n.requireRank(0, 1, maxRank);
  if (!n.failed())
    setList(n, 0, listOfRows(rows));
}

void importStack(NodeContext &n) {
  std::optional<SmallVector<int64_t>> item = itemInput(n, 1);
  const TensorList *from = listAt(n, 0);
  if (!from)
    return;
  TensorList list = *from;
  if (item && !list.item)
    list.item = item;
  n.setOutput(stackItems(n, list));
}

void importGetItem(NodeContext &n) { read(n, 0, 1); }
void importSetItem(NodeContext &n) {
  write(n, 0, 1, 2, n.boolAttr("resize_if_index_out_of_bounds", false));
}
void importLength(NodeContext &n) { size(n, 0); }
void importListGather(NodeContext &n) { gather(n, 0, 1); }
void importListConcat(NodeContext &n) { concat(n, 0); }

/// Inputs are the rows, the indices, the shape of an item and the number of items.
void importListScatter(NodeContext &n) {
  Value rows = n.input(0), indices = n.input(1);
  if (n.failed())
    return;
  TensorList list;
  list.element = n.elementType(rows);
  list.item = itemInput(n, 2);
  if (n.numInputs() > 3)
    setSize(list, n.input(3));
  scatter(n, std::move(list), indices, rows);
}

void importScatterInto(NodeContext &n) { scatterInto(n, 0, 2, 1); }

/// Items behind the new end are dropped; new ones are zeros.
void importResize(NodeContext &n) {
  Value size = n.input(1);
  const TensorList *before = listAt(n, 0);
  if (!before)
    return;
  TensorList list = *before;
  const std::optional<int64_t> known = knownInteger(size);
  if (known && (*known < 0 || *known > (1 << 24)))
    return n.failInput(1, "asks for " + Twine(*known) + " elements");
  if (list.elements && known) {
    list.elements->resize(*known);
  } else if (!list.isEmpty()) {
    Value sequence = sequenceOf(n, list);
    SmallVector<int64_t> dims;
    for (int64_t dim : list.item.value_or(SmallVector<int64_t>()))
      dims.push_back(std::max<int64_t>(dim, 0));
    Value resized = n.callHost("SequenceResize", {sequence, n.cast(size, n.builder().getI64Type())},
                               {n.hostInts("dims", dims)});
    if (n.failed())
      return;
    resized.setType(sequence.getType());
    setForm(list, resized);
  }
  setSize(list, size);
  setList(n, 0, std::move(list));
}

/// The items of both lists, one behind the other.
void importJoin(NodeContext &n) {
  const TensorList *first = listAt(n, 0), *second = listAt(n, 1);
  if (!first || !second)
    return;
  if (second->isEmpty() && second->count == 0)
    return setList(n, 0, *first);
  if (first->isEmpty() && first->count == 0)
    return setList(n, 0, *second);
  Value rows = stackItems(n, *first), others = stackItems(n, *second);
  if (Value all = n.callHost("Concat", {rows, others}, {n.hostInts("axis", {0})}))
    setList(n, 0, listOfRows(all));
}

void importListSplit(NodeContext &n) {
  Value value = n.input(0);
  SmallVector<int64_t> lengths = n.constantInts(2);
  TensorList list;
  list.element = n.elementType(value);
  split(n, std::move(list), value, lengths);
}

void importPushBack(NodeContext &n) {
  Value item = n.input(1);
  const TensorList *before = listAt(n, 0);
  if (!before)
    return;
  TensorList list = *before;
  if (list.isEmpty() && list.count == 0)
    list.elements.emplace();
  if (list.elements) {
    list.elements->push_back(item);
    list.element = n.elementType(item);
    list.count = static_cast<int64_t>(list.elements->size());
    return setList(n, 0, std::move(list));
  }
  Value sequence = sequenceOf(n, list);
  if (Value next = n.callHost("SequenceInsert", {sequence, item})) {
    next.setType(sequence.getType());
    setForm(list, next);
    list.count = -1;
    list.size = {};
    setList(n, 0, std::move(list));
  }
}

/// Output 0 is the list without its last item, output 1 the item.
void importPopBack(NodeContext &n) {
  const TensorList *before = listAt(n, 0);
  if (!before)
    return;
  TensorList list = *before;
  if (list.elements && !list.elements->empty() && list.elements->back()) {
    n.setOutput(1, list.elements->pop_back_val());
    list.count = static_cast<int64_t>(list.elements->size());
    return setList(n, 0, std::move(list));
  }
  Value sequence = sequenceOf(n, list), last = n.scalar(-1, n.builder().getI64Type());
  Value item = n.callHost("SequenceAt", {sequence, last});
  if (Value rest = n.callHost("SequenceErase", {sequence, last})) {
    rest.setType(sequence.getType());
    setForm(list, rest);
    list.count = -1;
    list.size = {};
    setList(n, 0, std::move(list));
    n.setOutput(1, item);
  }
}

void importElementShape(NodeContext &n) {
  Type element = n.typeAttr("shape_type", pb::DT_INT32);
  const TensorList *list = listAt(n, 0);
  if (!list)
    return;
  if (!list->item)
    return n.setOutput(n.scalar(-1, element));
  SmallVector<int64_t> dims(*list->item);
  for (int64_t &dim : dims)
    dim = std::max<int64_t>(dim, -1);
  n.setOutput(n.intList(dims, element));
}

} // namespace

ArrayRef<OpRow> listRows() {
  static constexpr llvm::StringLiteral lengths = "the lengths must be known",
                                       indices = "where indices are not known, items of one shape",
                                       fixed = "items of fixed shape";
  static const OpRow rows[] = {
      {"EmptyTensorList", importReserve},
      {"TensorArrayConcatV3", importArrayConcat, fixed},
      {"TensorArrayGatherV3", importArrayGather},
      {"TensorArrayReadV3", importArrayRead},
      {"TensorArrayScatterV3", importArrayScatter, indices},
      {"TensorArraySizeV3", importArraySize},
      {"TensorArraySplitV3", importArraySplit, lengths},
      {"TensorArrayV3", importArray},
      {"TensorArrayWriteV3", importArrayWrite},
      {"TensorListConcatLists", importJoin, "items of one shape"},
      {"TensorListConcatV2", importListConcat, fixed},
      {"TensorListElementShape", importElementShape},
      {"TensorListFromTensor", importFromTensor},
      {"TensorListGather", importListGather},
      {"TensorListGetItem", importGetItem},
      {"TensorListLength", importLength},
      {"TensorListPopBack", importPopBack},
      {"TensorListPushBack", importPushBack},
      {"TensorListReserve", importReserve},
      {"TensorListResize", importResize},
      {"TensorListScatterIntoExistingList", importScatterInto, indices},
      {"TensorListScatterV2", importListScatter, indices},
      {"TensorListSetItem", importSetItem},
      {"TensorListSplit", importListSplit, lengths},
      {"TensorListStack", importStack},
  };
  return rows;
}

} // namespace atc::tf_import
