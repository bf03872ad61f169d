//===-- ImportStrings.cpp - strings and lookup tables ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/LookupTables.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Strings.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {
Value withShapeOf(Value result, Value like) {
  auto shape = dyn_cast_or_null<RankedTensorType>(like ? like.getType() : Type());
  if (shape && result && result.getDefiningOp<graph::HostCallOp>())
    result.setType(shape.clone(cast<TensorType>(result.getType()).getElementType()));
  return result;
}

void requireStrings(NodeContext &n, unsigned index) {
  Value value = n.input(index);
  if (!n.failed() && !isa<graph::StringType>(NodeContext::elementType(value)))
    n.failInput(index, "holds no strings");
}

namespace {

/// Returns the string of an input, a constant of one element; fails the node where it is none.
std::string constantText(NodeContext &n, unsigned index) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  DenseStringElementsAttr known;
  if (matchPattern(value, m_Constant(&known)) && known.getNumElements() == 1)
    return known.getRawStringData().front().str();
  n.failInput(index, "must be one string that is known at compile time");
  return {};
}

//===----------------------------------------------------------------------===//
// Lookup tables
//===----------------------------------------------------------------------===//

/// A table that became no constant.
void importTable(NodeContext &n) {
  if (const std::string reason = n.stringAttr(tableErrorAttribute, ""); !reason.empty())
    return n.fail("E13005", reason);
  n.fail("E13005",
         "table '" + n.proto().name() +
             "' has no contents: no initializer of the model fills it, nor does a node that "
             "an output waits for; freeze a graph together with the nodes that fill its "
             "tables");
}

/// The size of a table that became no constant; of others it is known.
void importTableSize(NodeContext &n) {
  (void)n.input(0);
  if (!n.failed())
    n.failInput(0, "is no lookup table that the model fills with constants");
}

