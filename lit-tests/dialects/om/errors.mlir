// RUN: atc-opt %s --split-input-file --verify-diagnostics

func.func @weight() {
  // expected-error @+1 {{does not fit 'memref<3xf32>'}}
  %0 = om.weight dense<[1.0, 2.0]> : tensor<2xf32> : memref<3xf32>
  return
}

// -----

func.func @strided_alloc() {
  // expected-error @+1 {{needs a static, contiguous buffer}}
  %0 = om.alloc : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @misaligned_alloc() {
  // expected-error @+1 {{offset 4 must be a multiple of 64}}
  %0 = om.alloc {offset = 4 : i64} : memref<4xf32>
  return
}

// -----

func.func @view(%x: memref<4xf32>) {
  // expected-error @+1 {{of 12 bytes at offset 8 leaves its source of 16 bytes}}
  %0 = om.view %x[8] : memref<4xf32> to memref<3xf32>
  return
}

// -----

func.func @no_kernel(%x: memref<4xf32>) {
  // expected-error @+1 {{there is no kernel @k}}
  om.launch @k(%x) {cost = 1 : i64} : memref<4xf32>
  return
}

// -----

func.func private @k(memref<5xf32>, index, index)
func.func @wrong_buffer(%x: memref<4xf32>) {
  // expected-error @+1 {{buffer 0 is 'memref<4xf32>', but @k takes 'memref<5xf32>'}}
  om.launch @k(%x) {cost = 1 : i64} : memref<4xf32>
  return
}

// -----

func.func private @k(index)
func.func @too_many(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{passes 2 buffers to @k, which takes 1}}
  om.launch @k(%x, %y) {cost = 1 : i64} : memref<4xf32>, memref<4xf32>
  return
}
