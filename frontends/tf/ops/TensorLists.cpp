//===-- TensorLists.cpp - operations on TensorArrays and TensorLists ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/TensorLists.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/ops/IndexMasks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {

namespace {

constexpr int64_t maxItems = 1 << 16;
/// Writing into a stacked tensor looks at all of its elements, into a sequence only at
/// its items; but only the former is code that a target generates.
constexpr int64_t maxStackedElements = 1 << 18;

bool isStacked(ArrayRef<int64_t> item, int64_t count) {
  int64_t elements = count;
  for (int64_t dim : item) {
    if (dim < 0 || ShapedType::isDynamic(dim))
      return false;
    elements *= std::max<int64_t>(dim, 1);
    if (elements > maxStackedElements)
      return false;
  }
  return count >= 0 && count <= maxStackedElements;
}

SmallVector<int64_t> withCount(int64_t count, ArrayRef<int64_t> item) {
  SmallVector<int64_t> shape(item);
  shape.insert(shape.begin(), count);
  return shape;
}

/// The type of items: of no rank where it is not known.
Type itemType(const TensorList &list) {
  if (!list.item)
    return UnrankedTensorType::get(list.element);
  SmallVector<int64_t> dims(*list.item);
  for (int64_t &dim : dims)
    dim = dim < 0 ? ShapedType::kDynamic : dim;
  return RankedTensorType::get(dims, list.element);
}

/// States what is known of a result of a host call.
Value withType(Value value, Type type) {
  if (value && value.getDefiningOp<graph::HostCallOp>())
    value.setType(type);
  return value;
}

Value zeros(NodeContext &n, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return n.fill(tensor.getShape(), n.scalar(0, tensor.getElementType()));
}

/// Remembers what the shape of an item says about all items.
void learnItem(TensorList &list, Value item) {
  if (!NodeContext::hasRank(item))
    return;
  ArrayRef<int64_t> shape = NodeContext::shape(item);
  if (!list.item || list.item->size() != shape.size()) {
    list.item.emplace(shape);
    return;
  }
  for (auto [known, dim] : llvm::zip_equal(*list.item, shape))
    if (known < 0 || dim < 0)
      known = std::max(known, dim);
    else if (known != dim)
      known = ShapedType::kDynamic;
}

} // namespace

std::optional<int64_t> knownInteger(Value value) {
  ElementsAttr attr;
  if (!value || !matchPattern(value, m_Constant(&attr)) || attr.getNumElements() != 1 ||
      !isa<IntegerType>(attr.getElementType()))
    return std::nullopt;
  return readInts(attr).front();
}

void setForm(TensorList &list, Value value) {
  list.elements.reset();
  list.stacked = list.sequence = {};
  if (isa<graph::SequenceType>(value.getType())) {
    list.sequence = value;
    return;
  }
  list.stacked = value;
  if (NodeContext::hasRank(value))
    list.count = NodeContext::shape(value)[0];
}

TensorList listOfRows(Value stacked) {
  TensorList list;
  list.element = NodeContext::elementType(stacked);
  setForm(list, stacked);
  if (NodeContext::hasRank(stacked))
    list.item.emplace(NodeContext::shape(stacked).drop_front());
  return list;
}

