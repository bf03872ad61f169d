//===-- ExampleRecords.cpp - features of serialized Examples --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each feature is a call of its own on the bytes, which returns its values of all Examples in one
// list and how many each Example has. Features of one size for all become tensors, others sparse or
// ragged ones.

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Strings.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The features that a node states: their names, types and shapes. Those of a shape have a
/// default, the input of that number.
struct Features {
  SmallVector<std::string> sparse, dense, ragged;
  SmallVector<Type> sparseTypes, denseTypes, raggedTypes, splitTypes;
  SmallVector<SmallVector<int64_t>> shapes;
  unsigned firstDefault = 0;
};

/// Reads texts that must be known: the names of features.
void readNames(NodeContext &n, unsigned index, SmallVectorImpl<std::string> &names) {
  Value input = n.input(index);
  DenseStringElementsAttr known;
  ElementsAttr elements;
  if (n.failed() || (matchPattern(input, m_Constant(&elements)) && elements.empty()))
    return;
  if (!matchPattern(input, m_Constant(&known)))
    return n.failInput(index, "must be texts that are known at compile time");
  for (StringRef name : known.getRawStringData())
    names.push_back(name.str());
}

/// Returns the list that an attribute holds; an empty one where it is left out.
const pb::AttrValue::ListValue &listOf(NodeContext &n, StringRef name) {
  auto found = n.proto().attr().find(name.str());
  return found == n.proto().attr().end() ? pb::AttrValue::ListValue::default_instance()
                                         : found->second.list();
}

SmallVector<Type> readTypes(NodeContext &n, StringRef name) {
  SmallVector<Type> types;
  for (int each : listOf(n, name).type()) {
    const auto type = static_cast<pb::DataType>(each);
    types.push_back(convertElementType(type, n.builder().getContext()));
    if (!types.back())
      n.failAttribute(name, "has " + nameElementType(type) + ", which is not supported");
  }
  return types;
}

/// Whether Examples have other numbers of values of a dense feature; the missing ones are filled
/// up.
bool isOfAnyLength(ArrayRef<int64_t> shape) { return !shape.empty() && shape[0] < 0; }

/// Reads the shapes of dense features.
void readShapes(NodeContext &n, Features &features) {
  for (const pb::TensorShapeProto &shape : listOf(n, "dense_shapes").shape()) {
    SmallVector<int64_t> &dims = features.shapes.emplace_back();
    for (const auto &dim : shape.dim())
      dims.push_back(dim.size());
    const bool isOpen = isOfAnyLength(dims);
    const std::optional<int64_t> count =
        llvm::expectedToOptional(countElements(ArrayRef(dims).drop_front(isOpen)));
    if (shape.unknown_rank() || !count || (isOpen && *count != 1))
      return n.failAttribute("dense_shapes",
                             "has a shape whose dims are not all known, or only the "
                             "first one beside others of 1");
  }
}

/// Requires as many types and shapes as names.
void requireCounts(NodeContext &n, const Features &features) {
  if (!n.failed() && (features.sparse.size() != features.sparseTypes.size() ||
                      features.dense.size() != features.denseTypes.size() ||
                      features.dense.size() != features.shapes.size() ||
                      features.ragged.size() != features.raggedTypes.size() ||
                      features.ragged.size() != features.splitTypes.size()))
    n.failNode("has other numbers of names, types and shapes of features");
}

/// The list of a feature's values, and how many each Example has.
struct Values {
  Value all, counts;
};

/// Returns the values of one feature; `size` is their number in each Example, or -1.
Values readFeature(NodeContext &n, StringRef name, Type type, int64_t size = -1,
                   Value fallback = {}) {
  if (n.failed())
    return {};
  SmallVector<Value> inputs{n.callHost("Reshape", {n.input(0), n.intList({-1})})};
  if (fallback)
    inputs.push_back(fallback);
  SmallVector<Value> results = n.callHost(
      graph::HostCall{"ExampleFeature", inputs,
                      n.builder().getDictionaryAttr({n.hostText("key", name),
                                                     n.hostInts("to", {graph::dtypeOf(type)}),
                                                     n.hostInts("size", {size})}),
                      2});
  if (results.empty())
    return {};
  return {withKnownDims(n, results[0], {ShapedType::kDynamic}, 0),
          withKnownDims(n, results[1], {ShapedType::kDynamic}, 0)};
}

/// Sets the outputs of a node, whose input 0 holds Examples: one by one, or (rank 0) a single one.
class Outputs {
public:
  Outputs(NodeContext &n, const Features &features)
      : n(n), m(n), features(features), isOne(n.rank(n.input(0)) == 0) {}

