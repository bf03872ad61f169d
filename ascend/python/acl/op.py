# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single operators."""

import ctypes

from . import _library
from ._library import LIBRARY, bind

_library.bind_all(globals(), LIBRARY, {
    "set_model_dir": "aclopSetModelDir e s",
    "load": "aclopLoad e p N",
    "create_attr": "aclopCreateAttr p",
    "destroy_attr": "aclopDestroyAttr - p",
    "set_attr_bool": "aclopSetAttrBool e p s B",
    "set_attr_int": "aclopSetAttrInt e p s L",
    "set_attr_float": "aclopSetAttrFloat e p s f",
    "set_attr_string": "aclopSetAttrString e p s s",
    "start_dump_args": "aclopStartDumpArgs e I s",
    "stop_dump_args": "aclopStopDumpArgs e I",
    "set_kernel_args": "aclopSetKernelArgs e p s I p I",
    "set_kernel_workspace_sizes": "aclopSetKernelWorkspaceSizes e p i p",
    "update_params": "aclopUpdateParams e s @ *p @ *p p",
    "destroy_handle": "aclopDestroyHandle - p",
    "cast": "aclopCast e p p p p B p",
    "create_handle_for_cast": "aclopCreateHandleForCast e p p B >p",
})

_execute_v2 = bind(LIBRARY, "aclopExecuteV2 e s i p p i p p p p")
_compile = bind(LIBRARY, "aclopCompile e s i p i p p i i s")
_compile_and_execute = bind(LIBRARY, "aclopCompileAndExecute e s i p p i p p p i i s p")
_create_handle = bind(LIBRARY, "aclopCreateHandle e s i p i p p >p")
_execute_handle = bind(LIBRARY, "aclopExecWithHandle e p i p i p p")
_set_lists = bind(LIBRARY, "aclopSetAttrListListInt e p s i p p")
_compile_option_size = bind(LIBRARY, "aclGetCompileoptSize N i")
_get_compile_option = bind(LIBRARY, "aclGetCompileopt e i p N")
set_compile_opt = bind(LIBRARY, "aclSetCompileopt e i s")
set_compile_flag = bind(LIBRARY, "aclopSetCompileFlag e i")
set_max_op_queue_num = bind(LIBRARY, "aclopSetMaxOpQueueNum e U")
_infer_shape = bind(LIBRARY, "aclopInferShape e s i p p i p p")


def _handles(values):
    return (ctypes.c_void_p * max(len(values), 1))(*values)


def _list_setter(c_name, element):
    function = bind(LIBRARY, f"{c_name} e p s i p")

    def set_list(attr, name, values):
        array = (element * max(len(values), 1))(
            *(value.encode() if isinstance(value, str) else value for value in values))
        return function(attr, name, len(values), ctypes.addressof(array))

    set_list.__name__ = set_list.__qualname__ = c_name
    return set_list


set_attr_list_bool = _list_setter("aclopSetAttrListBool", ctypes.c_uint8)
set_attr_list_int = _list_setter("aclopSetAttrListInt", ctypes.c_int64)
set_attr_list_float = _list_setter("aclopSetAttrListFloat", ctypes.c_float)
set_attr_list_string = _list_setter("aclopSetAttrListString", ctypes.c_char_p)
def set_attr_list_list_int(attr, name, values):
    """Sets a list of lists of integers."""
    lists = [(ctypes.c_int64 * max(len(row), 1))(*row) for row in values]
    counts = (ctypes.c_int32 * max(len(values), 1))(*map(len, values))
    rows = _handles([ctypes.addressof(row) for row in lists])
    return _set_lists(attr, name, len(values), ctypes.addressof(counts), ctypes.addressof(rows))


def get_compile_opt(opt):
    """Returns the value of an option of aclopCompile, and the code."""
    text = ctypes.create_string_buffer(max(_compile_option_size(opt), 1))
    code = _get_compile_option(opt, ctypes.addressof(text), len(text))
    return text.value.decode(errors="replace"), code


