//===-- DynamicDimTest.cpp - graphs with a placeholder for a dynamic dim ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <google/protobuf/text_format.h>

#include "frontends/tf/DynamicDim.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace atc;

namespace {

/// A graph of text over an input x of [?, 4].
class Batch {
public:
  Batch() : text(input("x", {-1, 4})) {}

  static std::string input(const std::string &name, std::initializer_list<int64_t> dims) {
    std::string shape;
    for (int64_t dim : dims)
      shape += " dim { size: " + std::to_string(dim) + " }";
    return "node { name: \"" + name + "\" op: \"Placeholder\" " + typed("dtype", "DT_FLOAT") +
           "attr { key: \"shape\" value { shape {" + shape + " } } } }\n";
  }
  Batch &add(const std::string &node) {
    text += node;
    return *this;
  }
  Batch &ints(const std::string &name, std::initializer_list<int64_t> values) {
    text += "node { name: \"" + name +
            "\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 "
            "tensor_shape { dim { size: " +
            std::to_string(values.size()) + " } } ";
    for (int64_t value : values)
      text += "int_val: " + std::to_string(value) + " ";
    text += "} } } }\n";
    return *this;
  }
  /// `attributes` is for example "N i: 2; axis i: 0".
  Batch &node(const std::string &name, const std::string &op, const std::string &inputs,
              const std::string &attributes = "") {
    text += "node { name: \"" + name + "\" op: \"" + op + "\"";
    SmallVector<StringRef> parts;
    StringRef(inputs).split(parts, ' ', -1, false);
    for (StringRef part : parts)
      text += " input: \"" + part.str() + "\"";
    parts.clear();
    StringRef(attributes).split(parts, ';', -1, false);
    for (StringRef part : parts) {
      auto [key, value] = part.trim().split(' ');
      text += " attr { key: \"" + key.str() + "\" value { " + value.str() + " } }";
    }
    text += " }\n";
    return *this;
  }

  std::optional<DynamicDim> find() const {
    tf::pb::GraphDef graph;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
    return tf_import::findDynamicDim(graph, {}, {});
  }

  /// Imports with a placeholder; returns the reason why not, empty for success.
  std::string refusal() const {
    tf::pb::GraphDef graph;
    INFO(text);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
    auto dim = tf_import::findDynamicDim(graph, {}, {});
    REQUIRE(dim);
    TfImportOptions options;
    options.inputShapes = dim->inputShapes;
    options.placeholder = dim->size;
    MLIRContext context;
    Diagnostics diagnostics;
    auto module = importTfGraph(graph, "test", {}, options, context, diagnostics);
    CHECK(succeeded(module) != diagnostics.hasErrors());
    return diagnostics.hasErrors() ? diagnostics.all().front().text : "";
  }

  std::string text;

private:
  static std::string typed(const std::string &key, const std::string &type) {
    return "attr { key: \"" + key + "\" value { type: " + type + " } } ";
  }
};

/// x sliced from `begin` to `end` in `strides`.
std::string strided(std::initializer_list<int64_t> begin, std::initializer_list<int64_t> end,
                    std::initializer_list<int64_t> strides, const std::string &masks = "") {
  return Batch()
      .ints("b", begin)
      .ints("e", end)
      .ints("s", strides)
      .node("y", "StridedSlice", "x b e s", masks)
      .refusal();
}

/// The size of the batch as "batch" of one element, in shapes "shape".
Batch withSize() {
  return Batch()
      .node("shape", "Shape", "x", "out_type type: DT_INT32")
      .ints("zero", {0})
      .ints("one", {1})
      .node("batch", "StridedSlice", "shape zero one one");
}

const char *const some = "takes some of the elements of a dynamic dim";

} // namespace

TEST_CASE("A graph has a dynamic dim where one dim of all inputs is open") {
  CHECK(Batch().find());
  CHECK(!Batch().add(Batch::input("z", {-1, 4})).find());
  auto dim = Batch().add(Batch::input("z", {3, 4})).find();
  REQUIRE(dim);
  CHECK(dim->inputShapes[0].second[0] == dim->size);
  CHECK(dim->inputShapes[1].second[0] == 3);
  // No number of the graph is a multiple of the placeholder.
  auto other = Batch().ints("c", {dim->size * 3}).find();
  REQUIRE(other);
  CHECK(dim->size * 3 % other->size != 0);
}

TEST_CASE("Slices with masks keep the whole of a dynamic dim or are refused") {
  using Catch::Contains;
  CHECK(strided({5, 1}, {6, 3}, {1, 1}, "begin_mask i: 1; end_mask i: 1") == "");
  CHECK(strided({0}, {0}, {1}, "end_mask i: 1") == "");
  CHECK(strided({0, 0}, {0, 2}, {1, 1}, "ellipsis_mask i: 1") == "");
  CHECK(strided({0, 1}, {0, 2}, {1, 1}, "ellipsis_mask i: 1; shrink_axis_mask i: 2") == "");
  CHECK_THAT(strided({0, 0, 1}, {0, 1, 2}, {1, 1, 1}, "ellipsis_mask i: 1"), Contains(some));
  CHECK(strided({7, 0, 0}, {7, 0, 2}, {1, 1, 1}, "new_axis_mask i: 1; end_mask i: 2") == "");
  CHECK_THAT(strided({5, 1}, {6, 3}, {1, 1}, "begin_mask i: 1"), Contains(some));
  CHECK_THAT(strided({1}, {0}, {1}, "end_mask i: 1"), Contains(some));
  CHECK_THAT(strided({-1}, {0}, {1}, "end_mask i: 1"), Contains(some));
  CHECK_THAT(strided({0}, {0}, {-1}, "begin_mask i: 1; end_mask i: 1"), Contains(some));
  CHECK_THAT(strided({0}, {0}, {2}, "begin_mask i: 1; end_mask i: 1"), Contains(some));
  CHECK_THAT(strided({0}, {1000000}, {1}), Contains(some));
  // Masks do not count for a dim of which one element is taken, nor for a new one.
  CHECK_THAT(strided({0}, {0}, {1}, "begin_mask i: 1; end_mask i: 1; shrink_axis_mask i: 1"),
             Contains(some));
  CHECK_THAT(strided({7, 1}, {7, 2}, {1, 1}, "new_axis_mask i: 1"), Contains(some));
}

