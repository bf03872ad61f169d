// RUN: not atc-opt %s --compile="stop-after=emit" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not atc-opt %s --compile="stop-after=import" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not atc-opt %s --compile="soc=Zork" 2>&1 | FileCheck %s --check-prefix=SOC
// RUN: not atc-opt %s --compile="target-cpu=z80" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not atc-opt %s --compile 2>&1 | FileCheck %s --check-prefix=MAIN

// PHASE: E10001: {{.*}}must be graph, kernels, schedule or programs
// SOC: E10001: {{.*}}"Zork" of --soc_version
// CPU: E10001: {{.*}}"z80" of --target_cpu
// MAIN: E16004: the model has no graph
func.func private @main(tensor<4xf32>) -> tensor<4xf32>
