// RUN: atc-opt --split-input-file --om-reuse-in-place %s | FileCheck %s


func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}

// CHECK-LABEL: func.func @main
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  %a = om.alloc : memref<8xf32>
  %b = om.alloc : memref<8xf32>
  %c = om.alloc : memref<8xf32>
  %d = om.alloc : memref<8xf32>
  // An input is the caller's: it is not written.
  // CHECK: om.launch @k(%arg0, %[[A:[0-9]+]])
  om.launch @k(%in, %a) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  // CHECK: om.launch @k(%[[A]], %[[A]])
  om.launch @k(%a, %b) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  // The operand is read again later.
  // CHECK: om.launch @k(%[[A]], %[[C:[0-9]+]])
  om.launch @k(%b, %c) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  // The one that dies and is listed gives its place; twice the same operand is fine.
  // CHECK: om.launch @add(%[[A]], %[[C]], %[[C]])
  om.launch @add(%b, %c, %d) {cost = 1 : i64, in_place = array<i64: 1>} : memref<8xf32>, memref<8xf32>, memref<8xf32>
  // CHECK: om.launch @add(%[[C]], %[[C]], %arg1)
  om.launch @add(%d, %d, %out) {cost = 1 : i64, in_place = array<i64: 0, 1>} : memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// Not listed, another size, or read at other positions by another operand.
func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @half(memref<16xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @add(memref<8xf32>, memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  // CHECK-COUNT-5: om.alloc
  %a = om.alloc : memref<8xf32>
  %b = om.alloc : memref<8xf32>
  %c = om.alloc : memref<16xf32>
  %low = om.view %c[0] : memref<16xf32> to memref<8xf32>
  %high = om.view %c[32] : memref<16xf32> to memref<8xf32>
  %d = om.alloc : memref<16xf32>
  %dlow = om.view %d[0] : memref<16xf32> to memref<8xf32>
  %e = om.alloc : memref<8xf32>
  om.launch @k(%in, %a) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @k(%a, %b) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @k(%b, %low) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  om.launch @k(%in, %high) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @add(%low, %high, %dlow) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>, memref<8xf32>
  om.launch @k(%dlow, %e) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  om.launch @k(%e, %out) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

// Two buffers with the same zeros around the same part: the second fill goes.
func.func private @fill(memref<10xf32>, index, index) attributes {cpu.kernel}
func.func private @in(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @out(memref<10xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  // CHECK: %[[A:.*]] = om.alloc
  // CHECK-NOT: om.alloc
  %a = om.alloc : memref<10xf32>
  %av = om.view %a[4] : memref<10xf32> to memref<8xf32>
  %b = om.alloc : memref<10xf32>
  %bv = om.view %b[4] : memref<10xf32> to memref<8xf32>
  // CHECK: om.launch @fill(%[[A]])
  // CHECK-NOT: om.launch @fill
  om.launch @fill(%a) {cost = 1 : i64} : memref<10xf32>
  om.launch @in(%in, %av) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @fill(%b) {cost = 1 : i64} : memref<10xf32>
  om.launch @k(%av, %bv) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  om.launch @out(%b, %out) {cost = 1 : i64} : memref<10xf32>, memref<8xf32>
  return
}

// -----

// The first buffer has no zeros around it: nothing is reused.
func.func private @fill(memref<10xf32>, index, index) attributes {cpu.kernel}
func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @out(memref<10xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  // CHECK-COUNT-2: om.alloc
  %a = om.alloc : memref<10xf32>
  %av = om.view %a[4] : memref<10xf32> to memref<8xf32>
  %b = om.alloc : memref<10xf32>
  %bv = om.view %b[4] : memref<10xf32> to memref<8xf32>
  om.launch @k(%in, %av) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  // CHECK: om.launch @fill
  om.launch @fill(%b) {cost = 1 : i64} : memref<10xf32>
  om.launch @k(%av, %bv) {cost = 1 : i64, in_place = array<i64: 0>} : memref<8xf32>, memref<8xf32>
  om.launch @out(%b, %out) {cost = 1 : i64} : memref<10xf32>, memref<8xf32>
  return
}
