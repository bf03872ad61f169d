//===-- OlderOperatorTest.cpp - operators that are replaced by others -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "test/frontends/tf/GraphOfConstants.h"

using namespace atc::tf_test;

TEST_CASE("Older and fused operators become others") {
  auto norm = [](const std::string &op, const std::string &attributes) {
    Graph graph;
    graph.floats("x", {1, 1, 1, 2}, {3, -6})
        .floats("a", {2}, {1, 2})
        .floats("b", {2}, {2.75, 15.75});
    graph.floats("c", {2}, {10, -20}).floats("d", {2}, {4, 8}).floats("s", {1, 1, 1, 2}, {1, 17});
    return graph.node(op, "x " + std::string(op[0] == '_' ? "d c a b s" : "a b c d"), attributes)
        .evaluate();
  };
  const std::string ofVariables = "variance_epsilon f: 0.25; scale_after_normalization b: ";
  // (3 - 1) / sqrt(3), and (-6 - 2) / sqrt(16)
  const Numbers plain = norm("BatchNormWithGlobalNormalization", ofVariables + "false");
  CHECK(plain[0] == Approx(10 + 2 / std::sqrt(3.0)));
  CHECK(plain[1] == Approx(-22));
  CHECK(norm("BatchNormWithGlobalNormalization", ofVariables + "true")[1] == Approx(-36));
  const Numbers fused =
      norm("_FusedBatchNormEx", "epsilon f: 0.25; is_training b: false; "
                                "activation_mode s: 'Relu'; num_side_inputs i: 1");
  CHECK(fused[0] == Approx(10 + 8 / std::sqrt(3.0) + 1));
  CHECK(fused[1] == 0);
  Graph band;
  band.floats("x", {2, 2}, {1, 2, 3, 4}).ints("l", {}, {0}).ints("u", {}, {-1});
  CHECK(band.node("BatchMatrixBandPart", "x l u").evaluate() == Numbers{1, 2, 0, 4});
  Graph empty;
  empty.ints("s", {2}, {1, 2}).node("Empty", "s", "dtype type: DT_INT64; init b: true");
  CHECK(empty.evaluate() == Numbers{0, 0});
  // What is not complete stays, and is refused by its own name.
  Graph window;
  window.input("x", "FLOAT", {1, 4, 4, 1}).input("k", "INT32", {4}).ints("s", {4}, {1, 1, 1, 1});
  window.node("MaxPoolV2", "x k s", "padding s: 'SAME'");
  CHECK(window.errorText().find("MaxPoolV2") != std::string::npos);
}

TEST_CASE("Bits as elements of other widths") {
  Graph graph;
  graph.ints("x", {2}, {258, -2}).node("Bitcast", "x", "type type: DT_UINT8", "bytes");
  graph.node("Bitcast", "bytes", "type type: DT_INT32", "back");
  graph.node("Bitcast", "x", "type type: DT_INT64");
  CHECK(graph.evaluate("bytes") == Numbers{2, 1, 0, 0, 254, 255, 255, 255});
  CHECK(graph.evaluate("back") == Numbers{258, -2});
  CHECK(graph.evaluate() == Numbers{-8589934334.0});
  Graph odd;
  odd.ints("x", {3}, {1, 2, 3}).node("Bitcast", "x", "type type: DT_INT64");
  CHECK(odd.errorText().find("has 3 elements along its last dim, expected the 2") !=
        std::string::npos);
}

TEST_CASE("Crossed features have the same number of rows") {
  const std::string attributes = "hash_key i: 7; hashed_output b: true; num_buckets i: 10; N i: ";
  Graph graph;
  graph.input("at", "INT64", {3, 2}).input("v", "INT64", {3}).constant("s", "INT64", {2}, {2, 2});
  graph.input("d", "INT64", {5, 2}).node("SparseCross", "at v s d", attributes + "1");
  CHECK(graph.errorText().find("has 5 rows, expected 2") != std::string::npos);
  Graph many;
  many.input("at", "INT64", {3, 2}).input("v", "INT64", {3}).constant("s", "INT64", {2}, {2, 2});
  many.node("SparseCross", "at v s", attributes + "6148914691236517206");
  CHECK(many.errorText().find("which the inputs do not fit") != std::string::npos);
}

