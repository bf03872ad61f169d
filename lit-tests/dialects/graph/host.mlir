// RUN: atc-opt %s | atc-opt | FileCheck %s
// Host calls, branches and loops survive a round trip.

// CHECK-LABEL: func.func @values
// CHECK-SAME: !graph.sequence<tensor<*xf32>>, %{{.*}}: !graph.optional<tensor<2xf32>>
// CHECK-SAME: tensor<3x!graph.string>, %{{.*}}: !graph.map<i64, tensor<f32>>
func.func @values(%s: !graph.sequence<tensor<*xf32>>, %o: !graph.optional<tensor<2xf32>>,
                  %t: tensor<3x!graph.string>, %m: !graph.map<i64, tensor<f32>>) {
  return
}

// CHECK-LABEL: func.func @call
func.func @call(%x: tensor<?x8xf32>, %k: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>) {
  // CHECK: graph.host_call "TopK"(%{{.*}}, %{{.*}}) {axis = array<i64: -1>}
  %y:2 = graph.host_call "TopK"(%x, %k) {axis = array<i64: -1>}
      : (tensor<?x8xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xi64>
}

// CHECK-LABEL: func.func @left_out
func.func @left_out(%x: tensor<?xf32>, %high: tensor<f32>) -> tensor<?xf32> {
  // CHECK: graph.host_call "Clip"(%{{.*}}, %{{.*}}) at [0, 2] {}
  %y = graph.host_call "Clip"(%x, %high) at [0, 2] {} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: graph.if %{{.*}} : (tensor<i1>) -> tensor<?xf32> {
  // CHECK: graph.leave %{{.*}} : tensor<2xf32>
  // CHECK: } else {
  %r = graph.if %c : (tensor<i1>) -> tensor<?xf32> {
    graph.leave %x : tensor<2xf32>
  } else {
    graph.leave %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @loop
func.func @loop(%go: tensor<i1>, %x: tensor<*xf32>) -> tensor<*xf32> {
  // CHECK: graph.loop %{{.*}}, %{{.*}} : (tensor<i1>, tensor<*xf32>) -> tensor<*xf32> {
  %r = graph.loop %go, %x : (tensor<i1>, tensor<*xf32>) -> tensor<*xf32> {
  ^bb0(%v: tensor<*xf32>):
    graph.leave %go, %v : tensor<i1>, tensor<*xf32>
  }
  return %r : tensor<*xf32>
}
