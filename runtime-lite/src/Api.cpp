//===-- Api.cpp - the C interface over models and sessions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/Tensor.h"

#include <cstring>

using namespace atc::rt;
namespace fb = atc::om::fb;

/// Takes as much of a caller's options as both sides know; the rest keeps its
/// default.
template <typename Options> static Options readOptions(const Options *given, Options defaults) {
  if (!given)
    return defaults;
  size_t size = given->struct_size < sizeof(Options) ? given->struct_size : sizeof(Options);
  std::memcpy(static_cast<void *>(&defaults), given, size);
  return defaults;
}

static om_status noSession(om_error *error) {
  return fail(error, OM_ERROR_ARGUMENT, "there is no session (null).");
}

/// Makes a model and has `load` fill it; on failure nothing is leaked and the result is null.
template <typename Load>
static om_status loadModel(const om_load_options *options, om_model **result, om_error *error,
                           Load load) {
  if (!result)
    return fail(error, OM_ERROR_ARGUMENT, "there is no place for the model (null).");
  *result = nullptr;
  om_model *model = create<om_model>();
  if (!model)
    return outOfMemory(error, sizeof(om_model));
  om_load_options defaults = OM_LOAD_OPTIONS_INIT;
  om_status status = load(*model, readOptions(options, defaults));
  if (status == OM_OK)
    *result = model;
  else
    destroy(model);
  return status;
}

om_status om_model_load_file(const char *path, const om_load_options *options, om_model **model,
                             om_error *error) {
  if (!path)
    return fail(error, OM_ERROR_ARGUMENT, "there is no path (null).");
  return loadModel(options, model, error, [&](om_model &made, const om_load_options &resolved) {
    return made.loadFile(path, resolved, error);
  });
}

om_status om_model_load_memory(const void *data, size_t bytes, const om_load_options *options,
                               om_model **model, om_error *error) {
  if (!data)
    return fail(error, OM_ERROR_ARGUMENT, "there is no data (null).");
  return loadModel(options, model, error, [&](om_model &made, const om_load_options &resolved) {
    return made.loadMemory(data, bytes, resolved, error);
  });
}

void om_model_free(om_model *model) { destroy(model); }

om_status om_model_verify_weights(const om_model *model, om_error *error) {
  return model->verifyWeights(error);
}

om_status om_model_get_info(const om_model *model, om_model_info *info) {
  if (!model)
    return OM_ERROR_ARGUMENT;
  const fb::Model &header = *model->header;
  om_model_info answer = OM_MODEL_INFO_INIT;
  answer.name = header.name()->c_str();
  answer.producer = header.producer()->c_str();
  answer.command_line = header.command_line()->c_str();
  answer.target = header.target()->c_str();
  answer.cpu_level = model->image ? model->image->level()->c_str() : "";
  answer.schema_major = header.schema_major();
  answer.schema_minor = header.schema_minor();
  const HostPorts *inputs = dynamicPorts(header, /*input=*/true),
                  *outputs = dynamicPorts(header, /*input=*/false);
  answer.inputs = inputs ? inputs->size() : header.inputs()->size();
  answer.outputs = outputs ? outputs->size() : header.outputs()->size();
  answer.tensors = header.tensors()->size();
  answer.launches = model->launches();
  answer.file_bytes = header.file_size();
  for (const fb::Segment *segment : *header.segments())
    if (segment->kind() == fb::SegmentKind::weights)
      answer.weights_bytes += segment->size();
    else if (segment->kind() == fb::SegmentKind::npu)
      answer.npu_bytes += segment->size();
  answer.arena_bytes = header.arena_size();
  if (model->image) {
    answer.code_bytes = header.segments()->Get(model->image->segment())->size();
    answer.scratch_bytes = model->image->scratch_bytes();
  }
  answer.soc = header.soc() ? header.soc()->c_str() : "";
  for (uint32_t i = 0; i < header.schedule()->size(); ++i)
    answer.npu_launches += model->npuLaunch(i) != nullptr;
  return writeAnswer(answer, info);
}

om_status om_model_get_tensor(const om_model *model, uint32_t index, om_tensor_info *info) {
  if (!model || index >= model->header->tensors()->size())
    return OM_ERROR_ARGUMENT;
  return writeAnswer(describeTensor(*model->header->tensors()->Get(index)), info);
}

