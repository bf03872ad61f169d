// RUN: atc-opt %s --graph-fuse-elementwise | FileCheck %s --check-prefix=MAPS
// RUN: atc-opt %s --graph-fuse-conv-activation | FileCheck %s --check-prefix=ACTIVATION
// RUN: atc-opt %s --graph-fuse-conv-add | FileCheck %s --check-prefix=ADD
// RUN: atc-opt %s --graph-compose-activations | FileCheck %s --check-prefix=COMPOSE

// Nodes that compute in f32 are not fused with others, only with each other.
module attributes {graph.float32_nodes = ["square", "root", "sigmoid"]} {
  // MAPS-LABEL: func @chain
  // MAPS: graph.map
  // MAPS: math.exp
  // MAPS: graph.map
  // MAPS: arith.mulf
  // MAPS: math.sqrt
  // MAPS: graph.map
  // MAPS: math.tanh
  func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32> loc("a"("exp"))
    %1 = graph.mul %0, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("b"("square"))
    %2 = graph.sqrt %1 : (tensor<8xf32>) -> tensor<8xf32> loc("c"("root"))
    %3 = graph.tanh %2 : (tensor<8xf32>) -> tensor<8xf32> loc("d"("tanh"))
    return %3 : tensor<8xf32>
  }

  // ACTIVATION-LABEL: func @activation
  // ACTIVATION: graph.conv
  // ACTIVATION: graph.sigmoid
  // ADD-LABEL: func @activation
  // ADD: graph.conv
  // ADD: graph.add
  // COMPOSE-LABEL: func @activation
  // COMPOSE: graph.sigmoid
  // COMPOSE: graph.mul
  func.func @activation(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
    %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv"("conv"))
    %1 = graph.sigmoid %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("s"("sigmoid"))
    %2 = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv2"("conv2"))
    %3 = graph.add %2, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("r"("root"))
    %4 = graph.mul %1, %0 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("m"("swish"))
    return %3, %4 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
  }

  // What is an activation of one type as a whole is composed, on either side.
  // COMPOSE-LABEL: func @composed
  // COMPOSE: graph.silu %arg0
  // COMPOSE: graph.silu %arg0
  // COMPOSE: graph.relu %arg0
  // COMPOSE: graph.clip
  func.func @composed(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32> loc("a"("sigmoid"))
    %1 = graph.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("b"("square"))
    %2 = graph.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32> loc("c"("gate"))
    %3 = graph.mul %2, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("d"("product"))
    %4 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32> loc("e"("root"))
    %5 = graph.clip %4 {max = 6.0, min = -1.0} : (tensor<8xf32>) -> tensor<8xf32> loc("f"("clip"))
    return %1, %3, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