void joinElements(NodeContext &n, TensorList &list) {
  if (!list.elements || n.failed())
    return;
  SmallVector<Value> elements(*list.elements);
  for (Value element : elements)
    if (element)
      learnItem(list, element);
  // Items behind the last one that was written are part of a list whose size the model computes.
  bool stacks = !elements.empty() && list.item && !list.size &&
                isStacked(*list.item, static_cast<int64_t>(elements.size()));
  for (Value &element : elements) {
    if (!element && NodeContext::isStaticType(itemType(list)))
      element = zeros(n, itemType(list));
    if (!element)
      return n.failNode("reads a list in which some items were not written and whose items have "
                        "no stated shape");
    stacks = stacks && NodeContext::isStatic(element) &&
             NodeContext::shape(element) == ArrayRef(*list.item);
  }
  if (stacks) {
    for (Value &element : elements)
      element = n.reshape(element, withCount(1, *list.item));
    Value stacked = elements.size() == 1 ? elements.front()
                                         : n.create<graph::ConcatOp>(ValueRange(elements), 0);
    if (stacked)
      setForm(list, stacked);
    return;
  }
  if (elements.empty()) {
    list.elements.reset();
    if (!list.size)
      list.count = 0;
    return;
  }
  if (Value sequence = n.callHost("SequenceConstruct", elements))
    setForm(list,
            withType(sequence, graph::SequenceType::get(sequence.getContext(),
                                                        UnrankedTensorType::get(list.element))));
}

Value sequenceOf(NodeContext &n, TensorList &list, Type type) {
  joinElements(n, list);
  if (n.failed())
    return {};
  if (!type)
    type = graph::SequenceType::get(n.builder().getContext(), itemType(list));
  if (list.sequence)
    return list.sequence;
  if (!list.stacked) {
    NamedAttribute dtype = n.hostInts("dtype", {graph::dtypeOf(list.element)});
    SmallVector<Value> made =
        n.callHost(graph::HostCall{"SequenceEmpty", {}, n.builder().getDictionaryAttr(dtype)});
    return made.empty() ? Value() : withType(made.front(), type);
  }
  return withType(n.callHost("SplitToSequence", {list.stacked},
                             {n.hostInts("axis", {0}), n.hostInts("keepdims", {0})}),
                  type);
}

Value readItem(NodeContext &n, const TensorList &list, Value index) {
  if (n.failed())
    return {};
  std::optional<int64_t> at = knownInteger(index);
  if (list.elements && at) {
    bool isThere = *at >= 0 && *at < static_cast<int64_t>(list.elements->size());
    if (isThere && (*list.elements)[*at])
      return (*list.elements)[*at];
    n.failNode("reads element " + Twine(*at) + " of an array, which was not written");
    return {};
  }
  TensorList joined = list;
  joinElements(n, joined);
  if (n.failed())
    return {};
  if (joined.sequence)
    return n.callHost("SequenceAt", {joined.sequence, index});
  if (!joined.stacked) {
    if (NodeContext::isStaticType(itemType(joined)))
      return zeros(n, itemType(joined));
    n.failNode("reads a list in which nothing was written and whose items have no stated shape");
    return {};
  }
  if (!at || !NodeContext::isStatic(joined.stacked))
    return n.create<graph::GatherOp>(joined.stacked, index, 0);
  SmallVector<int64_t> sizes(NodeContext::shape(joined.stacked)), starts(sizes.size(), 0);
  if (*at < 0 || *at >= sizes[0]) {
    n.failNode("reads element " + Twine(*at) + " of an array of " + Twine(sizes[0]));
    return {};
  }
  starts[0] = *at;
  sizes[0] = 1;
  Value row = n.create<graph::SliceOp>(joined.stacked, starts, sizes,
                                       SmallVector<int64_t>(sizes.size(), 1));
  return n.reshape(row, ArrayRef(sizes).drop_front());
}

