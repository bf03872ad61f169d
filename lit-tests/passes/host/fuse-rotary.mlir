// RUN: atc-opt %s --host-fuse-rotary | FileCheck %s

// CHECK-LABEL: func @constant_split
// CHECK: %[[Y:.*]] = graph.host_call "RotateHalf"(%arg0, %arg1, %arg2) {split = array<i64: 4>}
// CHECK: return %[[Y]]
func.func @constant_split(%x: tensor<?x2x?x8xf32>, %cos: tensor<*xf32>, %sin: tensor<*xf32>) -> tensor<*xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %four = graph.constant dense<4> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %axis = graph.constant dense<3> : tensor<1xi64>
  %front = graph.host_call "Slice"(%x, %zero, %four, %axis) {} : (tensor<?x2x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %back = graph.host_call "Slice"(%x, %four, %end, %axis) {} : (tensor<?x2x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %minus = graph.host_call "Neg"(%back) {} : (tensor<*xf32>) -> tensor<*xf32>
  %turned = graph.host_call "Concat"(%minus, %front) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a = graph.host_call "Mul"(%x, %cos) {} : (tensor<?x2x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b = graph.host_call "Mul"(%turned, %sin) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "Add"(%a, %b) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Half of the last dim, computed from the shape; factors in the other order.
// CHECK-LABEL: func @computed_half
// CHECK: %[[Y:.*]] = graph.host_call "RotateHalf"(%arg0, %arg1, %arg2) {}
// CHECK: return %[[Y]]
func.func @computed_half(%x: tensor<?x2x?x?xf32>, %cos: tensor<*xf32>, %sin: tensor<*xf32>) -> tensor<*xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<i64>
  %three = graph.constant dense<3> : tensor<i64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %axis = graph.constant dense<-1> : tensor<1xi64>
  %shape = graph.host_call "Shape"(%x) {} : (tensor<?x2x?x?xf32>) -> tensor<*xi64>
  %dim = graph.host_call "Gather"(%shape, %three) {axis = array<i64: 0>} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %half = graph.host_call "Div"(%dim, %two) {} : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %one = graph.host_call "Unsqueeze"(%half, %zero) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %other = graph.host_call "Unsqueeze"(%half, %zero) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %front = graph.host_call "Slice"(%x, %zero, %one, %axis) {} : (tensor<?x2x?x?xf32>, tensor<1xi64>, tensor<*xi64>, tensor<1xi64>) -> tensor<*xf32>
  %back = graph.host_call "Slice"(%x, %other, %end, %axis) {} : (tensor<?x2x?x?xf32>, tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %minus = graph.host_call "Neg"(%back) {} : (tensor<*xf32>) -> tensor<*xf32>
  %turned = graph.host_call "Concat"(%minus, %front) {axis = array<i64: 3>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a = graph.host_call "Mul"(%cos, %x) {} : (tensor<*xf32>, tensor<?x2x?x?xf32>) -> tensor<*xf32>
  %b = graph.host_call "Mul"(%sin, %turned) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y = graph.host_call "Add"(%b, %a) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// The halves do not meet, the axis may not be the last one, or another value is rotated.
// CHECK-LABEL: func @others
// CHECK-NOT: RotateHalf
func.func @others(%x: tensor<?x2x?x8xf32>, %u: tensor<*xf32>, %cos: tensor<*xf32>, %sin: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %four = graph.constant dense<4> : tensor<1xi64>
  %five = graph.constant dense<5> : tensor<1xi64>
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %axis = graph.constant dense<3> : tensor<1xi64>
  %front = graph.host_call "Slice"(%x, %zero, %four, %axis) {} : (tensor<?x2x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %back = graph.host_call "Slice"(%x, %five, %end, %axis) {} : (tensor<?x2x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %good = graph.host_call "Slice"(%x, %four, %end, %axis) {} : (tensor<?x2x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %ufront = graph.host_call "Slice"(%u, %zero, %four, %axis) {} : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %uback = graph.host_call "Slice"(%u, %four, %end, %axis) {} : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %n0 = graph.host_call "Neg"(%back) {} : (tensor<*xf32>) -> tensor<*xf32>
  %n1 = graph.host_call "Neg"(%uback) {} : (tensor<*xf32>) -> tensor<*xf32>
  %n2 = graph.host_call "Neg"(%good) {} : (tensor<*xf32>) -> tensor<*xf32>
  %t0 = graph.host_call "Concat"(%n0, %front) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %t1 = graph.host_call "Concat"(%n1, %ufront) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %t2 = graph.host_call "Concat"(%n2, %front) {axis = array<i64: -1>} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a0 = graph.host_call "Mul"(%x, %cos) {} : (tensor<?x2x?x8xf32>, tensor<*xf32>) -> tensor<*xf32>
  %a1 = graph.host_call "Mul"(%u, %cos) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b0 = graph.host_call "Mul"(%t0, %sin) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b1 = graph.host_call "Mul"(%t1, %sin) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %b2 = graph.host_call "Mul"(%t2, %sin) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y0 = graph.host_call "Add"(%a0, %b0) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y1 = graph.host_call "Add"(%a1, %b1) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %y2 = graph.host_call "Add"(%a1, %b2) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y0, %y1, %y2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