TEST_CASE("The shape of a sparse tensor has one open dim") {
  Graph graph;
  graph.input("at", "INT64", {2, 2}).constant("s", "INT64", {2}, {4, 4});
  graph.constant("n", "INT64", {3}, {-1, 2, -1}).node("SparseReshape", "at s n");
  CHECK(graph.errorText().find("leaves 2 dims open, expected at most one") != std::string::npos);
}

namespace {

/// Appends a tensor of numbers, quantized as MIN_FIRST says.
Graph &quantized(Graph &graph, const std::string &name, std::initializer_list<int64_t> dims,
                 const Numbers &values, double min, double max) {
  graph.floats(name + "_x", dims, values).floats(name + "_low", {}, {min});
  graph.floats(name + "_high", {}, {max});
  return graph.node("QuantizeV2", name + "_x " + name + "_low " + name + "_high",
                    "T type: DT_QUINT8; mode s: 'MIN_FIRST'", name);
}

void checkEnds(Graph &graph, const std::string &node, double min, double max) {
  CHECK(graph.evaluate(node + ":1")[0] == Approx(min));
  CHECK(graph.evaluate(node + ":2")[0] == Approx(max));
}

} // namespace

// The numbers are those of TensorFlow 2.21.
TEST_CASE("Numbers as integers with a range") {
  auto quantize = [](const std::string &attributes, double min) {
    Graph graph;
    graph.floats("x", {4}, {-1.5, -.25, .5, 2.75}).floats("l", {}, {-1}).floats("h", {1}, {2});
    graph.node("QuantizeV2", "x l h", attributes);
    CHECK(graph.evaluate("y:1")[0] == Approx(min));
    CHECK(graph.evaluate("y:2")[0] == 2);
    return graph.evaluate();
  };
  const std::string u8 = "T type: DT_QUINT8; mode s: ", i8 = "T type: DT_QINT8; mode s: ";
  CHECK(quantize(u8 + "'MIN_FIRST'", -1) == Numbers{0, 64, 128, 255});
  CHECK(quantize(i8 + "'MIN_FIRST'", -1) == Numbers{-128, -64, 0, 127});
  CHECK(quantize(u8 + "'MIN_COMBINED'", -1) == Numbers{0, 64, 128, 255});
  CHECK(quantize(i8 + "'MIN_COMBINED'", -1) == Numbers{-128, -64, -1, 127});
  CHECK(quantize(u8 + "'SCALED'", 0) == Numbers{0, 0, 64, 255});
  CHECK(quantize(i8 + "'SCALED'", -2.0157480239868164) == Numbers{-95, -16, 32, 127});
  Graph sliced;
  sliced.floats("x", {2}, {1, 2}).floats("l", {2}, {-1, -1}).floats("h", {2}, {2, 2});
  sliced.node("QuantizeV2", "x l h", "T type: DT_QUINT8; axis i: 0");
  CHECK(sliced.errorText().find("QuantizeV2") != std::string::npos);
}

