// RUN: atc-opt --cpu-make-entries %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias}, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: attributes {cpu.kernel, cpu.tasks = 3 : i64, no_unwind}
// CHECK-NEXT: %[[SLOT0:.*]] = llvm.getelementptr %[[ARGS]][0]
// CHECK-NEXT: %[[IN:.*]] = llvm.load %[[SLOT0]]
// CHECK-NEXT: %[[SLOT1:.*]] = llvm.getelementptr %[[ARGS]][1]
// CHECK-NEXT: %[[OUT:.*]] = llvm.load %[[SLOT1]]
// CHECK-NEXT: llvm.call @k$body(%[[IN]], %[[OUT]], %[[BEGIN]], %[[END]])
// CHECK-NEXT: llvm.return

// CHECK-LABEL: llvm.func internal @k$body(
// CHECK-SAME: always_inline, no_unwind
// CHECK-NOT: cpu.kernel
llvm.func @k(%in: !llvm.ptr {llvm.noalias, llvm.readonly}, %out: !llvm.ptr {llvm.noalias}, %begin: i64, %end: i64) attributes {cpu.kernel, cpu.tasks = 3 : i64} {
  llvm.return
}

// What is no kernel stays as it is.
// CHECK-LABEL: llvm.func @other(%arg0: i64) {
llvm.func @other(%x: i64) {
  llvm.return
}

// Scratch memory is no buffer of the launch: it is the second argument of the entry.
// CHECK-LABEL: llvm.func @scratch(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[MEMORY:.*]]: !llvm.ptr {llvm.noalias}, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: cpu.scratch = 4096 : i64
// CHECK-NEXT: %[[SLOT0:.*]] = llvm.getelementptr %[[ARGS]][0]
// CHECK-NEXT: %[[OUT:.*]] = llvm.load %[[SLOT0]]
// CHECK-NEXT: llvm.call @scratch$body(%[[OUT]], %[[MEMORY]], %[[BEGIN]], %[[END]])
llvm.func @scratch(%out: !llvm.ptr, %memory: !llvm.ptr, %begin: i64, %end: i64) attributes {cpu.kernel, cpu.scratch = 4096 : i64, cpu.tasks = 3 : i64} {
  llvm.return
}
