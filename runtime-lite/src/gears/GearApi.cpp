//===-- GearApi.cpp - the C interface over gears --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Session.h"
#include "runtime-lite/src/gears/GearTable.h"

using namespace atc::rt;
namespace fb = atc::om::fb;

om_status om_model_get_gears(const om_model *model, om_gears_info *info) {
  om_gears_info answer = OM_GEARS_INFO_INIT;
  if (model->header->gears()) {
    const GearTable table(*model->header);
    answer.kind = table.kind();
    answer.gears = table.count();
    answer.values = table.values();
    answer.axes = table.axes().size();
    answer.shape_input = table.shapeInput();
  }
  return writeAnswer(answer, info);
}

/// Returns whether a model has a gear of this number.
static bool hasGear(const om_model *model, uint32_t gear) {
  return model->header->gears() && gear < model->header->gears()->gears()->size();
}

om_status om_model_get_gear(const om_model *model, uint32_t gear, om_gear_info *info) {
  if (!hasGear(model, gear))
    return OM_ERROR_ARGUMENT;
  const fb::Gear &from = GearTable(*model->header).gear(gear);
  om_gear_info answer = OM_GEAR_INFO_INIT;
  answer.values = from.values()->data();
  answer.first_launch = from.part()->first_launch();
  answer.launches = from.part()->launches();
  answer.arena_bytes = from.arena_size();
  return writeAnswer(answer, info);
}

om_status om_model_get_gear_axis(const om_model *model, uint32_t axis, om_gear_axis *info) {
  if (!model->header->gears() || axis >= model->header->gears()->axes()->size())
    return OM_ERROR_ARGUMENT;
  const GearTable table(*model->header);
  const fb::GearAxis &from = *table.axes().Get(axis);
  om_gear_axis answer = OM_GEAR_AXIS_INIT;
  answer.output = from.output();
  answer.index = from.index();
  answer.dim = from.dim();
  answer.value = from.value();
  answer.min = table.minValue(from.value());
  answer.max = table.maxValue(from.value());
  return writeAnswer(answer, info);
}

/// Describes an input or output of a gear under the name that the model has for it.
static om_status getGearEnd(const om_model *model, uint32_t gear, uint32_t index, bool output,
                            om_tensor_info *info) {
  if (!hasGear(model, gear))
    return OM_ERROR_ARGUMENT;
  const GearTable table(*model->header);
  const GearTable::Ports &ports = output ? table.outputs() : table.inputs();
  if (index >= ports.size())
    return OM_ERROR_ARGUMENT;
  const fb::HostPort &port = *ports.Get(index);
  // No gear has the input that chooses it; its own dims are known.
  const bool isShape = !output && index == table.shapeInput();
  const auto &dims = isShape ? *port.dims() : *table.end(gear, output, index).dims;
  om_tensor_info answer = OM_TENSOR_INFO_INIT;
  answer.name = port.name()->c_str();
  answer.dtype = static_cast<om_dtype>(port.dtype());
  answer.rank = dims.size();
  answer.dims = dims.data();
  if (port.dtype() == fb::DataType::string_ ||
      !tensorSize(static_cast<uint8_t>(port.dtype()), dims.size(), dims.data(), answer.elements,
                  answer.bytes))
    answer.elements = answer.bytes = 0;
  answer.space = output ? OM_OUTPUT : OM_INPUT;
  return writeAnswer(answer, info);
}

om_status om_model_get_gear_input(const om_model *model, uint32_t gear, uint32_t index,
                                  om_tensor_info *info) {
  return getGearEnd(model, gear, index, /*output=*/false, info);
}

om_status om_model_get_gear_output(const om_model *model, uint32_t gear, uint32_t index,
                                   om_tensor_info *info) {
  return getGearEnd(model, gear, index, /*output=*/true, info);
}

om_status om_session_set_gear(om_session *session, const int64_t *values, uint32_t count,
                              om_error *error) {
  return session->setGear(values, count, error);
}

uint32_t om_session_gear(const om_session *session) { return session->gear(); }