TEST_CASE("Networks of integers with ranges that they compute") {
  Graph graph;
  quantized(graph, "q", {1, 2, 2, 1}, {-1.5, -.25, .5, 2.75}, -1.5, 2.75);
  quantized(graph, "w", {1, 2, 1, 2}, {1, -2, .5, .25}, -2, 1);
  quantized(graph, "v", {2}, {1, -2}, -2, 1);
  graph.node("QuantizedConv2D", "q w q:1 q:2 w:1 w:2",
             "Tinput type: DT_QUINT8; Tfilter type: DT_QUINT8; out_type type: DT_QINT32; "
             "strides list { i: [1, 1, 1, 1] }; padding s: 'SAME'",
             "c");
  CHECK(graph.evaluate("c") == Numbers{-8295, 14985, -1275, 2550, 9645, -1635, 14025, -28050});
  checkEnds(graph, "c", -421075.25, 421075.25);
  graph.node("RequantizationRange", "c c:1 c:2", "Tinput type: DT_QINT32", "u");
  graph.node("Requantize", "c c:1 c:2 u u:1", "Tinput type: DT_QINT32; out_type type: DT_QUINT8",
             "r");
  CHECK(graph.evaluate("r") == Numbers{117, 255, 159, 181, 223, 157, 249, 0});
  checkEnds(graph, "r", -5.499902248382568, 2.938333511352539);
  graph.node("QuantizedBiasAdd", "r v r:1 r:2 v:1 v:2",
             "T1 type: DT_QUINT8; T2 type: DT_QUINT8; out_type type: DT_QINT32", "b");
  CHECK(graph.evaluate("b") == Numbers{-2107, 2559, 2033, -4735, 8342, -7101, 10905, -22578});
  checkEnds(graph, "b", -720883.1875, 720883.1875);
  graph.node("QuantizeDownAndShrinkRange", "b b:1 b:2",
             "Tinput type: DT_QINT32; out_type type: DT_QUINT8", "d");
  CHECK(graph.evaluate("d") == Numbers{156, 191, 187, 136, 235, 118, 255, 0});
  checkEnds(graph, "d", -7.578982353210449, 3.6608388423919678);
  graph.node("QuantizedRelu", "d d:1 d:2", "Tinput type: DT_QUINT8; out_type type: DT_QUINT8", "l");
  CHECK(graph.evaluate("l") == Numbers{172, 191, 187, 172, 235, 172, 255, 172});
  const std::string window = "T type: DT_QUINT8; ksize list { i: [1, 2, 2, 1] }; "
                             "strides list { i: [1, 1, 1, 1] }; padding s: 'VALID'";
  graph.node("QuantizedMaxPool", "l l:1 l:2", window, "m");
  graph.node("QuantizedAvgPool", "l l:1 l:2", window, "p");
  CHECK(graph.evaluate("m") == Numbers{255, 191});
  CHECK(graph.evaluate("p") == Numbers{212, 176});
  for (auto [mode, first] :
       {std::pair("MIN_FIRST", 1.7631096839904785), std::pair("MIN_COMBINED", 1.7654972076416016),
        std::pair("SCALED", 3.043520927429199)}) {
    graph.node("Dequantize", "p p:1 p:2", "T type: DT_QUINT8; mode s: '" + std::string(mode) + "'",
               mode);
    CHECK(graph.evaluate(mode)[0] == Approx(first));
  }
}

TEST_CASE("Arithmetic of integers with ranges") {
  Graph graph;
  quantized(graph, "a", {4}, {-1.5, -.25, .5, 2.75}, -1.5, 2.75);
  quantized(graph, "b", {4}, {-.75, -.125, .25, 1.375}, -1, 1.5);
  const std::string inputs = "a b a:1 a:2 b:1 b:2",
                    types = "T1 type: DT_QUINT8; T2 type: DT_QUINT8; Toutput type: DT_QINT32";
  graph.node("QuantizedAdd", inputs, types, "sum").node("QuantizedMul", inputs, types, "product");
  CHECK(graph.evaluate("sum") == Numbers{-107457, -17880, 36147, 196824});
  checkEnds(graph, "sum", -45056, 45056);
  quantized(graph, "one", {1}, {1.375}, -1, 1.5);
  graph.node("QuantizedAdd", "a one a:1 a:2 one:1 one:2", types, "moved");
  CHECK(graph.evaluate("moved") == Numbers{-6075, 53550, 89325, 196650});
  CHECK(graph.evaluate("product") == Numbers{6930, 195, 780, 23100});
  checkEnds(graph, "product", -350896.0625, 350896.0625);
  graph.ints("n", {}, {0}).ints("s", {2}, {2, 2});
  graph.node("QuantizedConcat", "n a b a:1 b:1 a:2 b:2", "T type: DT_QUINT8; N i: 2", "both");
  CHECK(graph.evaluate("both") == Numbers{0, 75, 120, 255, 45, 82, 105, 172});
  checkEnds(graph, "both", -1.5, 2.75);
  graph.node("QuantizedReshape", "a s a:1 a:2", "T type: DT_QUINT8", "c");
  graph.node("QuantizedReshape", "b s b:1 b:2", "T type: DT_QUINT8", "d");
  graph.node("QuantizedMatMul", "c d c:1 c:2 d:1 d:2", types + "; transpose_b b: true");
  CHECK(graph.evaluate() == Numbers{7125, -4440, -4455, 23880});
  graph.node("QuantizedRelu6", "a a:1 a:2", "Tinput type: DT_QUINT8; out_type type: DT_QUINT8",
             "most");
  CHECK(graph.evaluate("most") == Numbers{90, 90, 120, 255});
}

namespace {

/// Appends bytes of a quantized type.
Graph &bytes(Graph &graph, const std::string &name, std::initializer_list<int64_t> dims,
             const Numbers &values, const std::string &type) {
  graph.ints(name + "_x", dims, values);
  return graph.node("Cast", name + "_x", "DstT type: DT_" + type, name);
}

} // namespace

