//===-- ModelDesc.cpp - what a program can ask of a model ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/ModelDesc.h"

#include "ascend/src/Errors.h"

#include <algorithm>
#include <cstring>

namespace atc::ascend {

HandleTable<ModelDesc> &modelDescs() {
  static auto &table = *new HandleTable<ModelDesc>(HandleKind::ModelDesc);
  return table;
}

aclError findFacts(const char *function, const aclmdlDesc *handle,
                   std::shared_ptr<ModelDesc> &desc) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelDesc is NULL");
  desc = modelDescs().find(handle);
  if (!desc)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "modelDesc (%p) was destroyed, or is no model description",
                static_cast<const void *>(handle));
  if (!desc->facts)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelDesc is empty; call aclmdlGetDesc first");
  return ACL_SUCCESS;
}

void writeDims(const std::string &name, const Dims &dims, aclmdlIODims &result) {
  memset(&result, 0, sizeof(result));
  strncpy(result.name, name.c_str(), sizeof(result.name) - 1);
  result.dimCount = std::min<size_t>(dims.size(), ACL_MAX_DIM_CNT);
  std::copy_n(dims.begin(), result.dimCount, result.dims);
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

enum class Side { Input, Output };

/// Finds a port; null, with a message, for a bad description or index.
const Port *portOf(const char *function, const aclmdlDesc *handle, Side side, size_t index,
                   std::shared_ptr<ModelDesc> &desc) {
  if (findFacts(function, handle, desc) != ACL_SUCCESS)
    return nullptr;
  const auto &ports = side == Side::Input ? desc->facts->inputs : desc->facts->outputs;
  if (index < ports.size())
    return &ports[index];
  fail(ACL_ERROR_INVALID_PARAM, function, "index is %zu, the model has %zu %s", index, ports.size(),
       side == Side::Input ? "inputs" : "outputs");
  return nullptr;
}

/// Finds a port for a function that writes what it knows of it to `result`, which must not be null.
aclError findPort(const char *function, const aclmdlDesc *handle, Side side, size_t index,
                  const char *resultName, const void *result, std::shared_ptr<ModelDesc> &desc,
                  const Port *&port) {
  ACL_TRY(findFacts(function, handle, desc));
  if (!result)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", resultName);
  port = portOf(function, handle, side, index, desc);
  return port ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

/// Returns the dims of an output in the largest gear.
const Dims &largestDims(const Port &port) {
  const Dims *largest = &port.dims;
  size_t bytes = 0;
  for (const Dims &dims : port.ofGear)
    if (size_t own = denseBytes(port.element, dims); own > bytes) {
      bytes = own;
      largest = &dims;
    }
  return *largest;
}

aclError indexOf(const char *function, const aclmdlDesc *handle, Side side, const char *name,
                 size_t *index) {
  std::shared_ptr<ModelDesc> desc;
  ACL_TRY(findFacts(function, handle, desc));
  if (!name || !index)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", name ? "index" : "name");
  const auto &ports = side == Side::Input ? desc->facts->inputs : desc->facts->outputs;
  std::string names;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) {
      *index = i;
      return ACL_SUCCESS;
    }
    names += (i ? ", " : "") + ports[i].name;
  }
  return fail(ACL_ERROR_INVALID_PARAM, function, "the model has no %s '%s'; it has: %s",
              side == Side::Input ? "input" : "output", name, names.c_str());
}

aclError inputDims(const char *function, const aclmdlDesc *handle, size_t index,
                   aclmdlIODims *dims) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port;
  ACL_TRY(findPort(function, handle, Side::Input, index, "dims", dims, desc, port));
  writeDims(port->name, port->dims, *dims);
  return ACL_SUCCESS;
}

/// Fills a description; empties it first, so that it never shows another model.
aclError describe(aclmdlDesc *handle, const std::shared_ptr<Model> &model) {
  auto desc = modelDescs().find(handle);
  if (!desc)
    return ACL_ERROR_INVALID_RESOURCE_HANDLE;
  desc->facts = model->facts;
  desc->model = model;
  return ACL_SUCCESS;
}

} // namespace

aclmdlDesc *aclmdlCreateDesc() {
  return static_cast<aclmdlDesc *>(modelDescs().add(std::make_shared<ModelDesc>()));
}

aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc) {
  ACL_FIND(found, modelDescs(), modelDesc);
  modelDescs().remove(modelDesc);
  return ACL_SUCCESS;
}

aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId) {
  ACL_FIND(found, modelDescs(), modelDesc);
  std::shared_ptr<Model> model;
  ACL_TRY(findModel(__func__, modelId, model));
  return describe(modelDesc, model);
}

aclError aclmdlGetDescFromFile(aclmdlDesc *modelDesc, const char *modelPath) {
  ACL_FIND(found, modelDescs(), modelDesc);
  std::shared_ptr<Model> model;
  ACL_TRY(Model::load(__func__, modelPath, false, model));
  return describe(modelDesc, model);
}

aclError aclmdlGetDescFromMem(aclmdlDesc *modelDesc, const void *model, size_t modelSize) {
  ACL_FIND(found, modelDescs(), modelDesc);
  std::shared_ptr<Model> loaded;
  ACL_TRY(Model::load(__func__, model, modelSize, false, loaded));
  return describe(modelDesc, loaded);
}

