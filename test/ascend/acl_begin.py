# What the tests of this folder, which share a process, know of its AscendCL.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Results of aclInit: it has begun, or (ACL_ERROR_REPEAT_INITIALIZE) another test did so before.
BEGUN = (0, 100002)
