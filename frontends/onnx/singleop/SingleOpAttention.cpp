//===-- SingleOpAttention.cpp - attention as ONNX models ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Ascend toolchain's attention operators of inference: softmax(query x key^T * scale + shift,
// without what is hidden) x value. They differ in their inputs.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include <algorithm>
#include <array>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

/// The positions of an operator's inputs; 0 for those that it has not.
struct Positions {
  size_t shift = 3, mask = 4, rows = 0, lengths = 0, table = 0, prefix = 0, rope = 0;
  /// The inputs that no operator reads here, first and last.
  size_t firstUnread = 0, lastUnread = 0, firstUnreadToo = 0, lastUnreadToo = 0;
  StringRef scale = "scale_value";
  int64_t before = 214748647, after = 0; ///< where their attributes are not stated
};

/// Dims and layout of an attention.
struct Form {
  std::string layout, outputLayout;
  int64_t batches = 0, heads = 0, keyHeads = 0, rows = 0, keys = 0;
};

bool isGiven(const Graph &g, size_t input) {
  return input && g.x.size() > input && !g.x[input].empty();
}

std::string concat(Graph &g, const Names &parts, int64_t axis) {
  const std::string result = g.fresh();
  Graph::setInt(g.node("Concat", parts, {result}), "axis", axis);
  return result;
}

std::string cast(Graph &g, const std::string &input, int type) {
  const std::string result = g.fresh();
  Graph::setInt(g.node("Cast", {input}, {result}), "to", type);
  return result;
}

std::string integers(Graph &g, const Ints &dims, const std::vector<double> &values) {
  const std::string name = g.fresh();
  g.addConstant(name, onnx::TensorProto::INT64, dims, values);
  return name;
}

/// Returns 0, 1 ... count - 1 with `dims`.
std::string steps(Graph &g, int64_t count, const Ints &dims) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[size_t(i)] = double(i);
  return integers(g, dims, values);
}

/// Returns a tensor as [batch, heads, sequence, width].
std::string headsOf(Graph &g, const std::string &x, const Ints &dims, StringRef layout,
                    int64_t heads) {
  if (layout == "BSH")
    return g.transpose(g.reshape(x, {dims[0], dims[1], heads, dims[2] / heads}), {0, 2, 1, 3});
  if (layout == "SBH")
    return g.transpose(g.reshape(x, {dims[0], dims[1], heads, dims[2] / heads}), {1, 2, 0, 3});
  if (layout == "BSND")
    return g.transpose(x, {0, 2, 1, 3});
  return layout == "NSD" ? g.reshape(x, {1, dims[0], dims[1], dims[2]}) : x;
}

/// Returns where the batch, the heads and the sequence are among the dims; -1 for heads that share
/// their dim with the width.
std::array<int64_t, 3> axesOf(StringRef layout) {
  if (layout == "BSH")
    return {0, -1, 1};
  if (layout == "SBH")
    return {1, -1, 0};
  if (layout == "BSND")
    return {0, 2, 1};
  if (layout == "NSD")
    return {-1, 0, 1};
  return {0, 1, 2};
}