_set_data_type = bind(LIBRARY, "aclopSetAttrDataType e p s i")
_set_data_types = _list_setter("aclopSetAttrListDataType", ctypes.c_int32)
_COMPILE_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                                     ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_compile_functions = {}  # by type: what C calls must stay
_register = bind(LIBRARY, "aclopRegisterCompileFunc e s p")
_unregister = bind(LIBRARY, "aclopUnregisterCompileFunc e s")
_create_kernel = bind(LIBRARY, "aclopCreateKernel e s s s p i i p")


def set_attr_data_type(attr, name, value):
    """Sets a data type; returns the attributes and the code."""
    return attr, _set_data_type(attr, name, value)


def set_attr_list_data_type(attr, name, values):
    """Sets a list of data types; returns the attributes and the code."""
    return attr, _set_data_types(attr, name, values)


def register_compile_func(op_type, function):
    """Has update_params call function(number of inputs, their descriptions, number of outputs,
    their descriptions, attributes, description of the kernel)."""
    def listed(address, count):
        return [item or 0 for item in (ctypes.c_void_p * count).from_address(address)] \
            if count else []

    def choose(inputs, input_desc, outputs, output_desc, attr, kernel):
        function(inputs, listed(input_desc, inputs), outputs, listed(output_desc, outputs),
                 attr or 0, kernel or 0)
        return 0

    wrapped = _COMPILE_FUNCTION(choose)
    code = _register(op_type, ctypes.cast(wrapped, ctypes.c_void_p).value)
    if code == _library.SUCCESS:
        _compile_functions[op_type] = wrapped
    return code


def unregister_compile_func(op_type):
    """Ends what register_compile_func began."""
    code = _unregister(op_type)
    _compile_functions.pop(op_type, None)
    return code


def create_kernel(op_type, kernel_id, kernel_name, data, size, engine_type, deallocator):
    """Hands a kernel of the vendor's instruction set over."""
    return _create_kernel(op_type, kernel_id, kernel_name, data, size, engine_type, None)



def execute_v2(op_type, input_desc, inputs, output_desc, outputs, attr, stream):
    """Puts an operator behind the stream's tasks; descriptions and buffers are lists."""
    arrays = [_handles(values) for values in (input_desc, inputs, output_desc, outputs)]
    places = [ctypes.addressof(array) for array in arrays]
    return _execute_v2(op_type, len(inputs), places[0], places[1], len(outputs), places[2],
                       places[3], attr, stream)


execute = execute_v2


def compile(op_type, input_desc, output_desc, attr, engine_type=0, compile_flag=0, op_path=None):
    """Compiles an operator for these descriptions, so that execute_v2 finds it."""
    given, wanted = _handles(input_desc), _handles(output_desc)
    return _compile(op_type, len(input_desc), ctypes.addressof(given), len(output_desc),
                    ctypes.addressof(wanted), attr, engine_type, compile_flag, op_path)


def compile_and_execute(op_type, input_desc, inputs, output_desc, outputs, attr, engine_type,
                        compile_flag, op_path, stream):
    """Compiles an operator where that was not done before, and executes it."""
    arrays = [_handles(values) for values in (input_desc, inputs, output_desc, outputs)]
    places = [ctypes.addressof(array) for array in arrays]
    return _compile_and_execute(op_type, len(inputs), places[0], places[1], len(outputs),
                                places[2], places[3], attr, engine_type, compile_flag, op_path,
                                stream)


compile_and_execute_v2 = compile_and_execute


def create_handle(op_type, input_desc, output_desc, attr):
    """Finds an operator once; returns a handle and the code."""
    given, wanted = _handles(input_desc), _handles(output_desc)
    return _create_handle(op_type, len(input_desc), ctypes.addressof(given), len(output_desc),
                          ctypes.addressof(wanted), attr)


def execute_with_handle(handle, inputs, outputs, stream):
    """Executes the operator of a handle."""
    given, wanted = _handles(inputs), _handles(outputs)
    return _execute_handle(handle, len(inputs), ctypes.addressof(given), len(outputs),
                           ctypes.addressof(wanted), stream)


exec_with_handle = execute_with_handle


def infer_shape(op_type, input_desc, inputs, output_num, output_desc, attr):
    """Sets the dims of the output descriptions."""
    arrays = [_handles(values) for values in (input_desc, inputs, output_desc)]
    places = [ctypes.addressof(array) for array in arrays]
    return _infer_shape(op_type, len(inputs), places[0], places[1], output_num, places[2], attr)
