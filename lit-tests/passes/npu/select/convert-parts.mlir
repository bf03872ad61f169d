// RUN: atc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(npu-convert-parts))' | FileCheck %s

// The whole in f16 and f32 has 18 MB and L2 16 MB: parts are converted.
// CHECK-LABEL: func.func @large
// CHECK-DAG: %[[A:.*]] = graph.cast %arg0 : (tensor<2x1000x1000xf16>) -> tensor<2x1000x1000xf32>
// CHECK-DAG: %[[B:.*]] = graph.cast %arg1 : (tensor<2x500x1000xf16>) -> tensor<2x500x1000xf32>
// CHECK: %[[C:.*]] = graph.concat %[[A]], %[[B]] {axis = 1 : i64} : (tensor<2x1000x1000xf32>, tensor<2x500x1000xf32>) -> tensor<2x1500x1000xf32>
// CHECK: return %[[C]]
module attributes {npu.soc = "Ascend310P3"} {
  func.func @large(%a: tensor<2x1000x1000xf16>, %b: tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf32> {
    %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x1000x1000xf16>, tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf16>
    %y = graph.cast %c : (tensor<2x1500x1000xf16>) -> tensor<2x1500x1000xf32>
    return %y : tensor<2x1500x1000xf32>
  }
}

// -----

// L2 of the 910B1 has 192 MB.
// CHECK-LABEL: func.func @fits
// CHECK: graph.concat
// CHECK: graph.cast
module attributes {npu.soc = "Ascend910B1"} {
  func.func @fits(%a: tensor<2x1000x1000xf16>, %b: tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf32> {
    %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x1000x1000xf16>, tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf16>
    %y = graph.cast %c : (tensor<2x1500x1000xf16>) -> tensor<2x1500x1000xf32>
    return %y : tensor<2x1500x1000xf32>
  }
}

// -----

// Runs of a part have 200 bytes.
// CHECK-LABEL: func.func @short_runs
// CHECK: graph.concat
// CHECK: graph.cast
// Others read the whole as f16.
// CHECK-LABEL: func.func @read_twice
// CHECK: graph.concat
// CHECK: graph.cast
// A conversion to integers.
// CHECK-LABEL: func.func @integers
// CHECK: graph.concat
// CHECK: graph.cast
module attributes {npu.soc = "Ascend310P3"} {
  func.func @short_runs(%a: tensor<30000x100xf16>, %b: tensor<30000x100xf16>) -> tensor<30000x200xf32> {
    %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<30000x100xf16>, tensor<30000x100xf16>) -> tensor<30000x200xf16>
    %y = graph.cast %c : (tensor<30000x200xf16>) -> tensor<30000x200xf32>
    return %y : tensor<30000x200xf32>
  }
  func.func @read_twice(%a: tensor<2x1000x1000xf16>, %b: tensor<2x500x1000xf16>) -> (tensor<2x1500x1000xf32>, tensor<2x1500x1000xf16>) {
    %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x1000x1000xf16>, tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf16>
    %y = graph.cast %c : (tensor<2x1500x1000xf16>) -> tensor<2x1500x1000xf32>
    return %y, %c : tensor<2x1500x1000xf32>, tensor<2x1500x1000xf16>
  }
  func.func @integers(%a: tensor<2x1000x1000xf16>, %b: tensor<2x500x1000xf16>) -> tensor<2x1500x1000xi32> {
    %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x1000x1000xf16>, tensor<2x500x1000xf16>) -> tensor<2x1500x1000xf16>
    %y = graph.cast %c : (tensor<2x1500x1000xf16>) -> tensor<2x1500x1000xi32>
    return %y : tensor<2x1500x1000xi32>
  }
}