/// Reads layout and dims. Returns false after an error.
bool readForm(Graph &g, const Positions &at, Form &form) {
  const std::string all = g.getText("input_layout", "BSH");
  form.layout = all.substr(0, all.find('_'));
  form.outputLayout = form.layout == all ? all : all.substr(form.layout.size() + 1);
  constexpr StringLiteral known[] = {"BSH", "SBH", "BSND", "BNSD", "NSD", "NBSD"};
  if (!is_contained(known, form.layout) || !is_contained(known, form.outputLayout) ||
      form.layout == "NBSD")
    return g.fail("\"input_layout\" must be BSH, SBH, BSND, BNSD or NSD, or two of them, as in "
                  "BNSD_BSND, not " +
                  all),
           false;
  form.heads = g.getInt("num_heads", 0);
  if (form.heads < 1)
    return g.fail("\"num_heads\" is required"), false;
  const Ints &query = g.op.inputs[0].dims, &key = g.op.inputs[1].dims;
  const size_t rank = axesOf(form.layout)[1] < 0 || form.layout == "NSD" ? 3 : 4;
  for (size_t i = 0; i < 3; ++i)
    if (g.x[i].empty() || any_of(g.op.inputs[i].dims, [](int64_t dim) { return dim < 1; }))
      return g.fail("query, key and value must be given, with fixed dims"), false;
  const bool isCache = isGiven(g, at.table);
  if (query.size() != rank || (!isCache && key.size() != rank) ||
      g.op.inputs[2].dims.size() != key.size() ||
      (rank == 3 && form.layout != "NSD" && query[2] % form.heads))
    return g.fail("query and key must have the dims of " + all), false;
  const auto [batch, head, sequence] = axesOf(form.layout);
  form.batches = batch < 0 ? 1 : query[size_t(batch)];
  form.rows = query[size_t(sequence)];
  const int64_t width = head < 0 ? query[2] / form.heads : query.back();
  // The heads of keys follow from their dims where the operator does not state them.
  const int64_t stated = g.getInt("num_key_value_heads", -1);
  const bool isStated = g.find("num_key_value_heads") != nullptr;
  const bool hasHeads = key.size() == 4 || (!isCache && form.layout == "NSD");
  if (isStated)
    form.keyHeads = stated == 0 ? form.heads : stated;
  else if (!hasHeads)
    form.keyHeads = std::max<int64_t>(key.back() / width, 1);
  else
    form.keyHeads = isCache ? form.heads : key[size_t(head)];
  if (form.keyHeads < 1 || form.heads % form.keyHeads ||
      (!hasHeads && (key.back() % form.keyHeads || g.op.inputs[2].dims.back() % form.keyHeads)))
    return g.fail("\"num_key_value_heads\" must divide \"num_heads\" and the width of the keys"),
           false;
  if (isCache)
    return true;
  form.keys = key[size_t(sequence)];
  if (g.op.inputs[2].dims[size_t(sequence)] != form.keys ||
      (head >= 0 && key[size_t(head)] != form.keyHeads) ||
      (head < 0 ? key.back() / form.keyHeads : key.back()) != width ||
      (batch >= 0 && key[size_t(batch)] != form.batches))
    return g.fail("key and value must have the batch and the width of the query, and as many rows "
                  "as each other"),
           false;
  return true;
}

/// Returns a cache as [batch, heads, tokens, width]: the blocks that the table names, one behind
/// the other. Sets how many tokens there are.
std::string joinedBlocks(Graph &g, size_t input, size_t table, Form &form) {
  const Ints &dims = g.op.inputs[input].dims, &blocks = g.op.inputs[table].dims;
  const int64_t size = g.getInt("block_size", 0);
  const bool isJoined = dims.size() == 3 && dims[1] == size;
  const bool isFront = dims.size() == 4 && dims[1] == form.keyHeads && dims[2] == size;
  const bool isBehind = dims.size() == 4 && dims[1] == size && dims[2] == form.keyHeads &&
                        (!isFront || form.layout == "BSND");
  if (size < 1 || blocks.size() != 2 || blocks[0] != form.batches ||
      !(isJoined || isFront || isBehind)) {
    g.fail("\"block_size\" must be that of the caches, and block_table have the dims [batch, "
           "blocks]");
    return "";
  }
  form.keys = blocks[1] * size;
  // What is behind the tokens of a batch may name no block.
  const std::string known =
      g.value("Clip", {cast(g, g.x[table], onnx::TensorProto::INT64), integers(g, {}, {0}),
                       integers(g, {}, {double(dims[0] - 1)})});
  const std::string all = g.value("Gather", {g.x[input], known});
  const int64_t width = isJoined ? dims[2] / form.keyHeads : dims[3];
  if (isFront && !isBehind)
    return g.reshape(g.transpose(all, {0, 2, 1, 3, 4}),
                     {form.batches, form.keyHeads, form.keys, width});
  return g.transpose(g.reshape(all, {form.batches, form.keys, form.keyHeads, width}), {0, 2, 1, 3});
}

