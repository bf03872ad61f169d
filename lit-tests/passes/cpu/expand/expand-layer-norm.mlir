// RUN: atc-opt %s --cpu-expand-layer-norm --canonicalize | FileCheck %s

// Mean, squared differences and result are a loop each over a row; the root is taken once.

// CHECK-LABEL: func.func @main
// CHECK-SAME: cpu.tasks
// CHECK-NOT: cpu.layer_norm
// CHECK: scf.for
// CHECK: vector.reduction <add>
// CHECK: scf.for
// CHECK: vector.reduction <add>
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK: scf.for
// CHECK: vector.fma
// CHECK: vector.store
func.func @main(%x: memref<4x64xf32>, %gamma: memref<64xf32>, %beta: memref<64xf32>, %y: memref<4x64xf32>,
                %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.layer_norm %x gamma %gamma beta %beta outs %y {epsilon = 1.0e-5} : memref<4x64xf32>, memref<64xf32>, memref<64xf32>, memref<4x64xf32>
  return
}

// Weights of fewer bits are widened.

// CHECK-LABEL: func.func @half_weights
// CHECK-COUNT-2: arith.extf {{.*}} : vector<{{[0-9]+}}xf16> to vector
// CHECK: vector.store {{.*}} : memref<{{[0-9]+}}xf32
func.func @half_weights(%x: memref<4x64xf32>, %gamma: memref<64xf16>, %beta: memref<64xf16>, %y: memref<4x64xf32>,
                        %begin: index, %end: index) attributes {cpu.kernel} {
  cpu.layer_norm %x gamma %gamma beta %beta outs %y {epsilon = 1.0e-5} : memref<4x64xf32>, memref<64xf16>, memref<64xf16>, memref<4x64xf32>
  return
}
