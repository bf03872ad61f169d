// RUN: atc-opt -npu-select-buffers=max-buffers=0 -split-input-file -verify-diagnostics %s
// RUN: not atc-opt -npu-allocate-local-memory -split-input-file %s 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not atc-opt -npu-insert-sync -split-input-file %s 2>&1 | FileCheck %s --check-prefix=SYNC
// RUN: not atc-opt -npu-reorder -split-input-file %s 2>&1 | FileCheck %s --check-prefix=REORDER

// PLACE: error: needs 300032 bytes of ub, Ascend310P3 has 262144
// expected-error@+1 {{max-buffers is 0, 1 is the least}}
npu.program @too_large() grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc : !npu.buffer<ub, 200000>
  %y = npu.alloc : !npu.buffer<ub, 100032>
  npu.vector "relu" %x, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 200000>, !npu.buffer<ub, 100032>
}

// -----

// PLACE: error: names no known SoC: "Ascend311"
// expected-error@+1 {{max-buffers is 0, 1 is the least}}
npu.program @unknown() grid(%core = 1) soc "Ascend311" {
}

// -----

// SYNC: error: orders queues; only a program without flags and barriers is expected here
// REORDER: error: orders queues
// expected-error@+1 {{max-buffers is 0, 1 is the least}}
npu.program @twice() grid(%core = 1) soc "Ascend310P3" {
  npu.pipe_barrier s
}