/// Returns the lengths in an input as [batch, 1, 1, 1], or `otherwise`.
std::string lengthsOf(Graph &g, size_t input, const Form &form, int64_t otherwise) {
  if (!isGiven(g, input))
    return integers(g, {1, 1, 1, 1}, {double(otherwise)});
  const Ints &dims = g.op.inputs[input].dims;
  if (dims.size() != 1 || (dims[0] != 1 && dims[0] != form.batches)) {
    g.fail("the lengths must be 1 or " + Twine(form.batches) + " numbers");
    return integers(g, {1, 1, 1, 1}, {double(otherwise)});
  }
  return g.reshape(cast(g, g.x[input], onnx::TensorProto::INT64), {dims[0], 1, 1, 1});
}

/// Returns a mask as bools that broadcast to the scores; "" after an error. It may have more rows
/// and columns, and leave out the heads or, for one row, the rows.
std::string maskOf(Graph &g, size_t input, const Form &form) {
  Ints dims = g.op.inputs[input].dims;
  std::string mask = cast(g, g.x[input], onnx::TensorProto::BOOL);
  if (dims.size() == 2 && form.rows == 1 && dims[0] == form.batches)
    dims = {dims[0], 1, 1, dims[1]};
  else if (dims.size() == 2)
    dims = {1, 1, dims[0], dims[1]};
  else if (dims.size() == 3)
    dims = {dims[0], 1, dims[1], dims[2]};
  if (dims.size() != 4 || (dims[0] != 1 && dims[0] != form.batches) ||
      (dims[1] != 1 && dims[1] != form.heads) || (dims[2] != 1 && dims[2] < form.rows) ||
      dims[3] < form.keys) {
    g.fail("atten_mask must have the dims [" + Twine(form.batches) + " or 1, 1, " +
           Twine(form.rows) + ", " + Twine(form.keys) + "]");
    return "";
  }
  mask = g.reshape(mask, dims);
  return g.value("Slice",
                 {mask, g.addInts({0, 0}), g.addInts({form.rows, form.keys}), g.addInts({2, 3})});
}

/// Returns what is hidden, as bools that broadcast to the scores; "" where nothing is.
std::string hiddenOf(Graph &g, const Positions &at, const Form &form, const std::string &rows,
                     const std::string &lengths) {
  const int64_t mode = g.getInt("sparse_mode", 0);
  const bool hasMask = isGiven(g, at.mask);
  const bool isBand = form.rows > 1 && (mode == 4 || (mode == 0 && hasMask));
  const bool isTriangle = form.rows > 1 && (mode == 2 || mode == 3);
  const std::string column = steps(g, form.keys, {1, 1, 1, form.keys});
  Names hidden;
  if (isGiven(g, at.lengths) || isGiven(g, at.table))
    hidden.push_back(g.value("GreaterOrEqual", {column, lengths}));
  if (isBand || isTriangle) {
    std::string diagonal = steps(g, form.rows, {1, 1, form.rows, 1});
    if (mode > 2)
      diagonal = g.value("Add", {diagonal, g.value("Sub", {lengths, rows})});
    const int64_t all = form.rows + form.keys;
    const auto bounded = [&](int64_t tokens) {
      return integers(g, {1, 1, 1, 1}, {double(std::clamp(tokens, -all, all))});
    };
    const int64_t after = isTriangle ? 0 : g.getInt("next_tokens", at.after);
    hidden.push_back(g.value("Greater", {column, g.value("Add", {diagonal, bounded(after)})}));
    if (isBand)
      hidden.push_back(g.value(
          "Less",
          {column, g.value("Sub", {diagonal, bounded(g.getInt("pre_tokens", at.before))})}));
  }
  // The modes from 2 on have a mask of their own, which says what they hide.
  if (hasMask && (mode < 2 || form.rows == 1))
    if (std::string mask = maskOf(g, at.mask, form); !mask.empty())
      hidden.push_back(std::move(mask));
  std::string result;
  for (const std::string &each : hidden)
    result = result.empty() ? each : g.value("Or", {result, each});
  return result;
}

