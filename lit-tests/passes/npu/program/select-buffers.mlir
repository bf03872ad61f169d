// RUN: atc-opt -npu-select-buffers %s | FileCheck %s
// RUN: atc-opt -npu-select-buffers=max-buffers=1 %s | FileCheck %s --check-prefix=ONE
// RUN: atc-opt -npu-select-buffers=max-buffers=3 %s | FileCheck %s --check-prefix=THREE
// RUN: atc-opt %s -npu-select-buffers --remarks-filter=npu-select-buffers --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Missed] {{.*}}Category:npu-select-buffers{{.*}}do not fit into the local memories

// Two copies of what several queues use in a loop. The buffer of one queue, the one
// outside of loops and the one whose loop runs once stay alone.
// CHECK-LABEL: npu.program @copies
// CHECK:         npu.alloc : <ub, 64>
// CHECK:         npu.alloc {buffers = 2 : i64} : <ub, 1024>
// CHECK-NEXT:    npu.alloc {buffers = 2 : i64} : <ub, 2048>
// CHECK-NEXT:    npu.alloc : <ub, 4096>
// CHECK:         npu.alloc : <ub, 1024>
// ONE-LABEL:   npu.program @copies
// ONE-NOT:       buffers =
// THREE-LABEL: npu.program @copies
// THREE:         npu.alloc {buffers = 3 : i64} : <ub, 1024>
// THREE-NEXT:    npu.alloc {buffers = 2 : i64} : <ub, 2048>
npu.program @copies(%in: !npu.buffer<gm, 8192>, %out: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  %resident = npu.alloc : !npu.buffer<ub, 64>
  npu.move %resident, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 64>, !npu.buffer<gm, 8192>
  npu.loop %i = 8 {
    %x = npu.alloc : !npu.buffer<ub, 1024>
    %y = npu.alloc : !npu.buffer<ub, 2048>
    %t = npu.alloc : !npu.buffer<ub, 4096>
    npu.move %x, %in at %i {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
    npu.vector "add" %t, %x, %resident {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<32>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 1024>, !npu.buffer<ub, 64>
    npu.vector "relu" %y, %t {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 2048>, !npu.buffer<ub, 4096>
    npu.move %out, %y at %i {offsets = [#npu.affine<0, [1024]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 2048>
  }
  npu.loop %j = 1 {
    %x = npu.alloc : !npu.buffer<ub, 1024>
    npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
    npu.move %out, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 1024>
  }
}

// 262144 bytes hold three of these: the buffer from gm keeps its copy.
// CHECK-LABEL: npu.program @no_room
// CHECK:         npu.alloc {buffers = 2 : i64} : <ub, 80000>
// CHECK-NEXT:    npu.alloc : <ub, 81920>
// THREE-LABEL: npu.program @no_room
// THREE:         npu.alloc {buffers = 2 : i64} : <ub, 80000>
// THREE-NEXT:    npu.alloc : <ub, 81920>
npu.program @no_room(%in: !npu.buffer<gm, 8192>, %out: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 8 {
    %x = npu.alloc : !npu.buffer<ub, 80000>
    %y = npu.alloc : !npu.buffer<ub, 81920>
    npu.move %x, %in at %i {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 80000>, !npu.buffer<gm, 8192>
    npu.vector "relu" %y, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 81920>, !npu.buffer<ub, 80000>
    npu.move %out, %y at %i {offsets = [#npu.affine<0, [1024]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 81920>
  }
}