/// Inputs are what the table became, its keys and values, what is looked for, and the default.
void importFind(NodeContext &n) {
  if (n.numInputs() != 4)
    return n.failInput(0, "is no lookup table that the model fills with constants");
  Value wanted = n.input(2);
  if (n.failed())
    return;
  ElementsAttr known[3];
  for (auto [at, index] : llvm::enumerate(std::array{0u, 1u, 3u}))
    if (Value value = n.input(index); !n.failed() && !matchPattern(value, m_Constant(&known[at])))
      return n.failInput(index, "must be known at compile time");
  if (n.failed())
    return;
  if (known[0].getNumElements() != known[1].getNumElements())
    return n.failInput(0, "has " + Twine(known[0].getNumElements()) + " keys for " +
                              Twine(known[1].getNumElements()) + " values");
  if (known[2].getNumElements() != 1)
    return n.failInput(3, "has " + Twine(known[2].getNumElements()) + " elements, expected 1");
  const Type keyType = known[0].getElementType();
  if (keyType != NodeContext::elementType(wanted))
    return n.failInput(2, "has another element type than the keys of the table");
  if (known[2].getElementType() != known[1].getElementType())
    return n.failInput(3, "has another element type than the values of the table");
  // A table without entries has only its default.
  if (known[0].getNumElements() == 0)
    return n.setOutput(
        withShapeOf(n.callHost("Expand", {n.input(3), shapeVector(n, wanted)}), wanted));
  auto parameter = [&](StringRef name, ElementsAttr value) {
    return n.builder().getNamedAttr(name, value);
  };
  n.setOutput(withShapeOf(
      n.callHost("LabelEncoder", {wanted},
                 {parameter("keys_tensor", known[0]), parameter("values_tensor", known[1]),
                  parameter("default_tensor", known[2])}),
      wanted));
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

enum class Hash : uint8_t { Fingerprint, Keyed, Older };

template <Hash kind> void importHash(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const int64_t buckets = n.requiredInt("num_buckets");
  SmallVector<NamedAttribute> parameters = {n.hostInts("buckets", {buckets})};
  if (kind == Hash::Older)
    parameters.push_back(n.hostInts("seed", {0xDECAFCAFFE})); // that of TensorFlow
  if (kind == Hash::Keyed) {
    SmallVector<int64_t> key = n.intsAttr("key");
    if (!n.failed() && key.size() != 2)
      return n.failAttribute("key", "has " + Twine(key.size()) + " values, expected 2");
    parameters.push_back(n.hostInts("key", key));
  }
  if (!n.failed() && buckets < 1)
    return n.failAttribute("num_buckets", "is " + Twine(buckets) + ", expected at least 1");
  n.setOutput(withShapeOf(n.callHost("StringHash", {input}, parameters), input));
}

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

template <int isUpper> void importCase(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const std::string encoding = n.stringAttr("encoding", "");
  if (!n.failed() && !encoding.empty() && encoding != "utf-8")
    return n.failAttribute("encoding", "is '" + encoding +
                                           "', expected 'utf-8', or '' for the letters of ASCII");
  n.setOutput(withShapeOf(
      n.callHost("StringCase", {input},
                 {n.hostInts("upper", {isUpper}), n.hostInts("unicode", {!encoding.empty()})}),
      input));
}

void importStrip(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  n.setOutput(withShapeOf(n.callHost("StringStrip", {input}), input));
}

/// Whether positions count characters of UTF-8 instead of bytes.
int64_t countsCharacters(NodeContext &n) {
  const std::string unit = n.stringAttr("unit", "BYTE");
  if (!n.failed() && unit != "BYTE" && unit != "UTF8_CHAR")
    n.failAttribute("unit", "is '" + unit + "', expected BYTE or UTF8_CHAR");
  return unit == "UTF8_CHAR";
}

void importLength(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const int64_t characters = countsCharacters(n);
  Value length = n.callHost("StringLength", {input}, {n.hostInts("characters", {characters})});
  if (!n.failed())
    n.setOutput(n.cast(withShapeOf(length, input), n.builder().getI32Type()));
}

void importSubstring(NodeContext &n) {
  Value input = n.input(0), begin = n.input(1), length = n.input(2);
  requireStrings(n, 0);
  const int64_t characters = countsCharacters(n);
  if (n.failed())
    return;
  const Type index = n.builder().getI64Type();
  n.setOutput(
      withShapeOf(n.callHost("Substring", {input, n.cast(begin, index), n.cast(length, index)},
                             {n.hostInts("characters", {characters})}),
                  input));
}

//===----------------------------------------------------------------------===//
// Joining and splitting
//===----------------------------------------------------------------------===//

void importJoin(NodeContext &n) {
  const std::string separator = n.stringAttr("separator", "");
  SmallVector<Value> inputs = n.inputs();
  for (unsigned index = 0; index < inputs.size() && !n.failed(); ++index)
    requireStrings(n, index);
  if (n.failed())
    return;
  Value between;
  if (!separator.empty())
    between = n.constant(DenseStringElementsAttr::get(
        RankedTensorType::get({}, graph::StringType::get(n.builder().getContext())),
        ArrayRef<StringRef>(separator)));
  Value result;
  for (Value input : inputs) {
    if (result && between)
      result = n.callHost("StringConcat", {result, between});
    result = result ? n.callHost("StringConcat", {result, input}) : input;
  }
  n.setOutput(result);
}

/// Joins the strings along axes; without any the strings stay, with all their dims.
void importReduceJoin(NodeContext &n) {
  Value input = n.input(0), axes = n.input(1);
  requireStrings(n, 0);
  const std::string separator = n.stringAttr("separator", "");
  const bool keepsDims = n.boolAttr("keep_dims", false);
  if (!n.failed())
    n.setOutput(
        n.callHost("StringReduce", {input, indexVector(n, axes)},
                   {n.hostText("separator", separator), n.hostInts("keepdims", {keepsDims})}));
}

/// The parts of a text that are made: all of them, all but those of a text without characters, or
/// only those that have characters.
enum class Parts { All, OfSome, Some };

/// Sets the outputs to the parts of texts: row and location of each part, the parts, and the number
/// of rows and of locations.
void setTextParts(NodeContext &n, StringRef separator, int64_t max, Parts which) {
  Value input = n.input(0);
  if (n.failed())
    return;
  graph::HostCall call{
      "StringSplit",
      {input},
      n.builder().getDictionaryAttr({n.hostText("delimiter", separator), n.hostInts("ascii", {1}),
                                     n.hostInts("maxsplit", {max > 0 ? max : -1})}),
      2};
  SmallVector<Value> parts = n.callHost(call);
  if (parts.empty())
    return;
  TensorMath math(n);
  Value counts = withShapeOf(parts[1], input);
  auto known = [&](Value value, ArrayRef<int64_t> dims) {
    if (value && value.getDefiningOp<graph::HostCallOp>() && !NodeContext::hasRank(value))
      value.setType(RankedTensorType::get(dims, NodeContext::elementType(value)));
    return value;
  };
  known(parts[0], {n.shape(input)[0], ShapedType::kDynamic});
  Value locations = math.unsqueeze(math.count(math.dim(parts[0], 1)), {0});
  Value isThere = n.callHost("Less", {locations, math.unsqueeze(counts, {1})});
  if (which != Parts::All) {
    Value measured = which == Parts::Some ? parts[0] : math.unsqueeze(input, {1});
    isThere =
        math.both(isThere, math.greater(n.callHost("StringLength", {measured}), math.index(0)));
  }
  Value indices = known(math.positionsWhere(isThere), {ShapedType::kDynamic, 2});
  Value values = known(n.callHost("GatherND", {parts[0], indices}), {ShapedType::kDynamic});
  n.setOutput(1, values);
  if (which == Parts::All) {
    n.setOutput(0, indices);
    n.setOutput(2, shapeVector(n, parts[0]));
    return;
  }
  // The parts of a row are counted without those that are left out.
  Value counted = math.toIndex(isThere), one = math.index(1);
  Value ends = n.callHost("CumSum", {counted, one});
  Value location =
      math.sub(known(n.callHost("GatherND", {ends, indices}), {ShapedType::kDynamic}), one);
  n.setOutput(0, math.concat({math.slice(indices, 0, 1, 1), math.unsqueeze(location, {1})}, 1));
  Value lengths = n.callHost("ReduceSum", {counted, n.intList({1})}, {n.hostInts("keepdims", {0})});
  // Without texts the longest row has no parts.
  Value longest = math.largestSize(lengths);
  n.setOutput(2, math.shapeOf({math.dim(input, 0), longest}));
}

void importStringSplit(NodeContext &n) {
  requireStrings(n, 0);
  n.requireRank(0, 1, 1);
  const std::string separator = constantText(n, 1);
  const int64_t max = n.intAttr("maxsplit", -1);
  if (!n.failed())
    setTextParts(n, separator, max, Parts::All);
}

/// Sets the outputs to the bytes of texts, each a text: row and location of each byte, these, and
/// the number of rows and of locations.
void setTextBytes(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  TensorMath math(n);
  Value lengths = withShapeOf(n.callHost("StringLength", {input}), input);
  // Without texts the longest one has no bytes.
  Value longest = math.largestSize(lengths);
  Value isThere = math.less(math.unsqueeze(math.count(longest), {0}), math.unsqueeze(lengths, {1}));
  Value indices = withKnownDims(n, math.positionsWhere(isThere), {ShapedType::kDynamic, 2}, 0);
  Value texts = math.gather(input, math.column(indices, 0), 0);
  n.setOutput(0, indices);
  n.setOutput(
      1, withKnownDims(n, n.callHost("Substring", {texts, math.column(indices, 1), math.index(1)}),
                       {ShapedType::kDynamic}, 0));
  n.setOutput(2, math.shapeOf({math.dim(input, 0), longest}));
}

/// Splits at each of the characters that the delimiter is made of, here at one; without any of them
/// into bytes.
void importSplitAtCharacter(NodeContext &n) {
  requireStrings(n, 0);
  n.requireRank(0, 1, 1);
  const std::string delimiter = constantText(n, 1);
  const bool dropsEmpty = n.boolAttr("skip_empty", true);
  if (!n.failed() && delimiter.size() > 1)
    n.failInput(1, "is '" + delimiter + "', expected one character or none");
  if (!n.failed() && delimiter.empty())
    return setTextBytes(n);
  if (!n.failed())
    setTextParts(n, delimiter, -1, dropsEmpty ? Parts::Some : Parts::OfSome);
}

//===----------------------------------------------------------------------===//
// Regular expressions
//===----------------------------------------------------------------------===//

template <int isStatic> void importReplace(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const std::string pattern = isStatic ? n.stringAttr("pattern", "") : constantText(n, 1);
  const std::string rewrite = isStatic ? n.stringAttr("rewrite", "") : constantText(n, 2);
  if (n.failed())
    return;
  for (size_t at = rewrite.find('\\'); at != std::string::npos; at = rewrite.find('\\', at + 2))
    if (at + 1 == rewrite.size() || (rewrite[at + 1] != '\\' && !llvm::isDigit(rewrite[at + 1])))
      return n.failNode("replaces matches by '" + rewrite +
                        "', in which a backslash stands in front of neither a digit, which names a "
                        "group, nor a backslash");
  n.setOutput(
      withShapeOf(n.callHost("RegexReplace", {input},
                             {n.hostText("pattern", pattern), n.hostText("rewrite", rewrite),
                              n.hostInts("all", {n.boolAttr("replace_global", true)})}),
                  input));
}

template <int isStatic> void importFullMatch(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const std::string pattern = isStatic ? n.stringAttr("pattern", "") : constantText(n, 1);
  n.setOutput(
      withShapeOf(n.callHost("RegexFullMatch", {input}, {n.hostText("pattern", pattern)}), input));
}

} // namespace