/// Puts the tokens of a prefix in front of those of each batch.
std::string behindPrefix(Graph &g, const std::string &own, size_t input, const Form &form) {
  const std::string front =
      headsOf(g, g.x[input], g.op.inputs[input].dims, form.layout, form.keyHeads);
  return concat(g, {g.value("Expand", {front, g.addInts({form.batches, 1, 1, 1})}), own}, 2);
}

/// Writes the result in the layout and with the dims of the output.
void finishAttention(Graph &g, const Form &form, const std::string &result) {
  const StringRef layout = form.outputLayout;
  const std::string turned = layout == "BSH" || layout == "BSND" ? g.transpose(result, {0, 2, 1, 3})
                             : layout == "SBH"                   ? g.transpose(result, {2, 0, 1, 3})
                             : layout == "NBSD"                  ? g.transpose(result, {1, 0, 2, 3})
                                                                 : result;
  const bool isJoined = layout == "BSH" || layout == "SBH";
  if (isJoined)
    g.finish(g.reshape(turned, {0, 0, -1}));
  else if (layout == "NSD")
    g.finish(g.value("Squeeze", {turned, g.addInts({0})}));
  else
    g.finish(turned);
}

void buildAttention(Graph &g, const Positions &at) {
  g.knows({"inner_precise", "block_size", "pre_tokens", "next_tokens", "sparse_mode",
           "num_key_value_heads", "antiquant_mode", "key_antiquant_mode", "value_antiquant_mode"});
  for (auto [first, last] :
       {std::pair{at.firstUnread, at.lastUnread}, std::pair{at.firstUnreadToo, at.lastUnreadToo}})
    for (size_t i = first; i && i <= last; ++i)
      if (isGiven(g, i))
        return g.fail("input " + Twine(i) +
                      " must not be given: scales of quantized tensors and "
                      "padding are not supported");
  Form form;
  const int64_t mode = g.getInt("sparse_mode", 0);
  if (mode < 0 || mode > 4)
    return g.fail("\"sparse_mode\" must be 0 to 4");
  if (!readForm(g, at, form))
    return;
  g.widen();
  const auto headed = [&](size_t input, int64_t heads) {
    return headsOf(g, g.x[input], g.op.inputs[input].dims, form.layout, heads);
  };
  std::string q = headed(0, form.heads), k, v;
  if (isGiven(g, at.table)) {
    if (!isGiven(g, at.lengths))
      return g.fail("the lengths of the keys must be given with block_table");
    k = joinedBlocks(g, 1, at.table, form);
    v = joinedBlocks(g, 2, at.table, form);
    if (k.empty() || v.empty())
      return;
  } else {
    k = headed(1, form.keyHeads);
    v = headed(2, form.keyHeads);
  }
  if (at.rope && isGiven(g, at.rope) != isGiven(g, at.rope + 1))
    return g.fail("query_rope and key_rope belong together");
  if (isGiven(g, at.rope)) {
    q = concat(g, {q, headed(at.rope, form.heads)}, 3);
    k = concat(g,
               {k, isGiven(g, at.table) ? joinedBlocks(g, at.rope + 1, at.table, form)
                                        : headed(at.rope + 1, form.keyHeads)},
               3);
  }
  const std::string rows = lengthsOf(g, at.rows, form, form.rows);
  std::string lengths = lengthsOf(g, at.lengths, form, form.keys);
  if (isGiven(g, at.prefix)) {
    if (!isGiven(g, at.prefix + 1) || isGiven(g, at.prefix + 2) || mode == 2 ||
        isGiven(g, at.table) || g.op.inputs[at.prefix].dims != g.op.inputs[at.prefix + 1].dims ||
        g.op.inputs[at.prefix].dims.size() != g.op.inputs[1].dims.size())
      return g.fail("a shared prefix is keys and values of one batch and the same dims, all of "
                    "which are read, without block_table and \"sparse_mode\" 2");
    k = behindPrefix(g, k, at.prefix, form);
    v = behindPrefix(g, v, at.prefix + 1, form);
    const int64_t length = g.op.inputs[at.prefix].dims[size_t(axesOf(form.layout)[2])];
    form.keys += length;
    lengths = g.value("Add", {lengths, integers(g, {1, 1, 1, 1}, {double(length)})});
  }
  // Heads of the query that share keys lie beside each other.
  if (form.keyHeads != form.heads)
    for (std::string *shared : {&k, &v}) {
      const std::string wide =
          g.value("Expand", {g.value("Unsqueeze", {*shared, g.addInts({2})}),
                             g.addInts({1, 1, form.heads / form.keyHeads, 1, 1})});
      *shared = g.reshape(wide, {form.batches, form.heads, form.keys, -1});
    }
  std::string scores = g.value("MatMul", {q, g.transpose(k, {0, 1, 3, 2})});
  if (const double scale = g.getFloat(at.scale, 1); scale != 1)
    scores = g.value("Mul", {scores, g.addScalar(scale)});
  if (isGiven(g, at.shift))
    scores = g.value("Add", {scores, g.x[at.shift]});
  if (const std::string hidden = hiddenOf(g, at, form, rows, lengths); !hidden.empty())
    scores = g.value("Where", {hidden, g.addScalar(-60000), scores});
  const std::string weights = g.fresh();
  Graph::setInt(g.node("Softmax", {scores}, {weights}), "axis", 3);
  std::string result = g.value("MatMul", {weights, v});
  // Rows behind those of a batch are 0, and so are those of a batch without keys.
  Names empty;
  if (isGiven(g, at.rows))
    empty.push_back(g.value("GreaterOrEqual", {steps(g, form.rows, {1, 1, form.rows, 1}), rows}));
  if (isGiven(g, at.lengths))
    empty.push_back(g.value("LessOrEqual", {lengths, integers(g, {1, 1, 1, 1}, {0})}));
  for (const std::string &each : empty)
    result = g.value("Where", {each, g.addScalar(0), result});
  finishAttention(g, form, result);
  const bool hasLse = g.getBool("softmax_lse_flag");
  if (g.y.size() > 1)
    g.write(1, hasLse ? g.value("ReduceLogSumExp", {scores, g.addInts({3})})
                      : g.value("Expand", {g.addScalar(0), g.addInts(g.op.outputs[1].dims)}));
}

