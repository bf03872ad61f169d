// RUN: atc-opt %s --host-expand-fused --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-fused=only-products --split-input-file | FileCheck %s --check-prefix=PRODUCTS
// RUN: atc-opt %s --host-expand-fused --split-input-file --remarks-filter=host-expand-fused --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-fused{{.*}}FusedConv becomes the operators that it consists of
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-fused{{.*}}SimplifiedLayerNormalization stays a call of a host kernel: its shapes or elements have no ops
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-fused{{.*}}FusedGemm stays a call of a host kernel: its activation has no op
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-fused{{.*}}its statistics are read
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-fused{{.*}}its skip does not broadcast

// CHECK-LABEL: func @gelu
// CHECK: %[[S:.*]] = graph.add %arg0, %arg1
// CHECK: graph.gelu %{{.*}} : (tensor<2x4xf32>)
// CHECK-NOT: host_call
// PRODUCTS-LABEL: func @gelu
// PRODUCTS: host_call "BiasSplitGelu"
func.func @gelu(%x: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x4xf32> {
  %y = graph.host_call "BiasSplitGelu"(%x, %b) {} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// The sum is a result of its own; a scale of any shape is a row.
// CHECK-LABEL: func @skip
// CHECK: %[[S:.*]] = graph.add %arg0, %{{.*}} : (tensor<2x3x8xf32>, tensor<3x8xf32>)
// CHECK: %[[M:.*]] = graph.reduce %[[S]] {axes = array<i64: 2>{{.*}}kind mean>
// CHECK: %[[C:.*]] = graph.sub %[[S]], %[[M]]
// CHECK: graph.mul %[[C]], %[[C]]
// CHECK: graph.rsqrt
// CHECK: %[[Y:.*]] = graph.add %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<8xf32>)
// CHECK: return %[[Y]], %[[S]]
func.func @skip(%x: tensor<2x3x8xf32>, %z: tensor<1x3x8xf32>, %g: tensor<1x8xf32>, %b: tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %y:4 = graph.host_call "SkipLayerNormalization"(%x, %z, %g, %b) {} : (tensor<2x3x8xf32>, tensor<1x3x8xf32>, tensor<1x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>, tensor<2x3x8xf32>)
  return %y#0, %y#3 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Rows of a skip that has them in the first dim are not what broadcasts.
// CHECK-LABEL: func @skip_rows
// CHECK: host_call "SkipSimplifiedLayerNormalization"
func.func @skip_rows(%x: tensor<2x3x8xf32>, %z: tensor<2x1x8xf32>, %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %y = graph.host_call "SkipSimplifiedLayerNormalization"(%x, %z, %g) {} : (tensor<2x3x8xf32>, tensor<2x1x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func @statistics
// CHECK: host_call "SimplifiedLayerNormalization"
func.func @statistics(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>) {
  %y:2 = graph.host_call "SimplifiedLayerNormalization"(%x, %g) {} : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>)
  return %y#0, %y#1 : tensor<2x8xf32>, tensor<2x1xf32>
}

// -----

// CHECK-LABEL: func @product
// CHECK: %[[T:.*]] = graph.transpose %arg1 {permutation = array<i64: 0, 2, 1>}
// The factor belongs to the operand that has the fewest elements.
// CHECK: %[[A:.*]] = graph.mul %arg0, %{{.*}} : (tensor<2x3x4xf32>, tensor<f32>)
// CHECK: graph.matmul %[[A]], %[[T]]
// PRODUCTS-LABEL: func @product
// PRODUCTS: graph.matmul
func.func @product(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %y = graph.host_call "FusedMatMul"(%a, %b) {alpha = array<f64: 5.000000e-01>, transB = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func @gemm
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[S:.*]] = graph.add %[[P]], %arg2
// CHECK: graph.tanh %[[S]]
func.func @gemm(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<5xf32>) -> tensor<3x5xf32> {
  %y = graph.host_call "FusedGemm"(%a, %b, %c) {activation = "Tanh"} : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func @gemm_elu
// CHECK: host_call "FusedGemm"
func.func @gemm_elu(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %y = graph.host_call "FusedGemm"(%a, %b) {activation = "Elu"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func @conv
// CHECK: %[[C:.*]] = graph.conv %arg0, %{{[0-9a-z_]*}} bias %{{[0-9a-z_]*}} {{.*}}pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>
// CHECK: %[[S:.*]] = graph.add %[[C]], %arg1
// CHECK: graph.relu %[[S]]
// PRODUCTS-LABEL: func @conv
// PRODUCTS: graph.conv
// PRODUCTS: graph.relu
func.func @conv(%x: tensor<1x8x9x9xf32>, %z: tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %w = graph.constant dense<2.0> : tensor<4x8x3x3xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = graph.host_call "FusedConv"(%x, %w, %b, %z) {activation = "Relu", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x9x9xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  return %y : tensor<1x4x5x5xf32>
}

// -----

// A bias that is computed is an addition; a filter that is computed leaves the call as it is.
// CHECK-LABEL: func @computed
// CHECK: %[[C:.*]] = graph.conv %arg0, %{{[0-9a-z_]*}} {{.*}}
// CHECK: %[[B:.*]] = graph.reshape %arg1 {{.*}}tensor<1x4x1x1xf32>
// CHECK: %[[S:.*]] = graph.add %[[C]], %[[B]]
// CHECK: graph.sigmoid %[[S]]
// CHECK: host_call "FusedConv"
func.func @computed(%x: tensor<1x8x9x9xf32>, %b: tensor<4xf32>, %w: tensor<4x8x1x1xf32>) -> (tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>) {
  %f = graph.constant dense<2.0> : tensor<4x8x1x1xf32>
  %y = graph.host_call "FusedConv"(%x, %f, %b) {activation = "Sigmoid"} : (tensor<1x8x9x9xf32>, tensor<4x8x1x1xf32>, tensor<4xf32>) -> tensor<1x4x9x9xf32>
  %z = graph.host_call "FusedConv"(%x, %w, %b) {activation = "Relu"} : (tensor<1x8x9x9xf32>, tensor<4x8x1x1xf32>, tensor<4xf32>) -> tensor<1x4x9x9xf32>
  return %y, %z : tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>
}

// -----

// Open dims stay, as do elements of f64.
// CHECK-LABEL: func @open
// CHECK: host_call "SimplifiedLayerNormalization"
// CHECK: host_call "FusedMatMul"
func.func @open(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %z: tensor<2x2xf64>) -> (tensor<?x8xf32>, tensor<2x2xf64>) {
  %y = graph.host_call "SimplifiedLayerNormalization"(%x, %g) {} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %w = graph.host_call "FusedMatMul"(%z, %z) {} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %y, %w : tensor<?x8xf32>, tensor<2x2xf64>
}
