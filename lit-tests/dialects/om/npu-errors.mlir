// RUN: atc-opt %s --split-input-file --verify-diagnostics

npu.program @p(%a: !npu.buffer<gm, 16>, %b: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}
func.func @small(%x: memref<3xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{buffer 0 has 12 bytes, but @p needs 16}}
  om.launch @p(%x, %y) {cost = 1 : i64} : memref<3xf32>, memref<4xf32>
  return
}

// -----

npu.program @p(%a: !npu.buffer<gm, 16>, %b: !npu.buffer<gm, 16>) grid(%x = 1) soc "Ascend310P3" {
}
func.func @few(%x: memref<4xf32>) {
  // expected-error @+1 {{passes 1 buffers to @p, which takes 2}}
  om.launch @p(%x) {cost = 1 : i64} : memref<4xf32>
  return
}
