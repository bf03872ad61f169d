# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices and vectors in device memory. Factors and matrices are addresses."""

from . import _library
from ._library import LIBRARY

_library.bind_all(globals(), LIBRARY, {
    "gemm_ex": "aclblasGemmEx e i i i i i i p p i i p i i p p i i i p",
    "hgemm": "aclblasHgemm e i i i i i i p p i p i p p i i p",
    "s8gemm": "aclblasS8gemm e i i i i i i p p i p i p p i i p",
    "gemv_ex": "aclblasGemvEx e i i i p p i i p i i p p i i i p",
    "hgemv": "aclblasHgemv e i i i p p i p i p p i i p",
    "s8gemv": "aclblasS8gemv e i i i p p i p i p p i i p",
    "create_handle_for_gemm_ex": "aclblasCreateHandleForGemmEx e i i i i i i i i i i >p",
    "create_handle_for_hgemm": "aclblasCreateHandleForHgemm e i i i i i i i >p",
    "create_handle_for_s8gemm": "aclblasCreateHandleForS8gemm e i i i i i i i >p",
    "create_handle_for_gemv_ex": "aclblasCreateHandleForGemvEx e i i i i i i i >p",
    "create_handle_for_hgemv": "aclblasCreateHandleForHgemv e i i i i >p",
    "create_handle_for_s8gemv": "aclblasCreateHandleForS8gemv e i i i i >p",
})
