/*===-- openatc/types.h - statuses, element types and constants -------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * The types that all headers of the runtime share. openatc/om.h includes them.
 */
#ifndef OPENATC_TYPES_H
#define OPENATC_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define OM_API __attribute__((visibility("default")))
#else
#define OM_API
#endif

/* A C program may pass any integer as an enumeration. A library in C++ may read it only
 * where the enumeration has a fixed type. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define OM_ENUM_TYPE : unsigned
#else
#define OM_ENUM_TYPE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The newest file schema this library reads: the same major number, and any
 * minor number up to this one. */
#define OM_SCHEMA_MAJOR 1
#define OM_SCHEMA_MINOR 9

/* Alignment in bytes of every caller's input and output pointer. */
#define OM_ALIGNMENT 64

/* An index where there is none. */
#define OM_NO_INDEX UINT32_MAX

/* The maximum number of dims of a tensor. */
#define OM_MAX_RANK 16

typedef enum om_status OM_ENUM_TYPE {
  OM_OK = 0,
  OM_ERROR_ARGUMENT = 1,       /* a call with a value that cannot be used        */
  OM_ERROR_IO = 2,             /* the file cannot be opened, read or mapped      */
  OM_ERROR_NOT_OM = 3,         /* not an .om file of this project                */
  OM_ERROR_VENDOR_OM = 4,      /* an .om file made by the Ascend vendor's ATC    */
  OM_ERROR_TRUNCATED = 5,      /* the file ends too early                        */
  OM_ERROR_VERSION = 6,        /* written by a newer or older, unreadable schema */
  OM_ERROR_CORRUPT = 7,        /* a hash, size, offset or index is wrong         */
  OM_ERROR_UNSUPPORTED = 8,    /* valid, but not for this machine or library     */
  OM_ERROR_MEMORY = 9,         /* memory could not be allocated, or a thread
                                * cannot be started                              */
  OM_ERROR_NATIVE_CODE = 10,   /* native code, which the caller refuses         */
  OM_ERROR_UNSIGNED = 11,      /* no signature, which the caller requires        */
  OM_ERROR_UNTRUSTED_KEY = 12, /* signed with a key the caller does not trust */
  OM_ERROR_SIGNATURE = 13,     /* the signature is wrong, or the model was
                                * changed after it was signed                    */
  OM_ERROR_NO_DEVICE = 14,     /* the model needs a device, the session has none */
  OM_ERROR_DEVICE = 15,        /* the device refused a program or failed         */
  OM_ERROR_RUN = 16,           /* the model failed on these inputs               */
  OM_ERROR_LIMIT = 17,         /* beyond a ceiling of the session's options      */
  OM_ERROR_CANCELLED = 18      /* om_session_cancel has ended the run            */
} om_status;

/* An error with its sentence. */
typedef struct om_error {
  om_status code;
  char message[508]; /* one sentence, always terminated */
} om_error;

/* Element types, with the values of ONNX. */
typedef enum om_dtype OM_ENUM_TYPE {
  OM_UNDEFINED = 0,
  OM_F32 = 1,
  OM_U8 = 2,
  OM_I8 = 3,
  OM_U16 = 4,
  OM_I16 = 5,
  OM_I32 = 6,
  OM_I64 = 7,
  OM_STRING = 8, /* only as the element type of an om_value */
  OM_BOOL = 9,
  OM_F16 = 10,
  OM_F64 = 11,
  OM_U32 = 12,
  OM_U64 = 13,
  OM_C64 = 14, /* real, imaginary */
  OM_C128 = 15,
  OM_BF16 = 16,
  OM_F8E4M3FN = 17,
  OM_F8E4M3FNUZ = 18,
  OM_F8E5M2 = 19,
  OM_F8E5M2FNUZ = 20,
  OM_U4 = 21, /* two per byte, the first in the low half */
  OM_I4 = 22,
  OM_F4E2M1 = 23,
  OM_F8E8M0 = 24,
  OM_U2 = 25, /* four per byte, the first in the lowest bits */
  OM_I2 = 26
} om_dtype;

/* The kinds of an om_value. */
typedef enum om_kind OM_ENUM_TYPE {
  OM_KIND_NONE = 0, /* an optional without a value */
  OM_KIND_TENSOR = 1,
  OM_KIND_SEQUENCE = 2,
  OM_KIND_MAP = 3 /* two items: a tensor of keys and one of values */
} om_kind;

/* Where the elements of a tensor are stored. */
typedef enum om_space OM_ENUM_TYPE {
  OM_ARENA = 0,   /* the session's working memory, reused within a run */
  OM_WEIGHTS = 1, /* the mapped file                                   */
  OM_INPUT = 2,   /* the caller's input                                */
  OM_OUTPUT = 3   /* the caller's output                               */
} om_space;

#ifdef __cplusplus
}
#endif

#endif