void buildPrompt(Graph &g) {
  Positions at;
  at.rows = 5;
  at.lengths = 6;
  at.firstUnread = 7;
  at.lastUnread = 11;
  buildAttention(g, at);
}

void buildIncremental(Graph &g) {
  Positions at;
  at.lengths = 5;
  at.table = 13;
  at.firstUnread = 6;
  at.lastUnread = 12;
  at.firstUnreadToo = at.lastUnreadToo = 14;
  if (isGiven(g, 4) && g.find("sparse_mode"))
    g.fail("\"sparse_mode\" is not an attribute of this operator");
  buildAttention(g, at);
}

void buildFused(Graph &g) {
  Positions at;
  at.rows = 5;
  at.lengths = 6;
  at.table = 14;
  at.prefix = 21;
  at.rope = 24;
  at.firstUnread = 7;
  at.lastUnread = 13;
  at.firstUnreadToo = 15;
  at.lastUnreadToo = 20;
  at.scale = "scale";
  at.before = at.after = INT32_MAX;
  buildAttention(g, at);
}

} // namespace

ArrayRef<OperatorRow> attentionRows() {
  static constexpr OperatorRow rows[] = {
      {"FusedInferAttentionScore", 3, buildFused},
      {"IncreFlashAttention", 3, buildIncremental},
      {"PromptFlashAttention", 3, buildPrompt},
  };
  return rows;
}

} // namespace atc::single_op
