//===-- SupportPageTest.cpp - docs/onnx-support.md is what is printed -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "frontends/onnx/HostSignatures.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/onnx/OpTable.h"
#include "kernels/native/NativeHost.h"
#include "llvm/Support/raw_ostream.h"

TEST_CASE("docs/onnx-support.md is up to date") {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  atc::printOnnxSupport(stream);
  std::ifstream file(OPENATC_SOURCE_DIR "/docs/onnx-support.md");
  std::stringstream stored;
  stored << file.rdbuf();
  // To renew it: atc-translate --onnx-support > docs/onnx-support.md
  CHECK(stored.str() == printed);
}

TEST_CASE("every host kernel is an operator of the page") {
  using namespace atc::onnx_import;
  for (const auto &row : atc::kernels::native::allRows()) {
    INFO(row.name);
    // Steps of operators and of preprocessing, what passes make, and operators of TensorFlow.
    CHECK((findHostSignature(row.name) != nullptr) ==
          !llvm::is_contained({"Aipp",
                               "Base64",
                               "BesselI",
                               "BesselJ",
                               "BesselK",
                               "BesselY",
                               "Betainc",
                               "BlockChannels",
                               "BlockedConv",
                               "BlockedDepthwiseConv",
                               "BlockedQLinearConv",
                               "BlockedQLinearDepthwiseConv",
                               "ByteTable",
                               "CharactersText",
                               "Cholesky",
                               "CrossHash",
                               "CsvFields",
                               "CsvValues",
                               "CtcBeams",
                               "CumLogSumExp",
                               "Dawsn",
                               "Digamma",
                               "EditDistance",
                               "Erfinv",
                               "ExampleFeature",
                               "Expint",
                               "FormatNumber",
                               "Fresnel",
                               "Igamma",
                               "Igammac",
                               "KvAttention",
                               "Lgamma",
                               "Lu",
                               "Map",
                               "MatrixSolve",
                               "MatrixSquareRoot",
                               "MurmurHash",
                               "Ndtri",
                               "OverlapSuppression",
                               "PackTrees",
                               "PackVectors",
                               "PackedMatMul",
                               "PhiloxKey",
                               "PhiloxRandom",
                               "Polygamma",
                               "Qr",
                               "RaggedToDense",
                               "RegexReplace",
                               "Require",
                               "RotateHalf",
                               "SegmentJoin",
                               "SequenceResize",
                               "SequenceSet",
                               "SetOperation",
                               "SoftSuppression",
                               "Spence",
                               "Stack",
                               "StringCase",
                               "StringHash",
                               "StringLength",
                               "StringNGrams",
                               "StringReduce",
                               "StringStrip",
                               "Substring",
                               "Svd",
                               "SymmetricEigen",
                               "TextBytes",
                               "TextCharacters",
                               "TriangularSolve",
                               "TridiagonalSolve",
                               "UnblockChannels",
                               "WavDecoder",
                               "WinogradConv",
                               "Zeta"},
                              llvm::StringRef(row.name)));
  }
  CHECK(findHostSignature("Conv")->required == 3);
}

TEST_CASE("rows of one operator do not overlap") {
  using namespace atc::onnx_import;
  for (auto rows : {elementwiseRows(), activationRows(), convRows(), poolRows(), reduceRows(),
                    normRows(), lossRows(), einsumRows(), indexRows(), quantRows(), ascendRows(),
                    shapeRows(), moveRows(), constantRows(), resizeRows()})
    for (const OpRow &row : rows) {
      INFO(row.op.str() << " " << row.first << " to " << row.last);
      CHECK(row.first <= row.last);
      CHECK(row.first >= firstTableOpset);
      for (int opset = row.first; opset <= row.last; ++opset)
        CHECK(findOp(row.op, opset) == &row);
    }
  CHECK(printOpsets(findRows("Clip")) == "7+");
  CHECK(printOpsets(findRows("Upsample")) == "7-9");
  CHECK(findOp("Clip", 10) != findOp("Clip", 11));
  CHECK(findOp("HardSwish", 13) == nullptr);
}
