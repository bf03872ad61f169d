// RUN: atc-opt --split-input-file --verify-diagnostics --om-verify-schedule %s

func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func private @plain(memref<8xf32>, memref<8xf32>, index, index)

// expected-error @+1 {{output 2 is not written}}
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}, %other: memref<8xf32> {om.output}) {
  %a = om.alloc : memref<8xf32>
  %b = om.alloc : memref<8xf32>
  %w = om.weight dense<1.0> : tensor<8xf32> : memref<8xf32>
  // expected-error @+1 {{reads buffer 0, which nothing has written}}
  om.launch @k(%a, %b) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  // expected-error @+1 {{writes a weight or an input}}
  om.launch @k(%b, %in) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  // expected-error @+1 {{writes a weight or an input}}
  om.launch @k(%in, %w) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  // expected-error @+1 {{@plain is not a kernel that writes a buffer}}
  om.launch @plain(%b, %out) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func private @k(memref<8xf32>, memref<8xf32>, index, index) attributes {cpu.kernel}
func.func @main(%in: memref<8xf32>, %out: memref<8xf32> {om.output}) {
  // expected-note @+1 {{the other one, at offset 0}}
  %a = om.alloc {offset = 0 : i64} : memref<8xf32>
  // expected-error @+1 {{overlaps a buffer that lives at the same time}}
  %b = om.alloc {offset = 0 : i64} : memref<8xf32>
  %c = om.alloc {offset = 0 : i64} : memref<8xf32>
  om.launch @k(%in, %a) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @k(%a, %b) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  om.launch @k(%b, %out) {cost = 1 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

// The one below and the one above reach into it; what has ended does not count.
func.func private @k(memref<32xf32>, memref<32xf32>, index, index) attributes {cpu.kernel}
func.func private @k3(memref<32xf32>, memref<32xf32>, memref<32xf32>, memref<32xf32>, index, index)
    attributes {cpu.kernel}
func.func @main(%in: memref<32xf32>, %out: memref<32xf32> {om.output}) {
  %ended = om.alloc {offset = 64 : i64} : memref<32xf32>
  // expected-note @+1 {{the other one, at offset 0}}
  %below = om.alloc {offset = 0 : i64} : memref<32xf32>
  // expected-note @+1 {{the other one, at offset 192}}
  %above = om.alloc {offset = 192 : i64} : memref<32xf32>
  // expected-error @+1 {{overlaps a buffer that lives at the same time}}
  %a = om.alloc {offset = 64 : i64} : memref<35xf32>
  %part = om.view %a[0] : memref<35xf32> to memref<32xf32>
  om.launch @k(%in, %ended) {cost = 1 : i64} : memref<32xf32>, memref<32xf32>
  om.launch @k(%in, %below) {cost = 1 : i64} : memref<32xf32>, memref<32xf32>
  om.launch @k(%in, %above) {cost = 1 : i64} : memref<32xf32>, memref<32xf32>
  om.launch @k(%in, %part) {cost = 1 : i64} : memref<32xf32>, memref<32xf32>
  om.launch @k3(%below, %above, %part, %out) {cost = 1 : i64}
      : memref<32xf32>, memref<32xf32>, memref<32xf32>, memref<32xf32>
  return
}

// -----

func.func @main() {
  // expected-error @+1 {{does not belong into a schedule}}
  %c = arith.constant 1 : index
  return
}

// -----

// expected-error @+1 {{the module has no function @main}}
module {
}
