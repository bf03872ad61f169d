// RUN: atc-opt %s -split-input-file -host-outline-static | FileCheck %s
// RUN: atc-opt %s -split-input-file -host-outline-static --remarks-filter=host-outline-static --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Analysis] {{.*}}Category:host-outline-static{{.*}}{{[0-9]+}} regions of static shapes become generated code

// What is in front of a host call and what is behind it are two parts; the constant
// that both read is in both.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.constant
// CHECK: %[[A:.*]] = call @part_0(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[U:.*]] = graph.host_call "Unique"(%[[A]])
// CHECK: %[[N:.*]] = graph.host_call "Reshape"
// CHECK: %[[B:.*]] = call @part_1(%[[N]], %[[A]])
// CHECK: return %[[U]], %[[B]]
// CHECK: func.func private @part_0(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {host.part}
// CHECK: graph.constant
// CHECK: graph.add
// CHECK: func.func private @part_1
// CHECK: graph.constant
// CHECK: graph.mul
// CHECK: graph.mul
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi64>) -> (tensor<*xf32>, tensor<4xf32>) {
  %c = graph.constant dense<2.0> : tensor<4xf32>
  %a = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = graph.host_call "Unique"(%a) {} : (tensor<4xf32>) -> tensor<*xf32>
  %n = graph.host_call "Reshape"(%a, %s) {} : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
  %b = graph.mul %n, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.mul %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %u, %d : tensor<*xf32>, tensor<4xf32>
}

// -----

// Ops that no host call is between are one part, in whatever order they stand.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: call @part_
// CHECK-NOT: call @part_
// CHECK: return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %u = graph.host_call "Trilu"(%a) {} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %u, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// Branches and bodies have parts of their own; what they take from around them is an
// argument.
// CHECK-LABEL: func.func @main
// CHECK: graph.if
// CHECK: call @part_0(%{{.*}}, %{{.*}})
// CHECK: graph.leave
// CHECK: else
// CHECK-NOT: call
// CHECK: graph.leave
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  } else {
    graph.leave %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A model without host ops stays as it is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: graph.exp
// CHECK-NEXT: return
// CHECK-NOT: @part_
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// What is computed of constants, in however many steps, is in the part that reads it, twice where
// two parts do.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = call @part_0(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[U:.*]] = graph.host_call "Trilu"(%[[A]])
// CHECK: call @part_1(%[[U]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: func.func private @part_0
// CHECK: graph.transpose
// CHECK: graph.fully_connected
// CHECK: func.func private @part_1
// CHECK: %[[C:.*]] = graph.constant
// CHECK: %[[N:.*]] = graph.neg %[[C]]
// CHECK: %[[W:.*]] = graph.transpose %[[N]]
// CHECK: graph.fully_connected %{{.*}}, %[[W]]
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = graph.constant dense<2.0> : tensor<4x4xf32>
  %n = graph.neg %c : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = graph.transpose %n {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = graph.fully_connected %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = graph.host_call "Trilu"(%a) {} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = graph.fully_connected %u, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// -----

// A part knows the bound of indices that a host kernel computes, and of no other argument.
// CHECK-LABEL: func.func @main
// CHECK: %[[K:.*]]:2 = graph.host_call "TopK"
// CHECK: call @part_0(%[[K]]#0, %[[K]]#1, %{{.*}})
// CHECK: func.func private @part_0(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xi64> {graph.indices_below = 40 : i64}, %{{.*}}: tensor<2x3xi64>)
func.func @main(%x: tensor<2x40xf32>, %n: tensor<1xi64>, %z: tensor<2x3xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %v, %i = graph.host_call "TopK"(%x, %n) {axis = array<i64: -1>, largest = array<i64: 1>, sorted = array<i64: 1>} : (tensor<2x40xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %a = graph.add %v, %v : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = graph.add %i, %z : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xi64>
}

// -----

// Equal parts inside branches are one function, also where another part lies between them; outside
// of branches each part has its own.
// CHECK-LABEL: func.func @main
// CHECK: graph.if
// CHECK: call @part_1(%arg1)
// CHECK: else
// CHECK: call @part_2(%arg1)
// CHECK: graph.if
// CHECK: call @part_1(%arg2)
// CHECK: else
// CHECK: call @part_3(%arg2)
// CHECK: call @part_0(%arg1)
// CHECK: func.func private @part_3
// CHECK-NOT: func.func
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  } else {
    %a = graph.leaky_relu %x {alpha = 0.1 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  }
  %2 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  } else {
    %a = graph.leaky_relu %y {alpha = 0.2 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    graph.leave %a : tensor<4xf32>
  }
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Values of quantized types stay inside their part: a later part and the body of a loop read the
// integers. What the same part reads stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]]:2 = call @part_0(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xi8>, tensor<4xf32>)
// CHECK: graph.loop
// CHECK: call @part_1(%[[P]]#0) : (tensor<4xi8>) -> tensor<4xf32>
// CHECK-LABEL: func.func private @part_0
// CHECK: graph.quantize
// CHECK-DAG: graph.storage_cast {{.*}} -> tensor<4xi8>
// CHECK-DAG: graph.dequantize
// CHECK-LABEL: func.func private @part_1(%arg0: tensor<4xi8>)
// CHECK: graph.storage_cast %arg0 : (tensor<4xi8>) -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01>>
!q = !quant.uniform<i8:f32, 0.25>
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.quantize %x : (tensor<4xf32>) -> tensor<4x!q>
  %1 = graph.dequantize %0 : (tensor<4x!q>) -> tensor<4xf32>
  %2 = graph.loop %c, %x : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %4 = graph.dequantize %0 : (tensor<4x!q>) -> tensor<4xf32>
    graph.leave %c, %4 : tensor<i1>, tensor<4xf32>
  }
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
