//===-- TfStringTest.cpp - operators on strings that are refused ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>
#include <google/protobuf/text_format.h>

#include "frontends/tf/TfImport.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

/// Imports node "y" of an operator on strings "x", numbers "f" and constants; returns the errors.
std::string importErrors(const std::string &node) {
  const std::string text = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
      attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "f" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "comma" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
      tensor_shape { } string_val: "," } } } }
    node { name: "none" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
      tensor_shape { } string_val: "" } } } }
    node { name: "words" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
      tensor_shape { dim { size: 1 } } string_val: "a" string_val: "b" } } } }
    node { name: "pads" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32
      tensor_shape { dim { size: 1 } dim { size: 2 } } int_val: 1 int_val: 1 } } } }
    node { name: "y" )" + node +
                           " }";
  atc::tf::pb::GraphDef graph;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  MLIRContext context;
  atc::Diagnostics diagnostics;
  atc::TfImportOptions options;
  options.outputs = {"y"};
  (void)atc::importTfGraph(graph, "strings", {}, options, context, diagnostics);
  std::string errors;
  llvm::raw_string_ostream os(errors);
  for (const atc::CodedMessage &message : diagnostics.all())
    if (!StringRef(message.code).starts_with("W"))
      os << message.text << "\n";
  return errors;
}

} // namespace

TEST_CASE("Empty strings in the shape of others") {
  CHECK(importErrors(R"(op: "ZerosLike" input: "x" attr { key: "T" value { type: DT_STRING } })")
            .empty());
}

TEST_CASE("Operators on strings are imported") {
  CHECK(importErrors(R"(op: "StringLower" input: "x")") == "");
  CHECK(importErrors(R"(op: "StringSplitV2" input: "x" input: "comma")") == "");
  CHECK(importErrors(R"(op: "StringSplit" input: "x" input: "none")") == "");
  // Those without empty parts have a known rank as well.
  CHECK(importErrors(R"(op: "SparseToDense" input: "parts" input: "parts:2" input: "parts:1"
                        input: "none" }
                        node { name: "parts" op: "StringSplit" input: "x" input: "comma")") == "");
  CHECK(importErrors(R"(op: "RegexReplace" input: "x" input: "comma" input: "comma")") == "");
  CHECK(importErrors(R"(op: "StringToHashBucketFast" input: "x"
                        attr { key: "num_buckets" value { i: 3 } })") == "");
  CHECK(importErrors(R"(op: "ReduceJoin" input: "x" input: "pads")") == "");
  CHECK(importErrors(R"(op: "StringToNumber" input: "x"
                        attr { key: "out_type" value { type: DT_INT64 } })") == "");
}

TEST_CASE("Operators on strings say what they do not take") {
  CHECK_THAT(importErrors(R"(op: "StringLower" input: "x"
                             attr { key: "encoding" value { s: "latin-1" } })"),
             Catch::Contains("attribute 'encoding'") && Catch::Contains("'latin-1'"));
  CHECK_THAT(importErrors(R"(op: "StringStrip" input: "f")"), Catch::Contains("states DT_STRING"));
  CHECK_THAT(importErrors(R"(op: "StringToNumber" input: "f")"),
             Catch::Contains("states DT_STRING"));
  CHECK_THAT(importErrors(R"(op: "StringSplitV2" input: "x" input: "x")"),
             Catch::Contains("must be one string that is known at compile time"));
  CHECK_THAT(importErrors(R"(op: "UnicodeDecode" input: "x"
                             attr { key: "input_encoding" value { s: "UTF-16-BE" } })"),
             Catch::Contains("is 'UTF-16-BE', expected UTF-8"));
  CHECK_THAT(importErrors(R"(op: "DecodePng" input: "x"
                             attr { key: "channels" value { i: 4 } })"),
             Catch::Contains("attribute 'channels'") && Catch::Contains("is 4, expected 3, 1 or"));
  CHECK_THAT(importErrors(R"(op: "DecodeAndCropJpeg" input: "x" input: "pads")"),
             Catch::Contains("has 2 elements, expected 4"));
  // Constants are decoded by the compiler.
  CHECK_THAT(importErrors(R"(op: "DecodeJpeg" input: "comma")"),
             Catch::Contains("the bytes are no image in one of the formats"));
  CHECK_THAT(importErrors(R"(op: "StaticRegexReplace" input: "x"
                             attr { key: "rewrite" value { s: "a\\n" } })"),
             Catch::Contains("a backslash stands in front of"));
  CHECK_THAT(importErrors(R"(op: "StringToHashBucketFast" input: "x"
                             attr { key: "num_buckets" value { i: 0 } })"),
             Catch::Contains("is 0, expected at least 1"));
  CHECK_THAT(importErrors(R"(op: "StringToHashBucketStrong" input: "x"
                             attr { key: "num_buckets" value { i: 5 } })"),
             Catch::Contains("has 0 values, expected 2"));
  CHECK_THAT(importErrors(R"(op: "AsString" input: "f" attr { key: "scientific" value { b: true } }
                             attr { key: "shortest" value { b: true } })"),
             Catch::Contains("attribute 'shortest'") && Catch::Contains("together with"));
  for (const char *fill : {"*", "00"})
    CHECK_THAT(
        importErrors(std::string(R"(op: "AsString" input: "f" attr { key: "fill" value { s: ")") +
                     fill + "\" } }"),
        Catch::Contains("attribute 'fill'") && Catch::Contains("expected one of"));
  CHECK_THAT(importErrors(R"(op: "LookupTableFindV2" input: "x" input: "x" input: "comma")"),
             Catch::Contains("is no lookup table"));
  CHECK_THAT(importErrors(R"(op: "HashTableV2")"),
             Catch::Contains("table 'y' has no contents: no initializer of the model fills it"));
  CHECK_THAT(importErrors(R"(op: "HashTableV2" attr { key: "_table_error" value { s: "why" } })"),
             Catch::Contains("why"));
  CHECK_THAT(importErrors(R"(op: "StringJoin" input: "x" input: "words")"),
             Catch::Contains("has 2 strings, expected at most 1"));
}

TEST_CASE("Operators on numbers refuse strings") {
  // The first two crashed; an operator that moves elements but pads with a number is refused by
  // what it pads with.
  CHECK_THAT(importErrors(R"(op: "L2Loss" input: "x")"),
             Catch::Contains("input 'x' of node 'y' (L2Loss): holds strings, expected numbers"));
  CHECK_THAT(importErrors(R"(op: "Pad" input: "x" input: "pads")"),
             Catch::Contains("needs numbers"));
  CHECK_THAT(importErrors(R"(op: "UnsortedSegmentSum" input: "x" input: "f" input: "comma")"),
             Catch::Contains("input 'x'") && Catch::Contains("input 'comma'"));
  CHECK_THAT(importErrors(R"(op: "Bitcast" input: "f" attr { key: "type"
                             value { type: DT_STRING } })"),
             Catch::Contains("attribute 'type'"));
  CHECK(importErrors(R"(op: "Identity" input: "x")") == "");
  CHECK(importErrors(R"(op: "Equal" input: "x" input: "x")") == "");
}