// The numbers are those of TensorFlow 2.21 with oneDNN, but for MIN_FIRST.
TEST_CASE("Products of bytes and what is fused behind them") {
  const Numbers x = {0, 100, 200, 255}, w = {127, -64, 30, 90};
  auto ranges = [](Graph &graph) {
    graph.floats("b", {2}, {.5, -.25}).floats("l", {}, {0}).floats("h", {}, {2});
    graph.floats("fl", {2}, {-1, -.5}).floats("fh", {2}, {1, .25});
  };
  auto conv = [&](const std::string &op, const std::string &type, double low, double min,
                  double max) {
    Graph graph;
    bytes(graph, "x", {1, 2, 2, 1}, x, "QUINT8");
    bytes(graph, "w", {1, 2, 1, 2}, w, "QINT8");
    ranges(graph);
    graph.floats("rl", {}, {low}).floats("rh", {}, {3});
    const std::string isStated = type == "QINT32" ? "" : " rl rh";
    graph.node("QuantizedConv2DWithBias" + op, "x w b l h fl fh" + isStated,
               "Tinput type: DT_QUINT8; Tfilter type: DT_QINT8; Tbias type: DT_FLOAT; "
               "strides list { i: [1, 1, 1, 1] }; padding s: 'SAME'; out_type type: DT_" +
                   type);
    CHECK(graph.evaluate("y:1")[0] == Approx(min));
    CHECK(graph.evaluate("y:2")[0] == Approx(max));
    return graph.evaluate();
  };
  CHECK(conv("", "QINT32", 0, -132622.125, 132622.125) ==
        Numbers{11096, 452, 20796, -7248, 41146, 1027, 40481, -12208});
  CHECK(conv("AndReluAndRequantize", "QUINT8", 0, 0, 3) == Numbers{58, 2, 109, 0, 216, 5, 212, 0});
  CHECK(conv("AndRequantize", "QINT8", -1, -1, 3) == Numbers{29, 1, 54, -19, 108, 3, 106, -32});
  auto product = [&](const std::string &op, double low, const std::string &attributes) {
    Graph graph;
    bytes(graph, "x", {2, 2}, x, "QUINT8");
    bytes(graph, "w", {2, 2}, w, "QINT8");
    ranges(graph);
    graph.floats("xl", {}, {low}).floats("wl", {}, {-1}).floats("wh", {}, {.75});
    const std::string isStated = op == "AndDequantize" ? " l h" : "";
    graph.node("QuantizedMatMulWithBias" + op, "x w b xl h wl wh" + isStated,
               "T1 type: DT_QUINT8; T2 type: DT_QINT8; Tbias type: DT_FLOAT; " + attributes);
    return graph.evaluate();
  };
  CHECK(product("AndRelu", 0, "input_quant_mode s: 'SCALED'; Toutput type: DT_QINT32") ==
        Numbers{11096, 4952, 41146, 6102});
  const Numbers scaled =
      product("AndDequantize", 0, "input_quant_mode s: 'SCALED'; Toutput type: DT_FLOAT");
  CHECK(scaled[0] == Approx(.68527096));
  CHECK(scaled[3] == Approx(.37683344));
  // -1 * 1 + (-1 + 300 / 255) * 30 / 127 + .5
  const Numbers first = product("AndDequantize", -1, "Toutput type: DT_FLOAT");
  CHECK(first[0] == Approx(-.45831404));
  // A summand of 8 bits with the range of the result: 58 + 10.
  Graph sum;
  bytes(sum, "x", {1, 1, 1, 1}, {100}, "QUINT8");
  bytes(sum, "w", {1, 1, 1, 1}, {64}, "QINT8");
  bytes(sum, "s", {1, 1, 1, 1}, {10}, "QUINT8");
  sum.floats("b", {1}, {.25}).floats("l", {}, {0}).floats("h", {}, {2});
  sum.node("QuantizedConv2DWithBiasSumAndReluAndRequantize", "x w b l h l h l h s l h",
           "Tinput type: DT_QUINT8; Tfilter type: DT_QINT8; Tbias type: DT_FLOAT; "
           "Tsummand type: DT_QUINT8; strides list { i: [1, 1, 1, 1] }; padding s: 'SAME'; "
           "out_type type: DT_QUINT8");
  CHECK(sum.evaluate() == Numbers{143}); // (100 / 127.5) * (64 / 63.5) * 127.5 + 32 + 10
}