/// Describes an input or output of the model: of its dynamic schedule or its gears, where it has
/// them.
static om_status getEnd(const om_model *model, uint32_t index, bool input, om_tensor_info *info) {
  if (!model)
    return OM_ERROR_ARGUMENT;
  const fb::Model &header = *model->header;
  const HostPorts *ports = dynamicPorts(header, input);
  if (!ports) {
    const auto &list = input ? *header.inputs() : *header.outputs();
    return index < list.size() ? om_model_get_tensor(model, list.Get(index), info)
                               : OM_ERROR_ARGUMENT;
  }
  if (index >= ports->size())
    return OM_ERROR_ARGUMENT;
  const PortType port = portType(*ports->Get(index));
  om_tensor_info answer = OM_TENSOR_INFO_INIT;
  answer.name = port.name;
  answer.dtype = static_cast<om_dtype>(port.dtype);
  answer.rank = port.rank;
  answer.dims = port.dims;
  if (port.kind != atc::host::Kind::Tensor || !port.ranked || port.dtype == OM_STRING ||
      !tensorSize(port.dtype, port.rank, port.dims, answer.elements, answer.bytes))
    answer.elements = answer.bytes = 0;
  answer.space = input ? OM_INPUT : OM_OUTPUT;
  answer.kind = static_cast<om_kind>(port.kind);
  answer.ranked = port.ranked;
  answer.optional = port.optional;
  return writeAnswer(answer, info);
}

om_status om_model_get_input(const om_model *model, uint32_t index, om_tensor_info *info) {
  return getEnd(model, index, /*input=*/true, info);
}

om_status om_model_get_output(const om_model *model, uint32_t index, om_tensor_info *info) {
  return getEnd(model, index, /*input=*/false, info);
}

om_status om_model_get_launch(const om_model *model, uint32_t index, om_launch_info *info) {
  if (!model || index >= model->launches())
    return OM_ERROR_ARGUMENT;
  om_launch_info answer = OM_LAUNCH_INFO_INIT;
  if (const fb::HostCall *call = model->hostCall(index)) {
    answer.name = call->name()->c_str();
    answer.kernel = model->header->kernels()->Get(call->kernel())->c_str();
    answer.tasks = 1;
    answer.host = 1;
    answer.tensor = (call->tensor() ? call->tensor() : call->name())->c_str();
    return writeAnswer(answer, info);
  }
  auto common = [&](const auto &launch) {
    answer.name = launch.name()->c_str();
    answer.reads_count = launch.reads()->size();
    answer.writes_count = launch.writes()->size();
    answer.reads = launch.reads()->data();
    answer.writes = launch.writes()->data();
  };
  if (const fb::Launch *launch = model->cpuLaunch(index)) {
    common(*launch);
    answer.kernel = model->header->kernels()->Get(launch->kernel())->c_str();
    answer.cost = launch->cost();
    answer.tasks = model->image->tasks()->Get(launch->kernel());
  } else {
    const fb::NpuLaunch &npu = *model->npuLaunch(index);
    const fb::NpuProgram &program = *model->header->npu_programs()->Get(npu.program());
    common(npu);
    answer.kernel = program.name()->c_str();
    answer.npu = 1;
    answer.macs = npu.macs();
    answer.cost = 2 * npu.macs();
    answer.tasks = 1;
    for (uint32_t size : *program.grid())
      answer.tasks *= size;
  }
  return writeAnswer(answer, info);
}

om_status om_session_create(const om_model *model, const om_session_options *options,
                            om_session **result, om_error *error) {
  if (!model || !result)
    return fail(error, OM_ERROR_ARGUMENT, "a session needs a model and a place for the result.");
  *result = nullptr;
  om_session *session = create<om_session>(*model);
  if (!session)
    return outOfMemory(error, sizeof(om_session));
  om_session_options defaults = OM_SESSION_OPTIONS_INIT;
  om_status status = session->start(readOptions(options, defaults), error);
  if (status == OM_OK)
    *result = session;
  else
    destroy(session);
  return status;
}

void om_session_free(om_session *session) { destroy(session); }

void om_session_cancel(om_session *session) { session->limits.cancel(); }

om_status om_session_start_run(om_session *session, const void *const *inputs, void *const *outputs,
                               om_done_callback done, void *user, om_error *error) {
  return session ? session->startRun({inputs, outputs, nullptr, nullptr, done, user}, error)
                 : noSession(error);
}