TEST_CASE("A slice to the size of its dynamic dim takes the whole of it") {
  auto slice = [](std::initializer_list<int64_t> begin, const std::string &pack) {
    return withSize()
        .ints("begin", begin)
        .ints("two", {2})
        .node("size", "ConcatV2", pack + " i", "N i: 2")
        .add("node { name: \"i\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: "
             "DT_INT32 tensor_shape { } int_val: 0 } } } }\n")
        .node("y", "Slice", "x begin size")
        .refusal();
  };
  CHECK(slice({0, 1}, "batch two") == "");
  CHECK_THAT(slice({0, 0}, "two batch"), Catch::Contains(some));
  CHECK_THAT(slice({1, 0}, "batch two"), Catch::Contains(some));
  CHECK(Batch().ints("b", {0, 1}).ints("s", {-1, 2}).node("y", "Slice", "x b s").refusal() == "");
  CHECK_THAT(Batch().ints("b", {0, 1}).ints("s", {3, 2}).node("y", "Slice", "x b s").refusal(),
             Catch::Contains(some));
}

TEST_CASE("A squeeze of all dims of 1 depends on the size of a dynamic one") {
  CHECK_THAT(Batch().node("y", "Squeeze", "x").refusal(), Catch::Contains("where its size is 1"));
  CHECK(Batch()
            .ints("a", {1})
            .node("e", "ExpandDims", "x a")
            .node("y", "Squeeze", "e", "squeeze_dims list { i: 1 }")
            .refusal() == "");
}

TEST_CASE("Sizes are multiplied once, and as long as their type holds them") {
  using Catch::Contains;
  auto made = [](const std::string &op, int64_t factor, const std::string &use) {
    return withSize().ints("f", {factor}).node("m", op, "batch f").add(use).refusal();
  };
  const std::string reshape = "node { name: \"y\" op: \"Reshape\" input: \"x\" input: \"m\" }";
  CHECK(made("Mul", 4, reshape) == "");
  CHECK_THAT(made("Mul", -1, reshape), Contains("beyond its type"));
  CHECK_THAT(made("Mul", 1000003, reshape), Contains("beyond its type"));
  CHECK_THAT(made("FloorDiv", 2, reshape), Contains("with a remainder"));
  CHECK_THAT(made("FloorDiv", -1, reshape), Contains("with a remainder"));
  CHECK_THAT(made("Equal", 3, ""), Contains("compares"));
  CHECK_THAT(made("Maximum", 3, ""), Contains("computes with"));
  CHECK_THAT(withSize().node("m", "Mul", "batch batch").refusal(), Contains("by itself"));
  CHECK(withSize().node("m", "Prod", "shape zero", "keep_dims b: true").add(reshape).refusal() ==
        "");
  CHECK_THAT(withSize()
                 .ints("i", {0, 0})
                 .node("g", "GatherV2", "shape i zero")
                 .node("m", "Prod", "g zero")
                 .refusal(),
             Contains("by itself"));
  CHECK_THAT(
      withSize().node("n", "Cast", "batch", "SrcT type: DT_INT32; DstT type: DT_INT8").refusal(),
      Contains("computes with"));
}

TEST_CASE("A packed size makes shapes, a repetition and a gradient of that batch") {
  Batch packed = withSize();
  packed.ints("first", {0})
      .node("scalar", "Squeeze", "batch")
      .add("node { name: \"four\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: "
           "DT_INT32 tensor_shape { } int_val: 4 } } } }\n")
      .node("p", "Pack", "scalar four", "N i: 2; axis i: 0");
  Batch reshaped = packed, repeated = packed;
  CHECK(reshaped.node("y", "Reshape", "x p").refusal() == "");
  CHECK(repeated.ints("c", {1, 2, 3, 4})
            .ints("row", {1, 4})
            .node("w", "Reshape", "c row")
            .ints("rest", {1})
            .add("node { name: \"i\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: "
                 "DT_INT32 tensor_shape { } int_val: 0 } } } }\n")
            .node("r", "ConcatV2", "batch rest i", "N i: 2")
            .node("y", "Tile", "w r")
            .refusal() == "");
}

TEST_CASE("The shape of what has lost a dynamic dim says nothing about other sizes") {
  // The padding itself would be dead, and with it the only sign of its dim.
  CHECK_THAT(Batch()
                 .ints("c", {1, 1, 0, 0})
                 .ints("square", {2, 2})
                 .node("paddings", "Reshape", "c square")
                 .node("padded", "Pad", "x paddings")
                 .node("negative", "Neg", "padded")
                 .node("y", "Shape", "negative", "out_type type: DT_INT32")
                 .refusal(),
             Catch::Contains("depends on a dynamic one"));
}