void writeItem(NodeContext &n, TensorList &list, Value index, Value item) {
  if (n.failed())
    return;
  list.element = NodeContext::elementType(item);
  learnItem(list, item);
  std::optional<int64_t> at = knownInteger(index);
  if (at && (*at < 0 || *at >= maxItems))
    return n.failNode("writes element " + Twine(*at) + " of an array, which is out of range");
  if (at && !list.stacked && !list.sequence) {
    if (!list.elements)
      list.elements.emplace(std::clamp<int64_t>(list.count, 0, maxItems));
    if (*at >= static_cast<int64_t>(list.elements->size()))
      list.elements->resize(*at + 1);
    (*list.elements)[*at] = item;
    return;
  }
  joinElements(n, list);
  if (n.failed())
    return;
  if (!list.grows && list.isEmpty() && NodeContext::isStatic(item) &&
      isStacked(NodeContext::shape(item), list.count))
    setForm(list,
            n.fill(withCount(list.count, NodeContext::shape(item)), n.scalar(0, list.element)));
  if (!list.grows && list.stacked && NodeContext::isStatic(list.stacked) &&
      NodeContext::isStatic(item) &&
      NodeContext::shape(list.stacked).drop_front() == NodeContext::shape(item)) {
    int64_t rank = NodeContext::rank(list.stacked), count = NodeContext::shape(list.stacked)[0];
    Value isThere = n.compare(indicesAlong(n, 0, rank, count, NodeContext::elementType(index)),
                              index, graph::ComparePredicate::Eq);
    list.stacked = n.create<graph::WhereOp>(
        isThere, n.reshape(item, withCount(1, NodeContext::shape(item))), list.stacked);
    return;
  }
  Value sequence = sequenceOf(n, list);
  if (Value next = n.callHost("SequenceSet", {sequence, item, index}))
    setForm(list, withType(next, graph::SequenceType::get(next.getContext(), itemType(list))));
}

Value stackItems(NodeContext &n, const TensorList &list) {
  TensorList joined = list;
  joinElements(n, joined);
  if (n.failed() || joined.stacked)
    return joined.stacked;
  if (!joined.sequence) {
    auto item = dyn_cast<RankedTensorType>(itemType(joined));
    if (item && item.hasStaticShape() && joined.count >= 0)
      return n.fill(withCount(joined.count, item.getShape()), n.scalar(0, joined.element));
    n.failNode("stacks a list in which nothing was written and whose items have no stated shape");
    return {};
  }
  SmallVector<int64_t> dims;
  if (joined.item)
    for (int64_t dim : *joined.item)
      dims.push_back(std::max<int64_t>(dim, 0));
  // Elements at the end that were not written are zeros.
  Value sequence = joined.sequence;
  if (joined.size || joined.count > 0 || (joined.count == 0 && !joined.grows)) {
    Value size = sizeOf(n, joined, n.builder().getI64Type());
    sequence = withType(n.callHost("SequenceResize", {sequence, size}, {n.hostInts("dims", dims)}),
                        sequence.getType());
  }
  Value stacked =
      n.callHost("Stack", {sequence}, {n.hostInts("axis", {0}), n.hostInts("dims", dims)});
  if (!joined.item)
    return withType(stacked, UnrankedTensorType::get(joined.element));
  SmallVector<int64_t> shape = withCount(joined.grows ? -1 : joined.count, *joined.item);
  for (int64_t &dim : shape)
    dim = dim < 0 ? ShapedType::kDynamic : dim;
  return withType(stacked, RankedTensorType::get(shape, joined.element));
}

Value sizeOf(NodeContext &n, const TensorList &list, Type element) {
  if (list.elements && !list.size)
    return n.scalar(static_cast<double>(list.elements->size()), element);
  Value stated = list.count >= 0 ? n.scalar(static_cast<double>(list.count), element)
                 : list.size     ? n.cast(list.size, element)
                                 : Value();
  if (list.sequence && (list.grows || list.count < 0)) {
    Value length = n.cast(n.callHost("SequenceLength", {list.sequence}), element);
    return stated ? n.create<graph::MaxOp>(stated, length) : length;
  }
  if (list.count >= 0)
    return stated;
  if (list.stacked) {
    Value shape = n.callHost("Shape", {list.stacked});
    return n.cast(n.callHost("Gather", {shape, n.scalar(0, n.builder().getI64Type())},
                             {n.hostInts("axis", {0})}),
                  element);
  }
  if (stated)
    return stated;
  n.failNode("asks for the size of a list that is not known");
  return {};
}

} // namespace atc::tf_import