  void set() {
    const auto sparse = static_cast<unsigned>(features.sparse.size());
    for (unsigned i = 0; i < sparse; ++i)
      setSparse(i, sparse);
    unsigned output = 3 * sparse;
    for (unsigned i = 0; i < features.dense.size(); ++i)
      n.setOutput(output++, dense(i));
    const auto ragged = static_cast<unsigned>(features.ragged.size());
    for (unsigned i = 0; i < ragged && !n.failed(); ++i) {
      Values values = readFeature(n, features.ragged[i], features.raggedTypes[i]);
      n.setOutput(output + i, values.all);
      // A single Example is no row.
      n.setOutput(output + ragged + i,
                  n.cast(isOne ? n.intList({}) : splitsOf(values.counts), features.splitTypes[i]));
    }
  }

private:
  Value splitsOf(Value counts) {
    Value ends = n.callHost("CumSum", {counts, m.index(0)});
    return m.concat({n.intList({0}), ends}, 0);
  }

  /// Indices, values and the shape: the row of each value and its number there.
  void setSparse(unsigned i, unsigned sparse) {
    Values values = readFeature(n, features.sparse[i], features.sparseTypes[i]);
    if (n.failed())
      return;
    Value total = m.dim(values.all, 0), positions = m.count(total);
    Value longest = m.largestSize(values.counts);
    Value indices = m.unsqueeze(positions, {1}), shape = m.shapeOf({longest});
    if (!isOne) {
      Value splits = splitsOf(values.counts), rows = rowsOfSplits(m, splits);
      Value column = m.sub(positions, m.gather(splits, rows, 0));
      indices = m.concat({m.unsqueeze(rows, {1}), m.unsqueeze(column, {1})}, 1);
      shape = m.shapeOf({m.dim(values.counts, 0), longest});
    }
    n.setOutput(i, indices);
    n.setOutput(sparse + i, values.all);
    n.setOutput(2 * sparse + i, shape);
  }

  Value dense(unsigned i) {
    if (n.failed())
      return {};
    ArrayRef<int64_t> dims = features.shapes[i];
    if (isOfAnyLength(dims))
      return denseOfAnyLength(i);
    Value fallback = n.callHost("Reshape", {n.input(features.firstDefault + i), n.intList({-1})});
    const int64_t size = ShapedType::getNumElements(dims);
    Values values = readFeature(n, features.dense[i], features.denseTypes[i], size, fallback);
    SmallVector<int64_t> shape(dims);
    if (!isOne)
      // For features without elements, the outer dim is the number of Examples.
      shape.insert(shape.begin(), size == 0 ? 0 : -1);
    Value result =
        size == 0 && !isOne
            ? m.reshape(values.all,
                        m.concat({m.shapeOf({m.dim(values.counts, 0)}), n.intList(dims)}, 0))
            : m.reshape(values.all, shape);
    if (!isOne)
      shape.front() = ShapedType::kDynamic;
    return withKnownDims(n, result, shape, 0);
  }

  /// The values of each Example, filled up to as many as the one with the most has.
  Value denseOfAnyLength(unsigned i) {
    Values values = readFeature(n, features.dense[i], features.denseTypes[i]);
    if (n.failed())
      return {};
    Value result = values.all;
    if (!isOne) {
      Value fallback = n.callHost("Reshape", {n.input(features.firstDefault + i), n.intList({})});
      Value rows = rowsOfSplits(m, splitsOf(values.counts));
      result = n.callHost("RaggedToDense",
                          {values.all, fallback, m.dim(values.counts, 0), rows, m.index(-1)});
      result = withKnownDims(n, result, {ShapedType::kDynamic, ShapedType::kDynamic}, 0);
    }
    // All dims behind the length are 1.
    const int64_t first = isOne ? 1 : 2, others = features.shapes[i].size() - 1;
    if (others > 0)
      result = m.unsqueeze(result, llvm::to_vector(llvm::seq(first, first + others)));
    return result;
  }

  NodeContext &n;
  TensorMath m;
  const Features &features;
  bool isOne;
};

void setOutputs(NodeContext &n, Features &features) {
  readShapes(n, features);
  requireCounts(n, features);
  requireStrings(n, 0);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(n.input(0)) || n.rank(n.input(0)) > 1)
    return n.failInput(0, "has no known rank of 0 or 1");
  Outputs(n, features).set();
}

