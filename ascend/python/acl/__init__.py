# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pyACL: AscendCL for Python, over libascendcl.

Functions that create or ask return `(value, ret)`, others `ret`, which is 0 for success.
Handles and addresses are numbers."""

import ctypes

from . import _library
from ._structures import define

define("""
aclCANNPackageVersion: c version*128, c majorVersion*64, c minorVersion*64, c releaseVersion*64, c patchVersion*64, c reserved*128
""")
_library.bind_all(globals(), _library.LIBRARY, {
    "get_recent_err_msg": "aclGetRecentErrMsg s",
    "get_soc_name": "aclrtGetSocName s",
    "get_version": "aclrtGetVersion e >i >i >i",
    "finalize": "aclFinalize e",
    "create_data_buffer": "aclCreateDataBuffer p p N",
    "destroy_data_buffer": "aclDestroyDataBuffer e p",
    "update_data_buffer": "aclUpdateDataBuffer e p p N",
    "get_data_buffer_addr": "aclGetDataBufferAddr p p",
    "get_data_buffer_size": "aclGetDataBufferSizeV2 N p",
    "get_data_buffer_size_v2": "aclGetDataBufferSizeV2 N p",
    "data_type_size": "aclDataTypeSize N i",
    "float16_to_float": "aclFloat16ToFloat f H",
    "float_to_float16": "aclFloatToFloat16 H f",
    "destroy_tensor_desc": "aclDestroyTensorDesc - p",
    "get_tensor_desc_type": "aclGetTensorDescType i p",
    "get_tensor_desc_format": "aclGetTensorDescFormat i p",
    "get_tensor_desc_size": "aclGetTensorDescSize N p",
    "get_tensor_desc_element_count": "aclGetTensorDescElementCount N p",
    "get_tensor_desc_num_dims": "aclGetTensorDescNumDims N p",
    "get_tensor_desc_dim": "aclGetTensorDescDim L p N",
    "get_tensor_desc_dim_v2": "aclGetTensorDescDimV2 e p N >L",
    "get_tensor_desc_name": "aclGetTensorDescName s p",
    "set_tensor_desc_name": "aclSetTensorDescName - p s",
    "set_tensor_format": "aclSetTensorFormat e p i",
    "set_tensor_storage_format": "aclSetTensorStorageFormat e p i",
    "set_tensor_origin_format": "aclSetTensorOriginFormat e p i",
    "set_tensor_place_ment": "aclSetTensorPlaceMent e p i",
    "set_tensor_const": "aclSetTensorConst e p p N",
    "trans_tensor_desc_format": "aclTransTensorDescFormat e p i >p",
    "set_tensor_dynamic_input": "aclSetTensorDynamicInput e p s",
    "get_tensor_desc_address": "aclGetTensorDescAddress p p",
    "get_tensor_desc_by_index": "aclGetTensorDescByIndex p p N",
    "set_compileopt": "aclSetCompileopt e i s",
    "finalize_reference": "aclFinalizeReference e >U",
    "get_cann_attribute": "aclGetCannAttribute e i >i",
    "get_device_capability": "aclGetDeviceCapability e I i >L",
})

_init = _library.bind(_library.LIBRARY, "aclInit e s")
_create_tensor_desc = _library.bind(_library.LIBRARY, "aclCreateTensorDesc p i i p i")
_set_tensor_shape = _library.bind(_library.LIBRARY, "aclSetTensorShape e p i p")
_set_shape_range = _library.bind(_library.LIBRARY, "aclSetTensorShapeRange e p N p")
_dim_range = _library.bind(_library.LIBRARY, "aclGetTensorDescDimRange e p N N p")
_value_range = _library.bind(_library.LIBRARY, "aclSetTensorValueRange e p N p")
_attribute_list = _library.bind(_library.LIBRARY, "aclGetCannAttributeList e >p >N")
_version = _library.bind(_library.LIBRARY, "aclsysGetCANNVersion e i >aclCANNPackageVersion")
_version_text = _library.bind(_library.LIBRARY, "aclsysGetVersionStr e s p")
_app_log = _library.bind(_library.LIBRARY, "aclAppLog - i s s I s s")
_set_origin_shape = _library.bind(_library.LIBRARY, "aclSetTensorOriginShape e p i p")


def init(config_path=None):
    """Starts AscendCL; with the path of a JSON file where there is one."""
    return _init(config_path)


def _with_dims(function, before, dims, *after):
    values = (ctypes.c_int64 * len(dims))(*dims)
    return function(*before, len(dims), ctypes.addressof(values), *after)


def create_tensor_desc(data_type, dims, data_format):
    """Creates a description of a tensor; returns its handle."""
    return _with_dims(_create_tensor_desc, (data_type,), dims, data_format)


def set_tensor_shape(desc, dims):
    """Sets the dims that the elements are stored in."""
    return _with_dims(_set_tensor_shape, (desc,), dims)


set_tensor_storage_shape = set_tensor_shape


def set_tensor_origin_shape(desc, dims):
    """Sets the dims that the tensor had in the model."""
    return _with_dims(_set_origin_shape, (desc,), dims)


def _set_pairs(function, desc, pairs):
    values = [bound for pair in pairs for bound in pair]
    array = (ctypes.c_int64 * max(len(values), 1))(*values)
    return function(desc, len(pairs), ctypes.addressof(array))


def set_tensor_shape_range(desc, dims_range):
    """Sets the [min, max] of each dim."""
    return _set_pairs(_set_shape_range, desc, dims_range)


def set_tensor_value_range(desc, value_range):
    """Sets the [min, max] of the values."""
    return _set_pairs(_value_range, desc, value_range)


def get_cann_attribute_list():
    """Returns the attributes of the software, how many they are, and the code."""
    address, count, code = _attribute_list()
    return list((ctypes.c_int32 * count).from_address(address)) if count else [], count, code


def get_cann_version(package):
    """Returns the version of a package, a dictionary, and the code."""
    found, code = _version(package)
    return {"version": found["version"], "major_version": found["majorVersion"],
            "minor_version": found["minorVersion"], "release_version": found["releaseVersion"],
            "patch_version": found["patchVersion"], "reserved": found["reserved"]}, code


def get_version_str(package):
    """Returns the version of a package as a text, and the code."""
    text = ctypes.create_string_buffer(128)
    code = _version_text(package, ctypes.addressof(text))
    return text.value.decode(errors="replace"), code


def get_tensor_desc_dim_range(desc, index, dim_range_num=2):
    """Returns the [min, max] of a dim, and the code."""
    bounds = (ctypes.c_int64 * max(int(dim_range_num), 1))()
    code = _dim_range(desc, index, dim_range_num, ctypes.addressof(bounds))
    return list(bounds), code


def app_log(log_level, message, function="", file="", line=0):
    """Writes a line of the log; its level is 0 (debug) to 3 (error)."""
    _app_log(log_level, function, file, line, "%s", message)


from . import blas, fv, mdl, op, prof, rt, util  # noqa: E402 they need what is above

try:
    from . import himpi, media
except ImportError:  # built without libjpeg-turbo and libpng
    himpi = media = None
