// RUN: atc-opt %s | atc-opt | FileCheck %s

// A double-buffered add: each core takes every eighth tile.
// CHECK-LABEL: npu.program @add(%{{.*}}: !npu.buffer<gm, 262144>, %{{.*}}: !npu.buffer<gm, 262144>) grid(%{{.*}} = 8) soc "Ascend310P3" {
npu.program @add(%in: !npu.buffer<gm, 262144>, %out: !npu.buffer<gm, 262144>) grid(%core = 8) soc "Ascend310P3" {
  // CHECK: npu.loop %[[I:.*]] = 4 {
  npu.loop %i = 4 {
    // CHECK: %[[X:.*]] = npu.alloc {buffers = 2 : i64, offset = 0 : i64} : <ub, 8192>
    %x = npu.alloc {buffers = 2, offset = 0} : !npu.buffer<ub, 8192>
    // CHECK: npu.wait_flag v to mte2 id 0 {depth = 1 : i64, slots = 2 : i64}
    npu.wait_flag v to mte2 id 0 {slots = 2, depth = 1}
    // CHECK: npu.move %[[X]], %{{.*}} at %{{.*}}, %[[I]] {
    // CHECK-SAME: bytes = #npu.range<8192 from <0, [8192, 65536]> below 262144>
    npu.move %x, %in at %core, %i {
      offsets = [#npu.affine<0>, #npu.affine<0, [8192, 65536]>], outer = #npu.range<1>, inner = #npu.range<1>,
      bytes = #npu.range<8192 from <0, [8192, 65536]> below 262144>
    } : !npu.buffer<ub, 8192>, !npu.buffer<gm, 262144>
    npu.set_flag mte2 to v id 0 {slots = 2, depth = 1}
    npu.wait_flag mte2 to v id 0 {slots = 2, depth = 1}
    // CHECK: npu.vector "add" %[[X]], %[[X]], %[[X]] {
    npu.vector "add" %x, %x, %x {
      offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>,
      inner = #npu.range<32>, lanes = #npu.range<128>, type = f16, dst_type = f16,
      dst_inner = 256, a_inner = 256, b_inner = 256
    } : !npu.buffer<ub, 8192>, !npu.buffer<ub, 8192>, !npu.buffer<ub, 8192>
    // CHECK: npu.pipe_barrier v
    npu.pipe_barrier v
  }
  // CHECK: npu.signal mte3 event 3
  npu.signal mte3 event 3
  // CHECK: npu.await mte2 event 3 {value = #npu.range<1 from <8>>}
  npu.await mte2 event 3 {value = #npu.range<1 from <8>>}
}

// One tile of a convolution on the cube, with the first product of a sum set to the bias.
// CHECK-LABEL: npu.program @conv
npu.program @conv(%w: !npu.buffer<gm, 73728>) grid(%x = 2, %y = 4) soc "Ascend910B1" {
  %l1 = npu.alloc {offset = 0} : !npu.buffer<l1, 131072>
  %a = npu.alloc {offset = 0} : !npu.buffer<l0a, 32768>
  %b = npu.alloc {offset = 0} : !npu.buffer<l0b, 32768>
  %c = npu.alloc {offset = 0} : !npu.buffer<l0c, 65536>
  %bt = npu.alloc {offset = 0} : !npu.buffer<bt, 256>
  npu.loop %k = 3 {
    // CHECK: npu.img2col
    npu.img2col %a, %l1 at %k {
      offsets = [#npu.affine<0>, #npu.affine<0, [2048]>], m = #npu.range<128 below 196>,
      k = #npu.range<4 from <0, [4]>>, row0 = #npu.range<1 from <-1>>, c0 = 16, channels1 = 1, height = 14,
      width = 14, out_height = 14, out_width = 14, kernel_h = 3, kernel_w = 3, stride_h = 1, stride_w = 1,
      pad_top = 1, pad_left = 1, src_channel = 6272, dst_row = 2048
    } : !npu.buffer<l0a, 32768>, !npu.buffer<l1, 131072>
    // CHECK: npu.load2d {{.*}}transpose
    npu.load2d %b, %l1 {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<4>, inner = #npu.range<4>,
      dst_outer = 2048, dst_inner = 512, src_outer = 512, src_inner = 2048, transpose} : !npu.buffer<l0b, 32768>, !npu.buffer<l1, 131072>
    // CHECK: npu.mmad %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} : !npu.buffer<bt, 256> at %{{.*}} {{.*}}first = array<i64: 0>
    npu.mmad %c, %a, %b bias %bt : !npu.buffer<bt, 256> at %k {
      offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>], m = #npu.range<128>, n = #npu.range<64>,
      k = #npu.range<64>, type = f16, first = array<i64: 0>, dst_col = 8192, a_row = 2048, b_row = 2048,
      guard = #npu.guard<not_last, 0>
    } : !npu.buffer<l0c, 65536>, !npu.buffer<l0a, 32768>, !npu.buffer<l0b, 32768>
  }
  // CHECK: npu.move_l0c
  npu.move_l0c %w, %c {offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<128>, n = #npu.range<64>, type = f32,
    dst_type = f16, relu, src_col = 8192, dst_row = 32, dst_col = 6272} : !npu.buffer<gm, 73728>, !npu.buffer<l0c, 65536>
}

// Bytes: an image that is quantized while it is loaded, sums to which a residual is added.
// CHECK-LABEL: npu.program @bytes
npu.program @bytes(%g: !npu.buffer<gm, 4096>) grid(%x = 2) soc "Ascend310P3" {
  %l1 = npu.alloc {offset = 0} : !npu.buffer<l1, 2048>
  %c = npu.alloc {offset = 0} : !npu.buffer<l0c, 2048>
  %y = npu.alloc {offset = 0} : !npu.buffer<ub, 512>
  %r = npu.alloc {offset = 512} : !npu.buffer<ub, 512>
  %s = npu.alloc {offset = 1024} : !npu.buffer<ub, 128>
  // CHECK: npu.load_image {{.*}} is_signed, offset = -5.000000e+00 : f64, {{.*}} scale = 1.250000e-01 : f64
  npu.load_image %l1, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, type = f32, channels = 3,
    width = 16, c0 = 4, src_plane = 1024, src_row = 64, dst_row = 128, scale = 1.250000e-01, offset = -5.0, is_signed} : !npu.buffer<l1, 2048>, !npu.buffer<gm, 4096>
  // CHECK: npu.load_image{{.*}}factor1 = 2.500000e-01 : f64, mean1 = 1.160000e+02 : f64{{.*}}src_pixel = 3 : i64
  npu.load_image %l1, %g {offsets = [#npu.affine<0>, #npu.affine<0>], rows = #npu.range<4>, type = ui8, channels = 3,
    width = 16, c0 = 4, src_plane = 1, src_row = 48, dst_row = 128, src_pixel = 3, mean1 = 116.0, factor1 = 0.25} : !npu.buffer<l1, 2048>, !npu.buffer<gm, 4096>
  // CHECK: npu.load_yuv{{.*}}bias2 = -5.811200e+04 : f64{{.*}}chroma_rows = 2 : i64{{.*}}factor0 = 5.000000e-01 : f64{{.*}}v1 = -1.830000e+02 : f64
  npu.load_yuv %l1, %g, %g {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<64>], rows = #npu.range<4 below 4>, channels = 3, width = 16,
    c0 = 4, src_row = 16, chroma_rows = 2, dst_row = 128, y0 = 256.0, u0 = 0.0, v0 = 359.0, y1 = 256.0, u1 = -88.0, v1 = -183.0,
    y2 = 256.0, u2 = 454.0, v2 = 0.0, bias2 = -58112.0, factor0 = 0.5} : !npu.buffer<l1, 2048>, !npu.buffer<gm, 4096>, !npu.buffer<gm, 4096>
  // CHECK: npu.requantize_add %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}} {add_relu, addend_factor = 5.000000e-01 : f64, addend_offset = 7.000000e+00 : f64, addend_type = i8
  npu.requantize_add %y, %c, %s, %r at %x {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
    m = #npu.range<16 from <0, [16]> below 20>, n = #npu.range<32>, type = i32, dst_type = ui8, stored = ui8, offset = 3.0, factor = 0.25,
    addend_type = i8, addend_offset = 7.0, addend_factor = 0.5, add_relu, result_factor = 2.0, result_offset = 1.0,
    src_col = 1024, dst_row = 32, dst_col = 512} : !npu.buffer<ub, 512>, !npu.buffer<l0c, 2048>, !npu.buffer<ub, 128>, !npu.buffer<ub, 512>
}

// Rows of a table that indices of 64 bits name; those of 32 bits need no step.
// CHECK-LABEL: npu.program @gather
npu.program @gather(%table: !npu.buffer<gm, 65536>, %ids: !npu.buffer<gm, 128>) grid(%core = 1) soc "Ascend310P3" {
  %i = npu.alloc {offset = 0} : !npu.buffer<ub, 128>
  %rows = npu.alloc {offset = 128} : !npu.buffer<ub, 1024>
  // CHECK: npu.gather_rows %{{.*}}, %{{.*}}, %{{.*}} {{.*}}index_step = 8 : i64{{.*}}table_rows = 1024 : i64
  npu.gather_rows %rows, %table, %i {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<16>,
    bytes = #npu.range<64>, table_rows = 1024, src_row = 64, dst_row = 64, index_step = 8} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 65536>, !npu.buffer<ub, 128>
  npu.gather_rows %rows, %table, %i {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<16>,
    bytes = #npu.range<64>, table_rows = 1024, src_row = 64, dst_row = 64} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 65536>, !npu.buffer<ub, 128>
}

// Two programs of a mixed launch.
// CHECK-LABEL: npu.program @cube(%{{.*}}: !npu.buffer<gm, 4096>) grid(%{{.*}} = 24) soc "Ascend910B1" with @vector {
npu.program @cube(%g: !npu.buffer<gm, 4096>) grid(%x = 24) soc "Ascend910B1" with @vector {
  npu.signal mte2 event 0
}
// CHECK-LABEL: npu.program @vector(%{{.*}}: !npu.buffer<gm, 4096>) grid(%{{.*}} = 48) soc "Ascend910B1" vector_core {
npu.program @vector(%g: !npu.buffer<gm, 4096>) grid(%x = 48) soc "Ascend910B1" vector_core {
  npu.await mte2 event 0 {value = #npu.range<1 from <24>>}
}
