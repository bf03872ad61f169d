// RUN: atc-opt -npu-allocate-local-memory=report -verify-diagnostics %s | FileCheck %s

// Side by side while there is room, copies 512 bytes apart or a multiple of it,
// each memory for itself with its alignment.
// CHECK-LABEL: npu.program @side_by_side
// CHECK:         npu.alloc {offset = 0 : i64} : <ub, 40>
// CHECK:         npu.alloc {buffers = 2 : i64, offset = 64 : i64} : <ub, 1000>
// CHECK:         npu.alloc {offset = 2112 : i64} : <ub, 64>
// CHECK:         npu.alloc {offset = 0 : i64} : <l0c, 2048>
// expected-remark@+2 {{uses 2176 of 262144 bytes of ub, lower bound 2088}}
// expected-remark@+1 {{uses 2048 of 262144 bytes of l0c, lower bound 2048}}
npu.program @side_by_side(%in: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 8 {
    %x = npu.alloc : !npu.buffer<ub, 40>
    %y = npu.alloc {buffers = 2} : !npu.buffer<ub, 1000>
    %z = npu.alloc : !npu.buffer<ub, 64>
    %c = npu.alloc : !npu.buffer<l0c, 2048>
    npu.vector "fill" %x {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 40>
    npu.vector "abs" %y, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 1000>, !npu.buffer<ub, 40>
    npu.vector "abs" %z, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 64>, !npu.buffer<ub, 1000>
  }
}

// %x is read for the last time where %y begins: both live there. %z may lie on %x.
// CHECK-LABEL: npu.program @shared
// CHECK:         npu.alloc {offset = 0 : i64} : <ub, 131072>
// CHECK-NEXT:    npu.alloc {offset = 131072 : i64} : <ub, 120000>
// CHECK-NEXT:    npu.alloc {offset = 0 : i64} : <ub, 100000>
// expected-remark@+1 {{uses 251072 of 262144 bytes of ub, lower bound 251072, buffers share}}
npu.program @shared(%in: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 8 {
    %x = npu.alloc : !npu.buffer<ub, 131072>
    %y = npu.alloc : !npu.buffer<ub, 120000>
    %z = npu.alloc : !npu.buffer<ub, 100000>
    npu.vector "fill" %x {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 131072>
    npu.vector "abs" %y, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 120000>, !npu.buffer<ub, 131072>
    npu.vector "abs" %z, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 100000>, !npu.buffer<ub, 120000>
  }
}

// A buffer from outside lives as long as the loop that uses it: nothing in the loop
// may lie on it, what comes after may.
// CHECK-LABEL: npu.program @resident
// CHECK:         npu.alloc {offset = 0 : i64} : <ub, 150016>
// CHECK-NEXT:    npu.alloc {offset = 0 : i64} : <ub, 140000>
// CHECK:         npu.alloc {offset = 150016 : i64} : <ub, 100000>
// expected-remark@+1 {{uses 250016 of 262144 bytes of ub, lower bound 250016, buffers share}}
npu.program @resident(%in: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc : !npu.buffer<ub, 150016>
  %y = npu.alloc : !npu.buffer<ub, 140000>
  npu.loop %i = 8 {
    %t = npu.alloc : !npu.buffer<ub, 100000>
    npu.vector "fill" %x {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 150016>
    npu.vector "fill" %t {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 100000>
  }
  npu.vector "fill" %y {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 140000>
}