om_status om_session_start_run_values(om_session *session, const om_value *const *inputs,
                                      om_value **outputs, om_done_callback done, void *user,
                                      om_error *error) {
  return session ? session->startRun({nullptr, nullptr, inputs, outputs, done, user}, error)
                 : noSession(error);
}

int om_session_is_running(om_session *session) {
  return session->background && session->background->isRunning();
}

om_status om_session_wait(om_session *session, om_error *error) {
  if (!session)
    return noSession(error);
  return session->background ? session->background->wait(error) : noRunStarted(error);
}

uint32_t om_session_threads(const om_session *session) { return session->threads(); }

om_status om_session_run(om_session *session, const void *const *inputs, void *const *outputs,
                         om_error *error) {
  return session ? session->run(inputs, outputs, nullptr, nullptr, error) : noSession(error);
}

om_status om_session_run_observed(om_session *session, const void *const *inputs,
                                  void *const *outputs, om_launch_callback callback, void *user,
                                  om_error *error) {
  return session ? session->run(inputs, outputs, callback, user, error) : noSession(error);
}

om_status om_session_run_values(om_session *session, const om_value *const *inputs,
                                om_value **outputs, om_error *error) {
  return session ? session->runValues(inputs, outputs, nullptr, nullptr, error) : noSession(error);
}

om_status om_session_run_values_observed(om_session *session, const om_value *const *inputs,
                                         om_value **outputs, om_launch_callback callback,
                                         void *user, om_error *error) {
  return session ? session->runValues(inputs, outputs, callback, user, error) : noSession(error);
}

const om_value *om_session_result(const om_session *session, uint32_t launch, uint32_t output) {
  return session->result(launch, output);
}

int64_t om_session_tile(const om_session *session, int64_t *begin) {
  *begin = session->tileBegin;
  return session->tileSize;
}

om_status om_session_read_tensor(const om_session *session, uint32_t tensor, void *data,
                                 size_t bytes, om_error *error) {
  return session ? session->readTensor(tensor, data, bytes, error) : noSession(error);
}

void om_session_set_profile(om_session *session, int on) { session->setProfile(on != 0); }

om_status om_session_get_profile(const om_session *session, uint32_t launch, uint64_t *nanoseconds,
                                 uint64_t *runs) {
  if (launch >= session->model.launches())
    return OM_ERROR_ARGUMENT;
  if (nanoseconds)
    *nanoseconds = session->profiledTime(launch);
  if (runs)
    *runs = session->profiledRuns();
  return OM_OK;
}

const char *om_version(void) { return OPENATC_VERSION; }

const char *om_status_name(om_status code) {
  switch (code) {
  case OM_OK:
    return "OM_OK";
  case OM_ERROR_ARGUMENT:
    return "OM_ERROR_ARGUMENT";
  case OM_ERROR_IO:
    return "OM_ERROR_IO";
  case OM_ERROR_NOT_OM:
    return "OM_ERROR_NOT_OM";
  case OM_ERROR_VENDOR_OM:
    return "OM_ERROR_VENDOR_OM";
  case OM_ERROR_TRUNCATED:
    return "OM_ERROR_TRUNCATED";
  case OM_ERROR_VERSION:
    return "OM_ERROR_VERSION";
  case OM_ERROR_CORRUPT:
    return "OM_ERROR_CORRUPT";
  case OM_ERROR_UNSUPPORTED:
    return "OM_ERROR_UNSUPPORTED";
  case OM_ERROR_MEMORY:
    return "OM_ERROR_MEMORY";
  case OM_ERROR_NATIVE_CODE:
    return "OM_ERROR_NATIVE_CODE";
  case OM_ERROR_UNSIGNED:
    return "OM_ERROR_UNSIGNED";
  case OM_ERROR_UNTRUSTED_KEY:
    return "OM_ERROR_UNTRUSTED_KEY";
  case OM_ERROR_SIGNATURE:
    return "OM_ERROR_SIGNATURE";
  case OM_ERROR_NO_DEVICE:
    return "OM_ERROR_NO_DEVICE";
  case OM_ERROR_DEVICE:
    return "OM_ERROR_DEVICE";
  case OM_ERROR_RUN:
    return "OM_ERROR_RUN";
  case OM_ERROR_LIMIT:
    return "OM_ERROR_LIMIT";
  case OM_ERROR_CANCELLED:
    return "OM_ERROR_CANCELLED";
  }
  return "OM_ERROR_UNKNOWN";
}
