// RUN: atc-opt %s --cpu-expand-resize --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Twice the size: positions are halved, vectors of channels copied.
// CHECK-LABEL: func.func @nearest_blocked
// CHECK-SAME: cpu.tasks
// CHECK-NOT: kernel.resize
// CHECK-NOT: arith.divf
// CHECK: arith.divui
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
func.func @nearest_blocked(%in: memref<1x2x5x7x16xf32>, %out: memref<1x2x10x14x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>, mode = #graph<resize_mode nearest>,
    coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode round_prefer_floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x5x7x16xf32>, memref<1x2x10x14x16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @nearest_plain
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 8, 1, 9, 2, 10, 3, 11]
func.func @nearest_plain(%in: memref<1x2x8x8xf32>, %out: memref<1x2x16x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode nearest>,
    coordinates = #graph<coordinate_mode asymmetric>, nearest = #graph<nearest_mode floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x8x8xf32>, memref<1x2x16x16xf32>
  return
}

// -----

// Four taps for a vector of channels; their weights are computed outside of
// the loop over channels.
// CHECK-LABEL: func.func @linear_blocked
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK-COUNT-4: vector.broadcast
// CHECK-COUNT-6: vector.fma
// CHECK-NOT: vector.fma
func.func @linear_blocked(%in: memref<1x2x5x7x16xf32>, %out: memref<1x2x10x14x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>, mode = #graph<resize_mode linear>,
    coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x5x7x16xf32>, memref<1x2x10x14x16xf32>
  return
}

// -----

// Along a resized row every lane has its own weights. Of a row that grows one vector has what all lanes read.
// CHECK-LABEL: func.func @linear_plain
// CHECK: arith.divf {{.*}} : vector<8xf32>
// CHECK-COUNT-2: vector.load
// CHECK-NOT: vector.load
// CHECK: vector.fma
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: vector.fma
// CHECK-LABEL: func.func @linear_smaller
// CHECK: vector.from_elements
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @linear_plain(%in: memref<1x2x8x8xf32>, %out: memref<1x2x16x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode linear>,
    coordinates = #graph<coordinate_mode align_corners>, nearest = #graph<nearest_mode floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x8x8xf32>, memref<1x2x16x16xf32>
  return
}
func.func @linear_smaller(%in: memref<1x2x16x16xf32>, %out: memref<1x2x8x8xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 0.5, 0.5>, mode = #graph<resize_mode linear>,
    coordinates = #graph<coordinate_mode align_corners>, nearest = #graph<nearest_mode floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x16x16xf32>, memref<1x2x8x8xf32>
  return
}

// -----

// Indices below 0 count from the end, all are kept in range.
// CHECK-LABEL: func.func @gather
// CHECK: memref.load {{.*}} memref<4xi64>
// CHECK: arith.cmpi slt
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: vector.store {{.*}} vector<8xf32>
func.func @gather(%in: memref<1x10x64xf32>, %i: memref<4xi64>, %out: memref<1x4x64xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.gather %in, %i, %out : memref<1x10x64xf32>, memref<4xi64>, memref<1x4x64xf32>
  return
}

// -----

// The places of several single elements are computed as one vector.
// CHECK-LABEL: func.func @gather_elements
// CHECK: vector.load {{.*}} vector<8xi64>
// CHECK: arith.minsi {{.*}} vector<8xi64>
// CHECK-COUNT-8: memref.load {{.*}} memref<30xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
func.func @gather_elements(%in: memref<3x10x1xf32>, %i: memref<64xi64>, %out: memref<3x64x1xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
  kernel.gather %in, %i, %out : memref<3x10x1xf32>, memref<64xi64>, memref<3x64x1xf32>
  return
}

// -----

// Levels with an instruction for it load the elements of a vector at once.
// CHECK-LABEL: func.func @gathers
// CHECK: arith.trunci {{.*}} vector<16xi64> to vector<16xi32>
// CHECK: vector.gather {{.*}} memref<30xf32>, vector<16xi32>
// CHECK-LABEL: func.func @shrinks
// CHECK-COUNT-4: vector.gather {{.*}} memref<3072xf32>, vector<16xi32>
module attributes {cpu.level = #cpu.level<name = "v4", lanes = 16, registers = 32, fma = true, l1 = 49152, l2 = 1048576>} {
  func.func @gathers(%in: memref<3x10x1xf32>, %i: memref<64xi64>, %out: memref<3x64x1xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    kernel.gather %in, %i, %out : memref<3x10x1xf32>, memref<64xi64>, memref<3x64x1xf32>
    return
  }
  func.func @shrinks(%in: memref<1x3x32x32xf32>, %out: memref<1x3x16x16xf32>, %begin: index, %end: index) attributes {cpu.kernel} {
    kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 0.5, 0.5>, mode = #graph<resize_mode linear>,
      coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>,
      cubic_coefficient = -0.75 : f64} : memref<1x3x32x32xf32>, memref<1x3x16x16xf32>
    return
  }
}

// -----

func.func @integers(%in: memref<1x2x8x8xi32>, %out: memref<1x2x16x16xi32>, %begin: index, %end: index) attributes {cpu.kernel} {
  // expected-error @+1 {{'kernel.resize' op interpolates floats only, but the input is 'memref<1x2x8x8xi32>'}}
  kernel.resize %in, %out {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph<resize_mode linear>,
    coordinates = #graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode floor>,
    cubic_coefficient = -0.75 : f64} : memref<1x2x8x8xi32>, memref<1x2x16x16xi32>
  return
}
