# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the vendor's instruction set: every function returns that it is not supported. The
names are part of acl.rt."""

import ctypes

from . import _library
from ._library import LIBRARY, bind

_library.bind_all(globals(), LIBRARY, {
    "create_binary": "aclrtCreateBinary p p N",
    "destroy_binary": "aclrtDestroyBinary e p",
    "binary_load": "aclrtBinaryLoad e p >p",
    "binary_unload": "aclrtBinaryUnLoad e p",
    "binary_get_function": "aclrtBinaryGetFunction e p s >p",
    "get_function_addr": "aclrtGetFunctionAddr e p >p >p",
    "register_cpu_func": "aclrtRegisterCpuFunc e p s s >p",
    "launch_kernel": "aclrtLaunchKernel e p I p N p",
    "kernel_args_init": "aclrtKernelArgsInit e p >p",
    "kernel_args_init_by_user_mem": "aclrtKernelArgsInitByUserMem e p p p N",
    "kernel_args_get_mem_size": "aclrtKernelArgsGetMemSize e p N >N",
    "kernel_args_get_handle_mem_size": "aclrtKernelArgsGetHandleMemSize e p >N",
    "kernel_args_append": "aclrtKernelArgsAppend e p p N >p",
    "kernel_args_append_place_holder": "aclrtKernelArgsAppendPlaceHolder e p >p",
    "kernel_args_get_place_holder_buffer": "aclrtKernelArgsGetPlaceHolderBuffer e p p N >p",
    "kernel_args_para_update": "aclrtKernelArgsParaUpdate e p p p N",
    "kernel_args_finalize": "aclrtKernelArgsFinalize e p",
})

_load_file = bind(LIBRARY, "aclrtBinaryLoadFromFile e s p >p")
_load_data = bind(LIBRARY, "aclrtBinaryLoadFromData e p N p >p")
_launch = bind(LIBRARY, "aclrtLaunchKernelWithConfig e p I p p p p")
_function_name = bind(LIBRARY, "aclrtGetFunctionName e p I p")


def binary_load_from_file(path, options):
    """Returns a handle and the code."""
    return _load_file(path, None)


def binary_load_from_data(data, length, options):
    """Returns a handle and the code."""
    return _load_data(data, length, None)


def launch_kernel_with_config(function, block_dim, stream, config, arguments, reserve):
    """Returns the code."""
    return _launch(function, block_dim, stream, None, arguments, reserve)


def get_function_name(function, max_length):
    """Returns the name and the code."""
    name = ctypes.create_string_buffer(max(int(max_length), 0) + 1)
    code = _function_name(function, max_length, ctypes.addressof(name))
    return name.value.decode(errors="replace"), code
