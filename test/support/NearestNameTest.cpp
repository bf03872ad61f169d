//===-- NearestNameTest.cpp - the name that a user may have meant ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/NearestName.h"

#include <catch2/catch.hpp>

using namespace atc;

TEST_CASE("the nearest name is found by letters") {
  const std::vector<std::string> names = {"Conv_12:0", "Relu_14:0", "Ascend310P3"};
  CHECK(nearestName("Conv_12", names) == "Conv_12:0");
  CHECK(nearestName("relu_14:0", names) == "Relu_14:0");
  CHECK(nearestName("Relu_41:0", names) == "Relu_14:0");
  CHECK(nearestName("310P3", names) == "Ascend310P3");
  CHECK(nearestName("Softmax", names).empty());
  CHECK(nearestName("", names).empty());
  // One of the other characters is as near as any.
  CHECK(nearestName("2", {"0", "1", "3"}).empty());
  CHECK(nearestName("xy", {"ab", "ay"}) == "ay");
  CHECK(nearestName("x", {}).empty());
  CHECK(nearestName("foo", {"log", "mode"}).empty());
  CHECK(nearestName("lgo", {"log", "mode"}) == "log");
  CHECK(nearestName("modl", {"model", "data"}) == "model");
  CHECK(nearestName("30", {"0", "3"}).empty());
  CHECK(nearestName("253", {"254", "253:0"}) == "253:0");
}

TEST_CASE("of two near names the nearer one counts") {
  CHECK(nearestName("conv3", {"convolution", "conv33", "conv44"}) == "conv33");
  CHECK(nearestName("conv3", {"convolution", "conv2"}) == "conv2");
}

TEST_CASE("of equally near names one of equal length counts, and swapped letters are one mistake") {
  CHECK(nearestName("modle", {"mode", "model"}) == "model");
  CHECK(nearestName("float61", {"float", "float32", "float16"}) == "float16");
}

TEST_CASE("the hint is empty where no name is near") {
  CHECK(didYouMean("modle", {"model"}) == "; did you mean \"model\"?");
  CHECK(didYouMean("modle", {"soc_version"}).empty());
}
