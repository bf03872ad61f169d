// RUN: atc-opt %s --graph-compose-activations --split-input-file | FileCheck %s

// CHECK-LABEL: func @silu
// CHECK-NEXT: %[[Y:.*]] = graph.silu %arg0
// CHECK-NEXT: return %[[Y]]
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.mul %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @mish
// CHECK-NEXT: %[[Y:.*]] = graph.mish %arg0
// CHECK-NEXT: return %[[Y]]
func.func @mish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = graph.softplus %x : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.tanh %p : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.mul %x, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @sigmoid
// CHECK-NEXT: %[[A:.*]] = graph.sigmoid %arg0
// CHECK-NEXT: %[[B:.*]] = graph.sigmoid %arg0
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @sigmoid(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %n = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %n : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %e, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a = graph.div %one, %s : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.reciprocal %s : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// The ways to write x * clip(x + 3, 0, 6) / 6.
// CHECK-LABEL: func @hard_swish
// CHECK-COUNT-5: graph.hard_swish %arg0
// CHECK-NEXT: return
func.func @hard_swish(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %sixth = graph.constant dense<0.166666672> : tensor<f32>
  %s = graph.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.clip %s {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %a0 = graph.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a1 = graph.div %a0, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b0 = graph.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b1 = graph.mul %b0, %sixth : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c0 = graph.div %c, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c1 = graph.mul %c0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d0 = graph.mul %c, %sixth : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d1 = graph.mul %x, %d0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e0 = graph.hard_sigmoid %x {alpha = 0.16666667163372040 : f64, beta = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %e1 = graph.mul %x, %e0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a1, %b1, %c1, %d1, %e1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @hard_sigmoid
// CHECK: %[[A:.*]] = graph.hard_sigmoid %arg0 {alpha = 2.500000e-01 : f64, beta = 5.000000e-01 : f64}
// CHECK-NEXT: %[[B:.*]] = graph.hard_sigmoid %arg0 {alpha = 2.500000e-01 : f64, beta = 2.000000e+00 : f64}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @hard_sigmoid(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %four = graph.constant dense<4.0> : tensor<f32>
  %quarter = graph.constant dense<0.25> : tensor<f32>
  %a0 = graph.add %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = graph.clip %a0 {min = 0.0 : f64, max = 4.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %a2 = graph.div %a1, %four : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b0 = graph.mul %x, %quarter : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1 = graph.add %b0, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b2 = graph.clip %b1 {min = 0.0 : f64, max = 1.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %a2, %b2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @gelu
// CHECK: %[[A:.*]] = graph.gelu %arg0 :
// CHECK-NEXT: %[[B:.*]] = graph.gelu %arg0 {approximate = true}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %sqrt2 = graph.constant dense<1.41421354> : tensor<f32>
  %k = graph.constant dense<0.044715> : tensor<f32>
  %s = graph.constant dense<0.797884583> : tensor<f32>
  %a0 = graph.div %x, %sqrt2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = graph.erf %a0 : (tensor<4xf32>) -> tensor<4xf32>
  %a2 = graph.add %a1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a3 = graph.mul %x, %a2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a4 = graph.mul %a3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b0 = graph.pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1 = graph.mul %b0, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b2 = graph.add %x, %b1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b3 = graph.mul %b2, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b4 = graph.tanh %b3 : (tensor<4xf32>) -> tensor<4xf32>
  %b5 = graph.add %one, %b4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b6 = graph.mul %half, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b7 = graph.mul %b6, %b5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a4, %b7 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @ranges
// CHECK: %[[RELU:.*]] = graph.relu %arg0
// CHECK-NEXT: %[[CLIP:.*]] = graph.clip %arg0 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
// CHECK-NEXT: %[[INNER:.*]] = graph.clip %arg0 {max = 4.000000e+00 : f64, min = 2.000000e+00 : f64}
// CHECK-NEXT: return %[[RELU]], %[[CLIP]], %[[INNER]], %arg0
func.func @ranges(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %a = graph.max %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.min %a, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c0 = graph.clip %x {min = 1.0 : f64, max = 4.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %c1 = graph.clip %c0 {min = 2.0 : f64, max = 5.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.clip %x {min = 0xFFF0000000000000 : f64, max = 0x7FF0000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c1, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @leaky
// CHECK: %[[A:.*]] = graph.leaky_relu %arg0 {alpha = 2.500000e-01 : f64}
// CHECK-NEXT: %[[B:.*]] = graph.leaky_relu %arg0 {alpha = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @leaky(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %quarter = graph.constant dense<0.25> : tensor<1x1xf32>
  %m = graph.mul %x, %quarter : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %a = graph.max %m, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %b = graph.prelu %x, %quarter : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  return %a, %b : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Another gate, other constants, a slope above 1, integers.
// CHECK-LABEL: func @left_alone
// CHECK-NOT: graph.silu
// CHECK-NOT: graph.hard_swish
// CHECK-NOT: graph.gelu
// CHECK-NOT: graph.leaky_relu
// CHECK-NOT: graph.relu
// CHECK: return
func.func @left_alone(%x: tensor<4xf32>, %z: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i32>
  %s = graph.sigmoid %z : (tensor<4xf32>) -> tensor<4xf32>
  %a = graph.mul %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b0 = graph.add %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1 = graph.clip %b0 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = graph.mul %x, %b1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.div %b2, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c0 = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  %c1 = graph.add %c0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.mul %x, %c1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d0 = graph.mul %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.max %x, %d0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.max %i, %zero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}
