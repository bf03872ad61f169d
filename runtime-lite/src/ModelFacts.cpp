//===-- ModelFacts.cpp - names of ports and dims, metadata ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Model.h"
#include "runtime-lite/src/PortChecks.h"

#include <cstring>

using namespace atc::rt;
namespace fb = atc::om::fb;

using GetTensor = om_status (*)(const om_model *, uint32_t, om_tensor_info *);

static uint32_t findPort(const om_model *model, const char *name, GetTensor get) {
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  for (uint32_t i = 0; name && get(model, i, &info) == OM_OK; ++i)
    if (std::strcmp(info.name, name) == 0)
      return i;
  return OM_NO_INDEX;
}

uint32_t om_model_find_input(const om_model *model, const char *name) {
  return findPort(model, name, om_model_get_input);
}

uint32_t om_model_find_output(const om_model *model, const char *name) {
  return findPort(model, name, om_model_get_output);
}

const char *om_model_dim_name(const om_model *model, om_space space, uint32_t index, uint32_t dim) {
  const bool isInput = space == OM_INPUT;
  const HostPorts *ports =
      isInput || space == OM_OUTPUT ? dynamicPorts(*model->header, isInput) : nullptr;
  if (!ports || index >= ports->size())
    return "";
  const auto *names = ports->Get(index)->dim_names();
  return names && dim < names->size() ? names->Get(dim)->c_str() : "";
}

uint32_t om_model_metadata_count(const om_model *model) {
  const auto *facts = model->header->metadata();
  return facts ? facts->size() : 0;
}

om_status om_model_get_metadata(const om_model *model, uint32_t index, const char **key,
                                const char **value) {
  if (index >= om_model_metadata_count(model))
    return OM_ERROR_ARGUMENT;
  const fb::Metadata &fact = *model->header->metadata()->Get(index);
  if (key)
    *key = fact.key()->c_str();
  if (value)
    *value = fact.value()->c_str();
  return OM_OK;
}

const char *om_model_find_metadata(const om_model *model, const char *key) {
  const char *found = nullptr, *value = nullptr;
  for (uint32_t i = 0; key && om_model_get_metadata(model, i, &found, &value) == OM_OK; ++i)
    if (std::strcmp(found, key) == 0)
      return value;
  return nullptr;
}
