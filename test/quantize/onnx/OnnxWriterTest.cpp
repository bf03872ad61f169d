//===-- OnnxWriterTest.cpp - quantized models as they are written ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxWriter.h"
#include "test/quantize/SmallModel.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace atc::quantize;
using Ops = std::vector<std::string>;

namespace {

/// x -> Conv -> Relu -> y
std::unique_ptr<OnnxModel> makeModel() {
  SmallModel small;
  small.input("x", {1, 1, 2, 2}).output("y", {1, 2, 2, 2});
  small.constant("w", {2, 1, 1, 1}, {1, -4}).constant("b", {2}, {0.5f, 1});
  small.node("Conv", {"x", "w", "b"}, "c");
  small.node("Relu", {"c"}, "y");
  return small.finish();
}

QuantTable makeTable() {
  QuantTable table;
  table.tensors.push_back({"x", coverInterval({-1, 1}, false, true), {-1, 1}, {-1, 1}});
  table.tensors.push_back({"y", coverInterval({0, 4}, false, true), {0, 4}, {0, 4}});
  table.layers.push_back({"node_c", "Conv", "x", "c", {1.f / 127, 4.f / 127}, {0.25f, 0}});
  return table;
}

template <typename T> std::vector<T> valuesOf(OnnxModel &model, const std::string &name) {
  const onnx::TensorProto *tensor = model.findConstant(name);
  REQUIRE(tensor);
  std::vector<T> values(tensor->raw_data().size() / sizeof(T));
  std::memcpy(values.data(), tensor->raw_data().data(), tensor->raw_data().size());
  return values;
}

} // namespace

TEST_CASE("pairs stand at the tensors, integers at the weights") {
  auto model = makeModel();
  const QuantTable table = makeTable();
  QdqModel qdq = writeQdq(*model, table);
  OnnxModel &written = qdq.model;
  CHECK(opsOf(written) == Ops{"QuantizeLinear", "DequantizeLinear", "DequantizeLinear",
                              "DequantizeLinear", "Conv", "Relu", "QuantizeLinear",
                              "DequantizeLinear"});
  const onnx::NodeProto &conv = written.graph().node(4), &weights = written.graph().node(2);
  CHECK(conv.input(0) == written.graph().node(1).output(0));
  CHECK(conv.input(1) == weights.output(0));
  CHECK(intAttribute(weights, "axis", 9) == 0);
  CHECK(valuesOf<int8_t>(written, weights.input(0)) == std::vector<int8_t>{127, -127});
  // The bias with its correction, over the scales of input and weights.
  const onnx::NodeProto &bias = written.graph().node(3);
  const float scale = table.tensors[0].params.scale;
  const std::vector<int32_t> integers = valuesOf<int32_t>(written, bias.input(0));
  const std::vector<float> units = valuesOf<float>(written, bias.input(1));
  REQUIRE(units.size() == 2);
  CHECK(units[1] == scale * (4.f / 127));
  CHECK(integers[0] * units[0] == Approx(0.75).epsilon(1e-3));
  CHECK(integers[1] * units[1] == Approx(1).epsilon(1e-3));
  // The output keeps its name: it is what is dequantized.
  CHECK(written.graph().node(7).output(0) == "y");
  CHECK(written.graph().node(5).output(0) != "y");
  CHECK(qdq.dequantized.size() == 2);
  CHECK(qdq.dequantized[1] == "y");
  // No float weight is left.
  CHECK(!written.findConstant("w"));
  CHECK(!written.findConstant("b"));
  CHECK(model->findConstant("w"));
}

TEST_CASE("uint8 activations") {
  auto model = makeModel();
  QuantTable table = makeTable();
  table.tensors[0].params = coverInterval({-1, 3}, false, false);
  QdqModel qdq = writeQdq(*model, table);
  const onnx::NodeProto &quantize = qdq.model.graph().node(0);
  CHECK(qdq.model.findConstant(quantize.input(2))->data_type() == onnx::TensorProto::UINT8);
  CHECK(valuesOf<uint8_t>(qdq.model, quantize.input(2)) == std::vector<uint8_t>{64});
}

TEST_CASE("the vendor's form") {
  auto model = makeModel();
  const QuantTable table = makeTable();
  OnnxModel deploy = writeDeploy(*model, table);
  // A tensor that only layers read is not needed as floats; the output is.
  CHECK(opsOf(deploy) ==
        Ops{"AscendQuant", "Conv", "AscendDequant", "Relu", "AscendQuant", "AscendAntiQuant"});
  const onnx::NodeProto &quant = deploy.graph().node(0), &conv = deploy.graph().node(1),
                        &dequant = deploy.graph().node(2);
  const float scale = table.tensors[0].params.scale;
  CHECK(findAttribute(quant, "scale")->f() == Approx(1 / scale));
  CHECK(findAttribute(quant, "offset")->f() == table.tensors[0].params.zeroPoint);
  CHECK(conv.input(0) == quant.output(0));
  CHECK(deploy.findConstant(conv.input(1))->data_type() == onnx::TensorProto::INT8);
  CHECK(deploy.findConstant(conv.input(2))->data_type() == onnx::TensorProto::INT32);
  CHECK(dequant.output(0) == "c");
  const onnx::NodeProto &last = deploy.graph().node(4), &back = deploy.graph().node(5);
  CHECK(last.input(0) == deploy.graph().node(3).output(0));
  CHECK(back.input(0) == last.output(0));
  CHECK(back.output(0) == "y");
  CHECK(findAttribute(back, "scale")->f() == table.tensors[1].params.scale);
  CHECK(1 / findAttribute(last, "scale")->f() == table.tensors[1].params.scale);
  CHECK(findAttribute(back, "offset")->f() == -table.tensors[1].params.zeroPoint);
  const std::vector<uint64_t> packed = valuesOf<uint64_t>(deploy, dequant.input(1));
  REQUIRE(packed.size() == 2);
  const uint32_t bits = static_cast<uint32_t>(packed[1]);
  float unpacked;
  std::memcpy(&unpacked, &bits, sizeof unpacked);
  CHECK(unpacked == scale * (4.f / 127));
  CHECK(packed[1] >> 32 == 0);
  CHECK(packDequantScale(1.f, 3, -2) == (0x3F800000ull | 3ull << 32 | 0xFEull << 40));
}

TEST_CASE("the record has the scales of each layer") {
  const std::string record = tableToRecord(makeTable());
  for (const char *part : {"record {", "key: \"node_c\"", "scale_d: 0.0078431", "offset_d: -1",
                           "scale_w: 0.00787401", "shift_bit: 0"})
    CHECK_THAT(record, Catch::Contains(part));
  CHECK_THAT(tableToJson(makeTable()), Catch::Contains("\"zero_point\": -128"));
}

TEST_CASE("a layer that the table does not fit stays float") {
  auto model = makeModel();
  QuantTable table = makeTable();
  table.layers[0].weightScales = {1, 1, 1};
  QdqModel qdq = writeQdq(*model, table);
  CHECK(qdq.model.findConstant("w"));
  OnnxModel deploy = writeDeploy(*model, table);
  CHECK(opsOf(deploy) ==
        Ops{"AscendQuant", "AscendAntiQuant", "Conv", "Relu", "AscendQuant", "AscendAntiQuant"});
}

TEST_CASE("scales are those that their reciprocals tell") {
  for (int i = 1; i < 20000; ++i) {
    const float scale = coverInterval({-i * 0.00137, i * 0.0031}, i % 2, true).scale;
    CHECK(1 / (1 / scale) == scale);
  }
}
