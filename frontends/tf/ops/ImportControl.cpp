//===-- ImportControl.cpp - conditions and arrays of tensors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Tensors.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"

using namespace mlir;

namespace atc::tf_import {

void addGuards(Guards &to, ArrayRef<Guard> more) {
  for (const Guard &guard : more)
    if (!llvm::is_contained(to, guard))
      to.push_back(guard);
}

namespace {

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Output 0 exists where the predicate is false, output 1 where it is true.
void importSwitch(NodeContext &n) {
  Value data = n.input(0), predicate = n.input(1);
  n.requireRank(1, 0, 0);
  if (n.failed())
    return;
  if (!n.elementType(predicate).isInteger(1))
    return n.failInput(1, "must be a bool");
  Guards guards = n.importer().guardsOf(n.tensor(0));
  addGuards(guards, n.importer().guardsOf(n.tensor(1)));
  for (bool side : {false, true}) {
    Guards own(guards);
    addGuards(own, Guard{predicate, side});
    TensorName output{n.proto().name(), side ? 1 : 0};
    n.importer().flow().guards[output.str()] = own;
    n.setOutput(side, data);
  }
}

/// Of two values, the one whose side of the Switch is taken, and its number.
void importMerge(NodeContext &n) {
  if (n.numInputs() != 2)
    return n.failNode("joins " + Twine(n.numInputs()) + " values, expected 2");
  Value first = n.input(0), second = n.input(1);
  if (n.failed())
    return;
  Guards all = n.importer().guardsOf(n.tensor(0));
  Guards other = n.importer().guardsOf(n.tensor(1));
  auto parted = llvm::find_if(all, [&](const Guard &guard) {
    return llvm::is_contained(other, Guard{guard.predicate, !guard.side});
  });
  if (parted == all.end())
    return n.failNode("joins values that are not the two sides of one condition");
  Guard guard = *parted;
  addGuards(all, other);
  llvm::erase_if(all, [&](const Guard &one) { return one.predicate == guard.predicate; });
  n.importer().flow().guards[n.proto().name()] = all;

  Type index = n.builder().getI32Type();
  ElementsAttr known;
  if (matchPattern(guard.predicate, m_Constant(&known))) {
    bool isFirst = (readInts(known).front() != 0) == guard.side;
    n.setOutput(0, isFirst ? first : second);
    return n.setOutput(1, n.scalar(isFirst ? 0 : 1, index));
  }
  if (first.getType() != second.getType())
    return n.failNode("joins values of different types under a condition that must be known at "
                      "compile time, but depends on the inputs of the model");
  Value zero = n.scalar(0, index), one = n.scalar(1, index);
  if (!guard.side) {
    std::swap(first, second);
    std::swap(zero, one);
  }
  n.setOutput(0, n.create<graph::WhereOp>(guard.predicate, first, second));
  n.setOutput(1, n.create<graph::WhereOp>(guard.predicate, zero, one));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

using Elements = SmallVector<Value>;

constexpr int64_t mostElements = 1 << 16;

/// The elements at the state that input `index` stands for; null after a fault.
const Elements *elementsAt(NodeContext &n, unsigned index) {
  if (n.failed() || index >= n.numInputs())
    return nullptr;
  auto &arrays = n.importer().flow().arrays;
  auto found = arrays.find(n.tensor(index).str());
  if (found != arrays.end())
    return &found->second;
  n.failInput(index, "is not the state of an array that is known at compile time");
  return nullptr;
}

/// The state that the node leaves; its value is never read.
void setElements(NodeContext &n, unsigned output, Elements elements) {
  if (n.failed())
    return;
  TensorName tensor{n.proto().name(), output};
  n.importer().flow().arrays[tensor.str()] = std::move(elements);
  n.setOutput(output, n.scalar(0, n.builder().getF32Type()));
}

void importArray(NodeContext &n) {
  int64_t size = n.constantInt(0);
  if (n.failed())
    return;
  if (size < 0 || size > mostElements)
    return n.failInput(0, "asks for " + Twine(size) + " elements");
  n.setOutput(0, n.scalar(0, n.builder().getF32Type()));
  setElements(n, 1, Elements(size));
}

/// False after a fault. An array grows where it may.
bool writeElement(NodeContext &n, Elements &elements, int64_t at, Value value) {
  if (at < 0 || at >= mostElements)
    n.failInput(1, "has the index " + Twine(at) + ", which is out of range");
  if (n.failed())
    return false;
  if (at >= static_cast<int64_t>(elements.size()))
    elements.resize(at + 1);
  elements[at] = value;
  return true;
}

Value readElement(NodeContext &n, const Elements &elements, int64_t at) {
  bool isThere = at >= 0 && at < static_cast<int64_t>(elements.size()) && elements[at];
  if (!isThere)
    n.failNode("reads element " + Twine(at) + " of an array, which was not written");
  return isThere ? elements[at] : Value();
}

/// Inputs are handle, index, value, state.
void importArrayWrite(NodeContext &n) {
  int64_t at = n.constantInt(1);
  Value value = n.input(2);
  if (const Elements *before = elementsAt(n, 3)) {
    Elements elements(*before);
    if (writeElement(n, elements, at, value))
      setElements(n, 0, std::move(elements));
  }
}

/// Inputs are handle, index, state.
void importArrayRead(NodeContext &n) {
  int64_t at = n.constantInt(1);
  if (const Elements *elements = elementsAt(n, 2))
    n.setOutput(readElement(n, *elements, at));
}

void importArraySize(NodeContext &n) {
  if (const Elements *elements = elementsAt(n, 1))
    n.setOutput(n.scalar(static_cast<double>(elements->size()), n.builder().getI32Type()));
}

/// Part `at` of `size` rows from `start` on.
Value rowsOf(NodeContext &n, Value value, int64_t start, int64_t size) {
  SmallVector<int64_t> starts(n.rank(value), 0), sizes(n.shape(value));
  starts[0] = start;
  sizes[0] = size;
  return n.create<graph::SliceOp>(value, starts, sizes, SmallVector<int64_t>(sizes.size(), 1));
}

/// Inputs are handle, indices, value, state: row i is element indices[i].
void importArrayScatter(NodeContext &n) {
  SmallVector<int64_t> indices = n.constantInts(1);
  Value value = n.input(2);
  n.requireRank(2, 1, maxRank);
  const Elements *before = elementsAt(n, 3);
  if (!before)
    return;
  if (n.shape(value)[0] != static_cast<int64_t>(indices.size()))
    return n.failInput(2, "does not have a row for each index");
  Elements elements(*before);
  for (auto [row, at] : llvm::enumerate(indices)) {
    Value part = n.reshape(rowsOf(n, value, static_cast<int64_t>(row), 1),
                           SmallVector<int64_t>(n.shape(value).drop_front()));
    if (!writeElement(n, elements, at, part))
      return;
  }
  setElements(n, 0, std::move(elements));
}

/// Inputs are handle, value, lengths, state: the rows in pieces.
void importArraySplit(NodeContext &n) {
  Value value = n.input(1);
  SmallVector<int64_t> lengths = n.constantInts(2);
  n.requireRank(1, 1, maxRank);
  const Elements *before = elementsAt(n, 3);
  if (!before)
    return;
  Elements elements(*before);
  int64_t start = 0, rows = n.shape(value)[0];
  for (auto [at, length] : llvm::enumerate(lengths)) {
    if (length < 0 || length > rows - start)
      return n.failInput(2, printDims(lengths) + " does not fit " + Twine(rows) + " rows");
    if (!writeElement(n, elements, static_cast<int64_t>(at), rowsOf(n, value, start, length)))
      return;
    start += length;
  }
  setElements(n, 0, std::move(elements));
}

void joinRows(NodeContext &n, ArrayRef<Value> rows) {
  if (!n.failed() && rows.empty())
    n.failNode("joins no elements");
  if (!n.failed())
    n.setOutput(rows.size() == 1 ? rows.front() : n.create<graph::ConcatOp>(ValueRange(rows), 0));
}

/// Inputs are handle, indices, state; the elements become rows.
void importArrayGather(NodeContext &n) {
  SmallVector<int64_t> indices = n.constantInts(1);
  const Elements *elements = elementsAt(n, 2);
  if (!elements)
    return;
  Elements rows;
  for (int64_t at : indices) {
    Value element = readElement(n, *elements, at);
    if (n.failed())
      return;
    SmallVector<int64_t> shape(n.shape(element));
    shape.insert(shape.begin(), 1);
    rows.push_back(n.reshape(element, shape));
  }
  joinRows(n, rows);
}

/// Inputs are handle and state. Output 1 is how many rows each element has.
void importArrayConcat(NodeContext &n) {
  const Elements *elements = elementsAt(n, 1);
  if (!elements)
    return;
  Elements rows;
  SmallVector<int64_t> lengths;
  for (size_t at = 0; at < elements->size(); ++at) {
    Value element = readElement(n, *elements, static_cast<int64_t>(at));
    if (!n.failed() && n.rank(element) == 0)
      n.failNode("joins elements of rank 0");
    if (n.failed())
      return;
    rows.push_back(element);
    lengths.push_back(n.shape(element)[0]);
  }
  joinRows(n, rows);
  n.setOutput(1, n.intList(lengths));
}

} // namespace

ArrayRef<OpRow> controlRows() {
  static constexpr llvm::StringLiteral known = "sizes and indices must be known; no loops";
  static const OpRow rows[] = {
      {"Merge", importMerge, "of a condition, no loops; both sides are computed"},
      {"Switch", importSwitch, "of a condition, no loops; both sides are computed"},
      {"TensorArrayConcatV3", importArrayConcat, known},
      {"TensorArrayGatherV3", importArrayGather, known},
      {"TensorArrayReadV3", importArrayRead, known},
      {"TensorArrayScatterV3", importArrayScatter, known},
      {"TensorArraySizeV3", importArraySize, known},
      {"TensorArraySplitV3", importArraySplit, known},
      {"TensorArrayV3", importArray, known},
      {"TensorArrayWriteV3", importArrayWrite, known},
  };
  return rows;
}

} // namespace atc::tf_import
