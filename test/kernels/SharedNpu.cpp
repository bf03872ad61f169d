// Carries the simulator into a shared library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
