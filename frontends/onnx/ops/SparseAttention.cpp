//===-- SparseAttention.cpp - com.microsoft: attention to blocks of keys --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

using Ints = FunctionWriter::Ints;
using AttributeType = onnx::AttributeProto;

/// Returns which blocks are computed, [layouts, rows + 1, columns] of 0 and 1. The file lists the
/// columns of all rows, and where each row begins in that list; what stands behind the last row
/// fills it up, and lands in a row that nothing reads.
std::string denseLayouts(FunctionWriter &w) {
  const std::string ends = slice(w, "row_begins", 1, toEnd, 1);
  const std::string shape = w.make("Shape", {ends});
  const std::string rows = slice(w, shape, 1, toEnd, 0);
  const std::string none = w.make("Squeeze", {w.integers({0})});
  const std::string one = w.make("Squeeze", {w.integers({1})});
  const std::string entries = w.make(
      "Range",
      {none, w.make("Squeeze", {w.make("Shape", {"columns"}, {{"start", int64_t(1)}})}), one});
  // The row of an entry is the number of rows that end before it.
  const std::string isBehind =
      w.make("LessOrEqual",
             {w.make("Unsqueeze", {w.make("Cast", {ends}, toIndex), w.integers({2})}), entries});
  const std::string row =
      w.make("ReduceSum", {w.make("Cast", {isBehind}, toIndex), w.integers({1})},
             {{"keepdims", int64_t(0)}});
  const std::string column = w.make("Max", {w.make("Cast", {"columns"}, toIndex), none});
  const std::string position = w.make("Add", {w.make("Mul", {row, rows}), column});
  const std::string layouts = slice(w, shape, 0, 1, 0);
  const std::string size = w.make("Mul", {w.make("Add", {rows, w.integers({1})}), rows});
  const std::string zeros =
      w.make("Expand", {w.number(0), w.make("Concat", {layouts, size}, {{"axis", int64_t(0)}})});
  const std::string ones = w.make("Expand", {w.number(1), w.make("Shape", {position})});
  const std::string flat =
      w.make("ScatterElements", {zeros, position, ones}, {{"axis", int64_t(1)}});
  return w.make("Reshape", {flat, w.make("Concat", {layouts, w.integers({-1}), rows},
                                         {{"axis", int64_t(0)}})});
}

} // namespace

/// GroupQueryAttention with a bias of -inf for the keys in blocks that are left out.
onnx::FunctionProto sparseAttention(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"query", "key", "value", "past_key", "past_value", "row_begins", "columns",
                    "total", "key_totals", "cosines", "sines"},
                   {"y", "present_key", "present_value"});
  const int64_t heads = integerOf(node, "num_heads", 0);
  const int64_t block = integerOf(node, "sparse_block_size", 0);
  if (heads < 1)
    problem = "attribute 'num_heads' is " + std::to_string(heads) + ", expected a number above 0";
  else if (block < 1)
    problem =
        "attribute 'sparse_block_size' is " + std::to_string(block) + ", expected a number above 0";
  if (!problem.empty())
    return w.take();

  const std::string none = w.make("Squeeze", {w.integers({0})});
  const std::string one = w.make("Squeeze", {w.integers({1})});
  const std::string total = w.make("Squeeze", {w.make("Cast", {"total"}, toIndex)});
  const std::string length =
      w.make("Squeeze", {w.make("Shape", {"query"}, {{"start", int64_t(1)}, {"end", int64_t(2)}})});
  // A prompt begins at 0; the tokens behind it are the last ones of their sequence.
  const std::string isPrompt = w.make("Equal", {length, total});
  const std::string past = w.make(
      "Where", {isPrompt, none, w.make("Sub", {w.make("Cast", {"key_totals"}, toIndex), length})});
  const std::string batch =
      w.make("Shape", {"query"}, {{"start", int64_t(0)}, {"end", int64_t(1)}});
  const std::string begin = w.make("Unsqueeze", {w.make("Expand", {past, batch}), w.integers({1})});
  const std::string size = w.make("Squeeze", {w.integers({block})});
  const std::string rows =
      w.make("Div", {w.make("Add", {begin, w.make("Range", {none, length, one})}), size});
  const std::string columns = w.make("Div", {w.make("Range", {none, total, one}), size});
  const std::string dense = denseLayouts(w);
  const std::string wide = w.make("Gather", {dense, columns}, {{"axis", int64_t(2)}});
  const std::string chosen =
      w.make("Transpose", {w.make("Gather", {wide, rows}, {{"axis", int64_t(1)}})},
             {{"perm", Ints{1, 0, 2, 3}}});
  // Heads take the layouts in turn.
  const std::string turns =
      w.make("Div", {w.integers({heads}), w.make("Shape", {"columns"}, {{"end", int64_t(1)}})});
  const std::string ofHeads =
      w.make("Tile", {chosen, w.make("Concat", {w.integers({1}), turns, w.integers({1, 1})},
                                     {{"axis", int64_t(0)}})});
  const std::string bias =
      w.make("CastLike", {w.make("Where", {w.make("Greater", {ofHeads, w.number(0)}), w.number(0),
                                           w.number(-std::numeric_limits<double>::infinity())}),
                          "query"});
  const std::string last =
      w.make("Cast", {w.make("Sub", {w.make("Cast", {"key_totals"}, toIndex), one})},
             {{"to", int64_t(onnx::TensorProto::INT32)}});
  onnx::NodeProto &attention = w.add("GroupQueryAttention",
                                     {"query", "key", "value", "past_key", "past_value", last,
                                      "total", "cosines", "sines", "", bias},
                                     {"y", "present_key", "present_value"});
  attention.set_domain("com.microsoft");
  FunctionWriter::pass(attention, {{"do_rotary", AttributeType::INT},
                                   {"kv_num_heads", AttributeType::INT},
                                   {"num_heads", AttributeType::INT},
                                   {"rotary_interleaved", AttributeType::INT},
                                   {"scale", AttributeType::FLOAT}});
  return w.take();
}

} // namespace atc::onnx_import