/// Inputs: Examples, their names, a name of each sparse and each dense feature, defaults.
void importParseExample(NodeContext &n) {
  Features features;
  features.sparseTypes = readTypes(n, "sparse_types");
  features.denseTypes = readTypes(n, "Tdense");
  unsigned next = 2;
  for (size_t i = 0; i < features.sparseTypes.size(); ++i)
    readNames(n, next++, features.sparse);
  for (size_t i = 0; i < features.denseTypes.size(); ++i)
    readNames(n, next++, features.dense);
  features.firstDefault = next;
  setOutputs(n, features);
}

/// Inputs: Examples, their names, the names of sparse, dense and ragged features, defaults.
void importParseExampleV2(NodeContext &n) {
  Features features;
  features.sparseTypes = readTypes(n, "sparse_types");
  features.denseTypes = readTypes(n, "Tdense");
  features.raggedTypes = readTypes(n, "ragged_value_types");
  features.splitTypes = readTypes(n, "ragged_split_types");
  readNames(n, 2, features.sparse);
  readNames(n, 3, features.dense);
  readNames(n, 4, features.ragged);
  features.firstDefault = 5;
  setOutputs(n, features);
}

/// Inputs: an Example and defaults; attributes have the names.
void importParseSingle(NodeContext &n) {
  Features features;
  features.sparseTypes = readTypes(n, "sparse_types");
  features.denseTypes = readTypes(n, "Tdense");
  for (const std::string &name : listOf(n, "sparse_keys").s())
    features.sparse.push_back(name);
  for (const std::string &name : listOf(n, "dense_keys").s())
    features.dense.push_back(name);
  features.firstDefault = 1;
  setOutputs(n, features);
}

//===----------------------------------------------------------------------===//
// Comma-separated values
//===----------------------------------------------------------------------===//

/// Inputs: the records, and what each column has where a field is empty.
void importCsv(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  requireStrings(n, 0);
  const std::string delimiter = n.stringAttr("field_delim", ","), na = n.stringAttr("na_value", "");
  const bool quotes = n.boolAttr("use_quote_delim", true);
  const SmallVector<int64_t> selected = n.intsAttr("select_cols");
  if (n.failed())
    return;
  const int64_t columns = static_cast<int64_t>(inputs.size()) - 1;
  if (delimiter.size() != 1)
    return n.failAttribute("field_delim", "is '" + delimiter + "', expected one character");
  if (!selected.empty() && static_cast<int64_t>(selected.size()) != columns)
    return n.failAttribute("select_cols", "names " + Twine(selected.size()) + " columns, for " +
                                              Twine(columns) + " defaults");
  for (int64_t i = 0; i < static_cast<int64_t>(selected.size()); ++i)
    if (selected[i] < (i ? selected[i - 1] + 1 : 0))
      return n.failAttribute("select_cols", "does not rise from 0 on");
  const SmallVector<int64_t> numbers =
      selected.empty() ? llvm::to_vector(llvm::seq<int64_t>(0, columns)) : selected;
  SmallVector<NamedAttribute> attributes = {n.hostInts("quotes", {quotes}),
                                            n.hostText("delimiter", delimiter)};
  // Without a selection, records have no other fields than the columns.
  if (selected.empty())
    attributes.push_back(n.hostInts("fields", {columns}));
  SmallVector<Value> fields;
  // A call of a host kernel has no more results.
  constexpr size_t kMaxResults = 32;
  for (ArrayRef<int64_t> rest = numbers; !rest.empty();) {
    ArrayRef<int64_t> part = rest.take_front(kMaxResults);
    rest = rest.drop_front(part.size());
    SmallVector<NamedAttribute> all = attributes;
    all.push_back(n.hostInts("columns", part));
    llvm::append_range(fields, n.callHost(graph::HostCall{"CsvFields",
                                                          {inputs[0]},
                                                          n.builder().getDictionaryAttr(all),
                                                          static_cast<unsigned>(part.size())}));
  }
  for (auto [i, field] : llvm::enumerate(fields)) {
    const int64_t column = numbers[i];
    field = withShapeOf(field, inputs[0]);
    n.setOutput(i,
                withShapeOf(n.callHost("CsvValues", {field, inputs[i + 1]},
                                       {n.hostInts("column", {column}), n.hostText("absent", na)}),
                            inputs[0]));
  }
}

} // namespace

ArrayRef<OpRow> recordRows() {
  static constexpr llvm::StringLiteral limits = "dense features of a known shape, or of any length";
  static const OpRow rows[] = {
      {"DecodeCSV", importCsv},
      {"ParseExample", importParseExample, limits},
      {"ParseExampleV2", importParseExampleV2, limits},
      {"ParseSingleExample", importParseSingle, limits},
  };
  return rows;
}

} // namespace atc::tf_import