// Keras quantizes layers to these.
TEST_CASE("Sums of a product of bytes are wider than these") {
  for (int64_t rows : {2, -1}) {
    Graph graph;
    graph.input("x", "INT8", {rows, 3}).constant("w", "INT8", {3, 2}, {1, 2, 3, 4, 5, 6});
    graph.node("BatchMatMulV3", "x w", "Ta type: DT_INT8; Tb type: DT_INT8; Tout type: DT_INT32");
    graph.import("y");
    auto type = cast<RankedTensorType>(graph.main().getResultTypes()[0]);
    CHECK(type.getElementType().isInteger(32));
    // Bytes stay bytes.
    graph.main().walk([](Operation *op) { CHECK(op->getName().stripDialect() != "cast"); });
  }
  Graph empty;
  empty.input("x", "INT8", {2, 0}).constant("w", "INT8", {0, 3}, {});
  empty.node("BatchMatMulV3", "x w", "Ta type: DT_INT8; Tb type: DT_INT8; Tout type: DT_INT32");
  empty.import("y");
  CHECK(cast<RankedTensorType>(empty.main().getResultTypes()[0]).getShape() ==
        ArrayRef<int64_t>{2, 3});
}

TEST_CASE("Gradients inside a model") {
  auto ofOne = [](const std::string &op, const Numbers &a, const Numbers &b,
                  const std::string &attributes = "") {
    Graph graph;
    graph.floats("a", {3}, a).floats("b", {3}, b);
    return graph.node(op, "a b", "T type: DT_FLOAT" + attributes).evaluate();
  };
  const Numbers slopes = {1, 2, 3}, x = {-1, .5, 7}, results = {.5, .25, 1};
  CHECK(ofOne("ReluGrad", slopes, x) == Numbers{0, 2, 3});
  CHECK(ofOne("Relu6Grad", slopes, x) == Numbers{0, 2, 0});
  CHECK(ofOne("LeakyReluGrad", slopes, x, "; alpha f: 0.5") == Numbers{.5, 2, 3});
  CHECK(ofOne("EluGrad", slopes, {-.5, .5, 7}) == Numbers{.5, 2, 3});
  CHECK(ofOne("SeluGrad", slopes, x)[0] == Approx(.758099341));
  CHECK(ofOne("SeluGrad", slopes, x)[1] == Approx(2 * 1.050700987));
  CHECK(ofOne("SoftplusGrad", slopes, x)[1] == Approx(2 / (1 + std::exp(-.5))));
  CHECK(ofOne("SoftsignGrad", slopes, x)[2] == Approx(3.0 / 64));
  CHECK(ofOne("SigmoidGrad", results, slopes) == Numbers{.25, .375, 0});
  CHECK(ofOne("TanhGrad", results, slopes) == Numbers{.75, 1.875, 0});
  CHECK(ofOne("SqrtGrad", results, slopes) == Numbers{1, 4, 1.5});
  CHECK(ofOne("RsqrtGrad", results, slopes) == Numbers{-.0625, -.015625, -1.5});
  CHECK(ofOne("ReciprocalGrad", results, slopes) == Numbers{-.25, -.125, -3});
  // A gradient of 0 stays 0 where the derivative is infinite; an infinite one is not masked.
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(ofOne("SqrtGrad", {0, 0, 1}, {0, 1, 0}) == Numbers{0, infinity, 0});
  for (const std::string op : {"RsqrtGrad", "ReciprocalGrad", "InvGrad"})
    CHECK(ofOne(op, {infinity, infinity, 1}, {0, 1, 0}) == Numbers{0, -infinity, 0});
  for (const std::string op : {"ReluGrad", "Relu6Grad"}) {
    const Numbers masked = ofOne(op, {infinity, infinity, 1}, {-1, 1, 2});
    CHECK(std::isnan(masked[0]));
    CHECK(masked[1] == infinity);
  }
  Graph wide;
  wide.constant("y", "DOUBLE", {1}, {0}).constant("dy", "DOUBLE", {1}, {3});
  wide.node("SeluGrad", "dy y", "T type: DT_DOUBLE", "z");
  CHECK(std::abs(wide.evaluate("z")[0] - 3 * 1.0507009873554804934) < 1e-12);
  Graph shapes;
  shapes.ints("a", {3}, {3, 1, 4}).ints("b", {2}, {2, 1}).ints("axis", {}, {-1});
  shapes.ints("p", {2}, {2, 3}).ints("q", {2}, {2, 4});
  shapes.node("BroadcastGradientArgs", "a b", "T type: DT_INT32", "axes");
  CHECK(shapes.evaluate("axes") == Numbers{1});
  CHECK(shapes.evaluate("axes:1") == Numbers{0, 2});
  shapes.node("BroadcastGradientArgs", "a a", "T type: DT_INT32", "none");
  CHECK(shapes.evaluate("none").empty());
  shapes.node("ConcatOffset", "axis p q p", "N i: 3; shape_type type: DT_INT32");
  CHECK(shapes.evaluate() == Numbers{0, 0});
  CHECK(shapes.evaluate("y:2") == Numbers{0, 7});
  Graph sums;
  sums.floats("x", {1, 2, 2}, {1, 2, 3, 4});
  CHECK(sums.node("BiasAddGrad", "x").evaluate() == Numbers{4, 6});
  CHECK(sums.node("BiasAddGrad", "x", "data_format s: 'NCHW'", "z").evaluate("z") == Numbers{3, 7});
  Graph slice;
  slice.ints("s", {1}, {5}).ints("b", {1}, {1}).ints("e", {1}, {4}).ints("d", {1}, {2});
  slice.floats("g", {2}, {7, 8}).node("StridedSliceGrad", "s b e d g");
  CHECK(slice.evaluate() == Numbers{0, 7, 0, 8, 0});
  Graph norm;
  norm.floats("g", {1, 1, 2, 1}, {1, 2}).floats("x", {1, 1, 2, 1}, {3, 5});
  norm.floats("s", {1}, {.5}).floats("m", {1}, {1}).floats("v", {1}, {15.75});
  norm.node("FusedBatchNormGradV3", "g x s m v v",
            "T type: DT_FLOAT; is_training b: false; epsilon f: 0.25");
  CHECK(norm.evaluate() == Numbers{.125, .25});
  CHECK(norm.evaluate("y:1") == Numbers{2.5});
  CHECK(norm.evaluate("y:2") == Numbers{3});
}

