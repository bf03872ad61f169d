//===-- fuzz-image-decode.cpp - no image file crashes ImageDecoder --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that models, amct and om-run decode JPEG, PNG, BMP and PNM files with.

#include "kernels/native/NativeHost.h"
#include "test/fuzz/host/FuzzHost.h"

using namespace atc;
using namespace atc::fuzz;

/// Returns 0 for files of which some format has pixels: the kernel makes an empty image of others.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool decoded = false;
  for (const char *format : {"RGB", "Grayscale"}) {
    FuzzCall call = {};
    call.host = &FuzzCall::services;
    const int64_t dims[] = {static_cast<int64_t>(size)};
    host::Value *file = call.memory.tensor(kernels::U8, 1, dims);
    if (!file)
      return -1;
    std::memcpy(file->data, data, size);
    const host::Value *inputs[] = {file};
    const host::String text = {format, std::strlen(format)};
    const host::Attribute attribute = {"pixel_format", host::AttributeKind::Strings, 1, &text};
    call.inputCount = call.outputCount = call.attributeCount = 1;
    call.wanted = ~0u;
    call.inputs = inputs;
    call.attributes = &attribute;
    call.made.resize(1);
    kernels::native::find("ImageDecoder")->kernel(&call);
    if (!call.error.empty())
      continue;
    decoded |= kernels::Tensor(call.made[0]).count() > 0;
    readAll(call.made[0]);
  }
  return decoded ? 0 : -1;
}