ArrayRef<OpRow> stringRows() {
  static const OpRow rows[] = {
      {"HashTable", importTable, "filled by constants or files"},
      {"HashTableV2", importTable, "filled by constants or files"},
      {"LookupTableFind", importFind, "tables of constants or files, and a constant default"},
      {"LookupTableFindV2", importFind, "tables of constants or files, and a constant default"},
      {"LookupTableSize", importTableSize, "tables of constants or files"},
      {"LookupTableSizeV2", importTableSize, "tables of constants or files"},
      {"MutableHashTable", importTable, "filled once by constants"},
      {"MutableHashTableV2", importTable, "filled once by constants"},
      {"ReduceJoin", importReduceJoin},
      {"RegexFullMatch", importFullMatch<0>, "a constant pattern"},
      {"RegexReplace", importReplace<0>, "a constant pattern"},
      {"StaticRegexFullMatch", importFullMatch<1>},
      {"StaticRegexReplace", importReplace<1>},
      {"StringJoin", importJoin},
      {"StringLength", importLength},
      {"StringLower", importCase<0>},
      {"StringSplit", importSplitAtCharacter, "a constant delimiter of one character or none"},
      {"StringSplitV2", importStringSplit, "a constant separator"},
      {"StringStrip", importStrip},
      {"StringToHashBucket", importHash<Hash::Older>},
      {"StringToHashBucketFast", importHash<Hash::Fingerprint>},
      {"StringToHashBucketStrong", importHash<Hash::Keyed>},
      {"StringUpper", importCase<1>},
      {"Substr", importSubstring, "one position and length, or one of each for every string"},
  };
  return rows;
}

} // namespace atc::tf_import
