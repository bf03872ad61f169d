// RUN: atc-opt --split-input-file --verify-diagnostics --cpu-verify-kernels %s

llvm.func @good(%x: f32) -> f32 attributes {cpu.kernel, cpu.tasks = 1 : i64} {
  %0 = llvm.intr.sqrt(%x) : (f32) -> f32
  %1 = llvm.intr.fma(%0, %x, %x) : (f32, f32, f32) -> f32
  llvm.return %1 : f32
}

// expected-error @+1 {{kernel 'functions' needs llvm.intr.exp, llvm.frem, for which there is no code}}
llvm.func internal @functions$body(%x: f64) -> f64 {
  %0 = llvm.intr.exp(%x) : (f64) -> f64
  %1 = llvm.frem %0, %x : f64
  llvm.return %1 : f64
}

// expected-error @+1 {{kernel 'expf' needs a function outside the model, for which there is no code}}
llvm.func @expf(f32) -> f32

// expected-error @+1 {{kernel 'op_left' needs arith.addi, for which there is no code}}
llvm.func @op_left(%x: i64) {
  %0 = arith.addi %x, %x : i64
  llvm.return
}

// expected-error @+1 {{kernel 'not_expanded' needs an expansion that says how many tasks it has}}
llvm.func @not_expanded() attributes {cpu.kernel} {
  llvm.return
}

// -----

module attributes {cpu.level = #cpu.level<name = "x86-64-v2", lanes = 4, registers = 16, fma = false, l1 = 32768, l2 = 262144>} {
  // expected-error @+1 {{kernel 'k' needs llvm.intr.fma, for which there is no code}}
  llvm.func @k(%x: f32) -> f32 {
    %0 = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
    llvm.return %0 : f32
  }
}
