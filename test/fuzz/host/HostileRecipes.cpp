//===-- HostileRecipes.cpp - shapes that belong together ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/host/HostileRecipes.h"

#include <algorithm>

namespace atc::fuzz {

using kernels::Dims;
using Below = std::function<int64_t(int64_t)>;

namespace {

/// Offsets and masks have a row per tap and group, and a column per window.
HostileRecipe deformConv(const Below &below) {
  HostileRecipe made;
  const int64_t spatial = 1 + below(3), groups = 1 + below(2), offsetGroups = 1 + below(2);
  const int64_t batch = 1 + below(2), perGroup = 1 + below(3);
  const int64_t channels = groups * offsetGroups * (1 + below(2)), out = groups * perGroup;
  Dims x(batch, channels), w(out, channels / groups), offset(batch), mask(batch);
  std::vector<int64_t> kernel, strides, dilations, pads(size_t(2 * spatial));
  Dims windows;
  int64_t taps = 1;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t size = 1 + below(6);
    kernel.push_back(1 + below(3));
    strides.push_back(1 + below(2));
    dilations.push_back(1 + below(2));
    const int64_t reach = (kernel.back() - 1) * dilations.back() + 1;
    pads[size_t(d)] = below(3);
    pads[size_t(d + spatial)] = std::max(below(3), reach - size - pads[size_t(d)]);
    x.push(size);
    w.push(kernel.back());
    windows.push((size + pads[size_t(d)] + pads[size_t(d + spatial)] - reach) / strides.back() + 1);
    taps *= kernel.back();
  }
  offset.push(offsetGroups * taps * spatial);
  mask.push(offsetGroups * taps);
  for (int64_t d = 0; d < spatial; ++d) {
    offset.push(windows[d]);
    mask.push(windows[d]);
  }
  made.dims = {x, w, offset, Dims(out), mask};
  made.integers = {{"group", {groups}},  {"offset_group", {offsetGroups}}, {"kernel_shape", kernel},
                   {"strides", strides}, {"dilations", dilations},         {"pads", pads}};
  return made;
}

/// The caches have half a column per element that is turned.
HostileRecipe rotaryEmbedding(const Below &below, bool isMicrosoft) {
  HostileRecipe made;
  const int64_t batch = 1 + below(3), length = 1 + below(4), heads = 1 + below(3);
  const int64_t half = 1 + below(4), size = 2 * half + (below(2) ? 2 * below(3) : 0);
  const bool packed = below(2), hasPositions = isMicrosoft || below(2);
  const int64_t rows = isMicrosoft ? length + below(4) : 5 + below(4);
  const Dims x = packed ? Dims(batch, length, heads * size) : Dims(batch, heads, length, size);
  const Dims cache = hasPositions ? Dims(rows, half) : Dims(batch, length, half);
  if (isMicrosoft)
    made.dims = {x, below(2) ? Dims(1) : Dims(batch, length), cache, cache};
  else if (hasPositions)
    made.dims = {x, cache, cache, Dims(batch, length)};
  else
    made.dims = {x, cache, cache};
  made.integers = {{"num_heads", {packed || 2 * half != size ? heads : 0}},
                   {"rotary_embedding_dim", {2 * half == size ? 0 : 2 * half}},
                   {"interleaved", {below(2)}}};
  return made;
}

/// Weights have a block of rows per gate.
HostileRecipe recurrent(const Below &below, int64_t gates) {
  HostileRecipe made;
  const int64_t steps = below(4), batch = 1 + below(3), in = 1 + below(4), hidden = 1 + below(5);
  const int64_t directions = below(3) ? 1 : 2, layout = below(2);
  const Dims state = layout ? Dims(batch, directions, hidden) : Dims(directions, batch, hidden);
  made.dims = {layout ? Dims(batch, steps, in) : Dims(steps, batch, in),
               Dims(directions, gates * hidden, in), Dims(directions, gates * hidden, hidden)};
  const Dims more[] = {Dims(directions, 2 * gates * hidden), Dims(batch), state, state,
                       Dims(directions, 3 * hidden)};
  const int64_t max = gates == 4 ? 5 : 3;
  for (int64_t i = 0, count = below(max + 1); i < count; ++i)
    made.dims.push_back(more[i]);
  made.integers = {{"hidden_size", {hidden}}, {"layout", {layout}}};
  return made;
}

/// Vectors of one width, which are counted, by classes or all.
HostileRecipe packVectors(const Below &below) {
  HostileRecipe made;
  const int64_t width = 1 + below(5), classes = 1 + below(3);
  std::vector<int64_t> perClass;
  int64_t count = 0;
  for (int64_t c = 0; c < classes; ++c)
    count += perClass.emplace_back(1 + below(20));
  if (below(2))
    made.integers = {{"n_supports", {count}}};
  else
    made.integers = {{"vectors_per_class", perClass}};
  // Of a list of floats only the length counts.
  made.integers["support_vectors"].resize(size_t(count * width));
  return made;
}

/// A key is two words.
HostileRecipe stringHash(const Below &below) {
  HostileRecipe made;
  made.dims = {Dims(below(4), 1 + below(3))};
  made.integers = {{"buckets", {1 + below(1000)}}, {"key", {below(1 << 30), below(1 << 30)}}};
  return made;
}

/// Images whose channels are in blocks of 16, or a few planes, and weights in the order of the
/// kernel.
HostileRecipe blockedConv(const Below &below, const std::string &kernel) {
  HostileRecipe made;
  constexpr int64_t block = 16;
  const bool isWinograd = kernel == "WinogradConv", isDepthwise = kernel == "BlockedDepthwiseConv";
  // Lines are long, so that tasks divide their columns.
  const bool isLine = below(8) == 0;
  const int64_t batch = 1 + below(2), height = isLine ? 1 : 1 + below(9);
  const int64_t width = 1 + below(isLine ? 400 : 40);
  const int64_t inBlocks = 1 + below(3), outBlocks = isDepthwise ? inBlocks : 1 + below(3);
  const int64_t rows = isWinograd ? 3 : 1 + below(3), columns = isWinograd ? 3 : 1 + below(3);
  const auto step = [&] { return isWinograd ? 1 : 1 + below(2); };
  const bool inPlanes = kernel == "BlockedConv" && below(2);
  const int64_t planes = 1 + below(block);
  made.dims.push_back(inPlanes ? Dims(batch, planes, height, width)
                               : Dims(batch, inBlocks, height, width, block));
  // More images, read as if they were joined, take part of the weights' blocks.
  const int64_t others = isDepthwise || inPlanes ? 0 : below(3);
  const int64_t allBlocks = inBlocks + others;
  if (isWinograd)
    made.dims.push_back(Dims(outBlocks, below(2) ? 16 : 36, allBlocks * block, block));
  else if (isDepthwise)
    made.dims.push_back(Dims(outBlocks, rows * columns, block));
  else
    // Where the weights have one block of inputs, each block of the image is a group.
    made.dims.push_back(Dims(outBlocks, inPlanes || below(4) == 0 ? 1 : allBlocks, rows * columns,
                             inPlanes ? planes : block, block));
  if (others) {
    made.dims.push_back(Dims(outBlocks * block));
    made.dims.push_back(Dims(1, 1, 1, 1, 1));
    made.dims.resize(made.dims.size() + size_t(others), Dims(batch, 1, height, width, block));
  }
  made.integers = {{"kernel_shape", {rows, columns}},
                   {"strides", {step(), step()}},
                   {"dilations", {step(), step()}},
                   {"pads", {below(4), below(4), below(4), below(4)}},
                   {"channels", {outBlocks * block - below(block)}}};
  return made;
}

/// Images of bytes in blocks of 16 channels, or a few planes, and weights in words of four.
HostileRecipe blockedByteConv(const Below &below, bool isDepthwise) {
  HostileRecipe made;
  constexpr int64_t block = 16, word = 4;
  const int64_t groups = isDepthwise ? 1 : 1 + below(2), inBlocks = groups * (1 + below(3));
  const int64_t outBlocks = isDepthwise ? inBlocks : groups * (1 + below(6));
  const int64_t batch = 1 + below(2), height = 1 + below(9), width = 1 + below(40);
  const int64_t rows = 1 + below(3), columns = 1 + below(6), planes = 1 + below(block);
  const bool inPlanes = !isDepthwise && groups == 1 && below(2);
  made.dims.push_back(inPlanes ? Dims(batch, planes, height, width)
                               : Dims(batch, inBlocks, height, width, block));
  if (isDepthwise)
    made.dims.push_back(Dims(outBlocks, rows, (columns + word - 1) / word, block, word));
  else
    made.dims.push_back(
        Dims(outBlocks, rows * columns,
             inPlanes ? (planes + word - 1) / word : inBlocks / groups * word - below(word), block,
             word));
  made.dims.insert(made.dims.end(),
                   {Dims(outBlocks * block), Dims(outBlocks * block), Dims(), Dims()});
  made.integers = {{"kernel_shape", {rows, columns}},
                   {"strides", {1 + below(3), 1 + below(3)}},
                   {"dilations", {1 + below(3), 1 + below(3)}},
                   {"pads", {below(7) - 2, below(7) - 2, below(7) - 2, below(7) - 2}},
                   {"group", {groups}}};
  return made;
}

/// Returns what the sums of `count` packed rows or columns may be: anything.
std::vector<int64_t> packedSums(const Below &below, int64_t count) {
  std::vector<int64_t> sums(static_cast<size_t>(count));
  for (int64_t &sum : sums)
    sum = below(2) ? below(1 << 16) : -below(int64_t(1) << 40);
  return sums;
}

/// A scale, or a zero point: one, or one per channel.
Dims oneOrEach(const Below &below, int64_t channels) { return below(2) ? Dims(channels) : Dims(); }

/// Convolutions of bytes: filters in order with their sums, depthwise ones, and others.
HostileRecipe byteConv(const Below &below, bool isQuantized) {
  HostileRecipe made;
  enum { Packed, Depthwise, Other };
  const int64_t form = below(3), spatial = 1 + below(3);
  const int64_t in = form == Packed ? 4 * (1 + below(3)) : form == Depthwise ? 1 : 1 + below(6);
  const int64_t groups = 1 + below(form == Depthwise ? 9 : 2), out = groups * (1 + below(6));
  Dims x(1 + below(2), groups * in), w(out, in);
  std::vector<int64_t> kernel, strides, dilations, pads;
  for (int64_t d = 0; d < spatial; ++d) {
    x.push(1 + below(d + 1 == spatial ? 70 : 9));
    w.push(kernel.emplace_back(1 + below(4)));
    strides.push_back(1 + below(3));
    dilations.push_back(1 + below(3));
  }
  for (int64_t d = 0; d < 2 * spatial; ++d)
    pads.push_back(below(7) - 1);
  const Dims perRow = oneOrEach(below, out);
  if (isQuantized)
    made.dims = {x, Dims(), Dims(), w, oneOrEach(below, out), perRow, Dims(), Dims(), Dims(out)};
  else
    made.dims = {x, w, Dims(), perRow};
  made.integers = {{"group", {groups}},
                   {"kernel_shape", kernel},
                   {"strides", strides},
                   {"dilations", dilations},
                   {"pads", pads}};
  if (form == Packed)
    made.integers["packed"] = packedSums(below, out);
  return made;
}

/// Products of bytes, some of matrices in panels with their sums.
HostileRecipe byteProduct(const Below &below, const std::string &kernel) {
  HostileRecipe made;
  const bool isPacked = below(2);
  const int64_t m = 1 + below(below(4) ? 8 : 120);
  const int64_t k = isPacked ? 4 * (1 + below(below(4) ? 8 : 200)) : 1 + below(below(4) ? 20 : 800);
  const int64_t n = isPacked ? 16 * (1 + below(6)) : 1 + below(90);
  const bool transA = kernel == "QGemm" && below(2), transB = kernel == "QGemm" && below(2);
  const Dims a = transA ? Dims(k, m) : Dims(m, k), b = transB ? Dims(n, k) : Dims(k, n);
  const Dims scales = oneOrEach(below, n), zeros = oneOrEach(below, n);
  if (kernel == "MatMulInteger")
    made.dims = {a, b, oneOrEach(below, m), zeros};
  else if (kernel == "QLinearMatMul")
    made.dims = {a, Dims(), Dims(), b, scales, zeros, Dims(), Dims()};
  else if (kernel == "DynamicQuantizeMatMul")
    made.dims = {a, b, scales, zeros, Dims(n)};
  else if (kernel == "MatMulIntegerToFloat")
    made.dims = {a, b, Dims(), scales, Dims(), zeros, Dims(n)};
  else
    made.dims = {a, Dims(), Dims(), b, scales, zeros, Dims(n), Dims(), Dims()};
  made.integers = {{"transA", {transA}}, {"transB", {transB}}};
  if (isPacked)
    made.integers["packed"] = packedSums(below, n);
  return made;
}

/// Each part of a joined tensor has a scale and a zero point.
HostileRecipe quantizedConcat(const Below &below) {
  HostileRecipe made;
  const uint8_t byte = below(2) ? kernels::U8 : kernels::I8;
  const int64_t rank = 1 + below(4), axis = below(rank);
  Dims dims;
  for (int64_t d = 0; d < rank; ++d)
    dims.push(below(6));
  made.dims = {Dims(), Dims()};
  made.dtypes = {kernels::F32, byte};
  for (int64_t part = 1 + below(4); part > 0; --part) {
    dims[axis] = below(40);
    made.dims.insert(made.dims.end(), {dims, Dims(), Dims()});
    made.dtypes.insert(made.dtypes.end(), {byte, kernels::F32, byte});
  }
  made.integers = {{"axis", {axis - below(2) * rank}}};
  return made;
}

/// Queries, with keys and values or in one tensor with them, a past in floats or quantized, some of
/// a window, and what rotates, adds, and normalizes.
HostileRecipe groupQuery(const Below &below) {
  HostileRecipe made;
  enum { Floats, Bytes, Nibbles };
  const int64_t form = std::max(below(5) - 2, int64_t(0));
  const int64_t keyHeads = 1 + below(3), heads = keyHeads * (1 + below(3));
  const int64_t size = form == Nibbles ? 2 * (1 + below(5)) : 1 + below(9);
  const int64_t batch = 1 + below(2), length = 1 + below(below(4) ? 3 : 12), room = below(7);
  const bool isPacked = below(2), isRotated = size > 1 && below(2), isWindow = below(2);
  const bool isPerChannel = below(2), isCounted = below(2), isNormed = below(3) == 0;
  const Dims past(batch, keyHeads, room, form == Nibbles ? size / 2 : size);
  const Dims table(1 + below(20), std::max(size / 2 - below(2), int64_t(1))), norm(size);
  const Dims scale = isPerChannel ? Dims(1, keyHeads, 1, size) : Dims(1);
  // Sequences are as long as the total, shorter, or as long as the past has room for.
  std::vector<int32_t> ends, fresh;
  const int64_t total = std::max(length, below(4) ? room : below(room + length + 1));
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t end = below(2) ? total : 1 + below(std::max(total, room));
    ends.push_back(int32_t(end - 1));
    fresh.push_back(int32_t(below(std::min(length, end) + 1)));
  }
  made.elements = {{5, ends}, {6, {int32_t(total)}}, {16, fresh}};
  const Dims bias(below(2) ? batch : 1, below(2) ? heads : 1, length, total + below(2));
  const Dims all[] = {Dims(batch, length, (isPacked ? heads + 2 * keyHeads : heads) * size),
                      Dims(batch, length, keyHeads * size),
                      Dims(batch, length, keyHeads * size),
                      past,
                      past,
                      Dims(batch),
                      Dims(1),
                      table,
                      table,
                      Dims(batch, length),
                      bias,
                      Dims(heads),
                      scale,
                      scale,
                      norm,
                      norm,
                      Dims(batch)};
  made.dims.assign(std::begin(all), std::end(all));
  auto leaveOut = [&](bool isAbsent, std::initializer_list<size_t> inputs) {
    if (isAbsent)
      made.absent.insert(made.absent.end(), inputs);
  };
  leaveOut(isPacked, {1, 2});
  leaveOut(!isRotated, {7, 8});
  leaveOut(below(3) != 0, {9});
  leaveOut(below(2), {10});
  leaveOut(below(2), {11});
  leaveOut(form == Floats, {12, 13});
  leaveOut(!isNormed, {14, 15});
  leaveOut(!isCounted, {16});
  made.integers = {
      {"num_heads", {heads}}, {"kv_num_heads", {keyHeads}}, {"do_rotary", {isRotated}}};
  if (isCounted)
    made.integers["causal"] = {1};
  if (isWindow) {
    made.integers["sliding_window_cache"] = {1};
    made.integers["local_window_size"] = {1 + below(std::max(room, int64_t(3)))};
  }
  if (form != Floats) {
    const uint8_t f32 = kernels::F32, i32 = kernels::I32;
    const uint8_t own = form == Bytes ? kernels::I8 : kernels::U8;
    made.dtypes = {f32,          f32, f32, own, own, i32, i32, f32, f32,
                   kernels::I64, f32, f32, f32, f32, f32, f32, i32};
    made.integers["kv_cache_bit_width"] = {form == Bytes ? 8 : 4};
    made.words["k_quant_type"] = made.words["v_quant_type"] =
        isPerChannel ? "PER_CHANNEL" : "PER_TENSOR";
  }
  return made;
}