size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc) {
  std::shared_ptr<ModelDesc> desc;
  return findFacts(__func__, modelDesc, desc) == ACL_SUCCESS ? desc->facts->inputs.size() : 0;
}

size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc) {
  std::shared_ptr<ModelDesc> desc;
  return findFacts(__func__, modelDesc, desc) == ACL_SUCCESS ? desc->facts->outputs.size() : 0;
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Input, index, desc);
  return port ? port->bytes : 0;
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Output, index, desc);
  return port ? port->bytes : 0;
}

const char *aclmdlGetInputNameByIndex(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Input, index, desc);
  return port ? port->name.c_str() : "";
}

const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Output, index, desc);
  return port ? port->name.c_str() : "";
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index) {
  return indexOf(__func__, modelDesc, Side::Input, name, index);
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index) {
  return indexOf(__func__, modelDesc, Side::Output, name, index);
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
  return inputDims(__func__, modelDesc, index, dims);
}

aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
  return inputDims(__func__, modelDesc, index, dims);
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc *modelDesc, size_t index,
                                 aclmdlIODimsRange *dimsRange) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port;
  ACL_TRY(findPort(__func__, modelDesc, Side::Input, index, "dimsRange", dimsRange, desc, port));
  *dimsRange = {};
  dimsRange->rangeCount = std::min<size_t>(port->dims.size(), ACL_MAX_DIM_CNT);
  for (size_t i = 0; i < dimsRange->rangeCount; ++i) {
    const int64_t dim = port->dims[i];
    dimsRange->range[i][0] = dim < 0 ? 0 : dim;
    dimsRange->range[i][1] = dim;
    // A dim that is no value of the gear, only follows from it, has the sizes that it has there.
    for (const Dims &gear : port->ofGear)
      if (dim < 0) {
        int64_t *range = dimsRange->range[i];
        range[0] = range[1] < 0 ? gear[i] : std::min(range[0], gear[i]);
        range[1] = std::max(range[1], gear[i]);
      }
  }
  for (const auto &axis : desc->facts->gearAxes)
    if (axis.input == index && axis.dim < dimsRange->rangeCount) {
      dimsRange->range[axis.dim][0] = axis.min;
      dimsRange->range[axis.dim][1] = axis.max;
    }
  return ACL_SUCCESS;
}

aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port;
  ACL_TRY(findPort(__func__, modelDesc, Side::Output, index, "dims", dims, desc, port));
  writeDims(port->name, largestDims(*port), *dims);
  return ACL_SUCCESS;
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port;
  ACL_TRY(findPort(__func__, modelDesc, Side::Output, index, "dims", dims, desc, port));
  if (auto model = desc->model.lock()) {
    std::lock_guard lock(model->dimsMutex);
    if (index < model->currentDims.size()) {
      writeDims(port->name, model->currentDims[index], *dims);
      return ACL_SUCCESS;
    }
  }
  writeDims(port->name, largestDims(*port), *dims);
  return ACL_SUCCESS;
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Input, index, desc);
  return port ? port->type : ACL_DT_UNDEFINED;
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Output, index, desc);
  return port ? port->type : ACL_DT_UNDEFINED;
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Input, index, desc);
  return port ? port->format : ACL_FORMAT_UNDEFINED;
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index) {
  std::shared_ptr<ModelDesc> desc;
  const Port *port = portOf(__func__, modelDesc, Side::Output, index, desc);
  return port ? port->format : ACL_FORMAT_UNDEFINED;
}

const char *aclmdlGetOpAttr(aclmdlDesc *modelDesc, const char *opName, const char *attr) {
  std::shared_ptr<ModelDesc> desc;
  if (findFacts(__func__, modelDesc, desc) != ACL_SUCCESS)
    return nullptr;
  if (!opName || !attr) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "%s is NULL", opName ? "attr" : "opName");
    return nullptr;
  }
  return "";
}

const char *aclmdlGetTensorRealName(const aclmdlDesc *modelDesc, const char *name) {
  std::shared_ptr<ModelDesc> desc;
  if (findFacts(__func__, modelDesc, desc) != ACL_SUCCESS)
    return nullptr;
  if (!name) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "name is NULL");
    return nullptr;
  }
  for (const auto *ports : {&desc->facts->inputs, &desc->facts->outputs})
    for (const Port &port : *ports)
      // aclmdlIODims cuts a name that is too long for it.
      if (port.name.compare(0, ACL_MAX_TENSOR_NAME_LEN - 1, name) == 0 || port.name == name)
        return port.name.c_str();
  fail(ACL_ERROR_INVALID_PARAM, __func__, "the model has no input or output '%s'", name);
  return nullptr;
}

aclError aclmdlCreateAndGetOpDesc(uint32_t, uint32_t, uint32_t, char *, size_t, aclTensorDesc **,
                                  size_t *, aclTensorDesc **, size_t *) {
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "tasks keep no description of operators here; "
                                      "aclGetRecentErrMsg names the node that failed");
}
