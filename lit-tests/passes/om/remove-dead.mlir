// RUN: atc-opt --om-remove-dead %s | FileCheck %s


func.func private @fill(memref<16xf32>, index, index) attributes {cpu.kernel}
func.func private @copy(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @sum(memref<16xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
// CHECK-NOT: @only_dead
func.func private @only_dead(memref<4xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
// CHECK-NOT: @unused
func.func private @unused(memref<8xf32>, index, index) attributes {cpu.kernel}

// CHECK-LABEL: func.func @main
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  // CHECK-NEXT: %[[A:.*]] = om.alloc : memref<16xf32>
  // CHECK-NEXT: %[[V:.*]] = om.view %[[A]][0]
  // CHECK-NEXT: om.launch @fill(%[[A]])
  // CHECK-NEXT: om.launch @copy(%arg0, %[[V]])
  // CHECK-NEXT: om.launch @sum(%[[A]], %arg1)
  // CHECK-NEXT: return
  %a = om.alloc : memref<16xf32>
  %v = om.view %a[0] : memref<16xf32> to memref<8xf32>
  %w = om.weight dense<1.0> : tensor<4xf32> : memref<4xf32>
  %b = om.alloc : memref<8xf32>
  %c = om.alloc : memref<8xf32>
  // Nobody writes that part again, but the whole buffer is read.
  om.launch @fill(%a) {cost = 1 : i64} : memref<16xf32>
  om.launch @copy(%in, %v) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  // A chain that ends nowhere.
  om.launch @only_dead(%w, %b) {cost = 1 : i64} : memref<4xf32>, memref<8xf32>
  om.launch @copy(%b, %c) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @sum(%a, %out) {cost = 1 : i64} : memref<16xf32>, memref<8xf32>
  // Written after the last read.
  om.launch @copy(%in, %v) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  return
}