/// Sequences beside the states that they leave, some of the last few states.
HostileRecipe linearAttention(const Below &below, bool isMicrosoft) {
  HostileRecipe made;
  const int64_t heads = 1 + below(3), each = 1 + below(3), size = 1 + below(5),
                values = 1 + below(5);
  const bool sharesStates = below(2);
  const int64_t queries = sharesStates ? heads * each : heads;
  const int64_t shared = sharesStates ? heads : heads * each;
  const int64_t batch = 1 + below(2), steps = below(5), window = isMicrosoft ? below(4) : 0;
  const Dims state(batch, shared, size, values), states(window, batch, shared, size, values);
  made.dims = {Dims(batch, steps, queries * size),
               Dims(batch, steps, shared * size),
               Dims(batch, steps, shared * values),
               window ? states : state,
               Dims(batch, steps, below(2) ? shared : shared * size),
               Dims(batch, steps, below(2) ? shared : 1)};
  if (below(2))
    made.absent = {3};
  made.integers = {{"q_num_heads", {queries}}, {"kv_num_heads", {shared}}};
  if (isMicrosoft)
    made.integers["state_window"] = {window};
  static constexpr const char *rules[] = {"linear", "gated", "delta", "gated_delta"};
  made.words["update_rule"] = rules[below(4)];
  return made;
}

