// --sharding: the layout of every logical tensor over the ranks.
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <vector>

namespace cleave::dump {

static std::string blockText(const std::vector<int64_t> &shape) {
  google::protobuf::RepeatedField<int64_t> field(shape.begin(), shape.end());
  return shapeText(field);
}

// Source of the initial values: `file`, `inline`, `filled with 0`.
static std::string sourceText(const plan::Tensor &tensor) {
  const plan::TensorSource &source = tensor.source();
  switch (source.kind_case()) {
  case plan::TensorSource::kFile:
    return source.file().path().empty() ? "model file" : source.file().path();
  case plan::TensorSource::kInlineData:
    return "in the plan";
  case plan::TensorSource::kFill: {
    std::string value = std::to_string(source.fill());
    value.erase(value.find_last_not_of('0') + 1);
    if (value.ends_with('.'))
      value.pop_back();
    return "all " + value;
  }
  case plan::TensorSource::kRandom:
    return source.random().distribution() == plan::RandomValues::NORMAL ? "random, normal"
                                                                        : "random, uniform";
  case plan::TensorSource::KIND_NOT_SET:
    break;
  }
  return "";
}

static std::vector<int64_t> blockShape(const plan::Plan &plan, const plan::Tensor &tensor) {
  std::vector<int64_t> shape;
  for (int d = 0; d < tensor.shape_size(); ++d) {
    int64_t parts = d < tensor.sharding_size() ? ranksAlong(plan, tensor.sharding(d).axes()) : 1;
    shape.push_back((tensor.shape(d) + parts - 1) / parts);
  }
  return shape;
}

std::string shardingView(const plan::Plan &plan) {
  Table table({"tensor", "role", "type", "whole", "layout", "one rank", ">bytes", "from"});
  uint64_t whole = 0, block = 0;
  for (const plan::Tensor &tensor : plan.tensors()) {
    whole += tensorBytes(tensor);
    block += blockBytes(plan, tensor);
    table.add({tensor.name(), text(tensor.role()), artifact::dtypeName(tensor.dtype()),
               shapeText(tensor.shape()), layoutText(plan, tensor),
               blockText(blockShape(plan, tensor)), bytesText(blockBytes(plan, tensor)),
               sourceText(tensor)});
  }
  return titled("Layouts on mesh " + meshText(plan)) + "\n" + tableText(table) + "\n" +
         paragraph(concat(plan.tensors_size(), " tensors of ", bytesText(whole),
                          "; one rank holds ", bytesText(block)),
                   2);
}

} // namespace cleave::dump