TEST_CASE("Sizes of transposed convolutions that are known at run time") {
  Graph graph;
  graph.input("s", "INT32", {3}).input("x", "FLOAT", {-1, -1, -1, 1});
  graph.floats("w", {1, 1, 1, 1}, {1});
  graph.node("Conv2DBackpropInput", "s w x", "strides list { i: [1, 2, 2, 1] }; padding s: 'SAME'");
  CHECK_THAT(graph.errorText(), Catch::Contains("has 3 dims, expected 4"));
}

TEST_CASE("Positions of the largest elements have the stated type") {
  Graph graph;
  graph.floats("x", {3}, {1, 3, 2}).ints("k", {}, {2});
  graph.node("TopKV2", "x k", "index_type type: DT_INT16");
  CHECK(graph.evaluate("y:1") == Numbers{1, 2});
  CHECK(cast<RankedTensorType>(graph.main().getResultTypes()[0]).getElementType().isInteger(16));
}

TEST_CASE("Parts of ragged tensors have a rank") {
  Graph graph;
  graph.input("x", "FLOAT", {-1}).input("b", "INT64", {-1}).input("e", "INT64", {-1});
  graph.constant("s", "INT64", {}, {1}).ints("axis", {}, {0}).constant("any", "INT64", {}, {-1});
  graph.floats("rest", {}, {0}).constant("rows", "INT64", {2}, {1, 0});
  const std::string dense = "T type: DT_FLOAT; Tindex type: DT_INT64; Tshape type: DT_INT64; "
                            "row_partition_types list { s: ['ROW_SPLITS'] }; "
                            "num_row_partition_tensors i: 1";
  graph.node("RaggedRange", "b e s", "T type: DT_INT64; Tsplits type: DT_INT64", "r");
  graph.node("GatherV2", "x r:1 axis", "", "part");
  graph.node("RaggedTensorToTensor", "any part rest r", dense, "sliced");
  graph.node("RaggedGather", "b x rows",
             "Tvalues type: DT_FLOAT; Tindices type: DT_INT64; Tsplits type: DT_INT64; "
             "PARAMS_RAGGED_RANK i: 1; OUTPUT_RAGGED_RANK i: 1",
             "g");
  graph.node("RaggedTensorToTensor", "any g:1 rest g", dense, "gathered");
  for (const char *output : {"sliced", "gathered"}) {
    graph.import(output);
    auto type = dyn_cast<RankedTensorType>(graph.main().getResultTypes()[0]);
    REQUIRE(type);
    CHECK(type.getRank() == 2);
  }
}