/// Lines of channels beside the positions that come before them.
HostileRecipe causalConv(const Below &below, bool isMicrosoft) {
  HostileRecipe made;
  const int64_t batch = 1 + below(2), channels = 1 + below(5), length = below(6),
                taps = 1 + below(4);
  const bool isLast = isMicrosoft && below(2);
  const int64_t dilation = isMicrosoft ? 1 + below(3) : 1, window = isMicrosoft ? below(4) : 0;
  const int64_t before = (taps - 1) * dilation;
  auto dimsOf = [&](int64_t positions) {
    return isLast ? Dims(batch, positions, channels) : Dims(batch, channels, positions);
  };
  Dims state = dimsOf(before);
  if (window)
    state = Dims(window, state[0], state[1], state[2]);
  made.dims = {dimsOf(length), Dims(channels, 1, taps), Dims(channels), state};
  if (below(2))
    made.absent = {3};
  if (isMicrosoft)
    made.integers = {
        {"channels_last", {isLast}}, {"dilation", {dilation}}, {"state_window", {window}}};
  static constexpr const char *activations[] = {"none", "silu", "swish"};
  made.words["activation"] = activations[below(3)];
  return made;
}

} // namespace

HostileRecipe hostileRecipeFor(const std::string &kernel, const Below &below) {
  if (kernel == "DeformConv")
    return deformConv(below);
  if (kernel == "RotaryEmbedding" || kernel == "MsRotaryEmbedding")
    return rotaryEmbedding(below, kernel[0] == 'M');
  if (kernel == "RNN" || kernel == "GRU" || kernel == "LSTM")
    return recurrent(below, kernel == "RNN" ? 1 : kernel == "GRU" ? 3 : 4);
  if (kernel == "PackVectors")
    return packVectors(below);
  if (kernel == "ConvInteger" || kernel == "QLinearConv")
    return byteConv(below, kernel == "QLinearConv");
  if (kernel == "MatMulInteger" || kernel == "QLinearMatMul" || kernel == "QGemm" ||
      kernel == "DynamicQuantizeMatMul" || kernel == "MatMulIntegerToFloat")
    return byteProduct(below, kernel);
  if (kernel == "QLinearConcat")
    return quantizedConcat(below);
  if (kernel == "GroupQueryAttention")
    return groupQuery(below);
  if (kernel == "LinearAttention" || kernel == "MsLinearAttention")
    return linearAttention(below, kernel[0] == 'M');
  if (kernel == "CausalConvWithState" || kernel == "MsCausalConvWithState")
    return causalConv(below, kernel[0] == 'M');
  if (kernel == "StringHash")
    return stringHash(below);
  if (kernel == "BlockedConv" || kernel == "BlockedDepthwiseConv" || kernel == "WinogradConv")
    return blockedConv(below, kernel);
  if (kernel == "BlockedQLinearConv" || kernel == "BlockedQLinearDepthwiseConv")
    return blockedByteConv(below, kernel == "BlockedQLinearDepthwiseConv");
  return {};
}

} // namespace atc::fuzz
