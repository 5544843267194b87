// See SmallModel.h.
#include "test/unit/onnx/SmallModel.h"

#include "compiler/frontend/onnx/file/ModelWriter.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cleave::onnx {

SmallModel::SmallModel(const Model &model) {
  static int count = 0;
  std::string name =
      "cleave-small-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".onnx";
  path_ = (std::filesystem::temp_directory_path() / name).string();
  std::ofstream(path_, std::ios::binary) << writeModel(model);
}

SmallModel::~SmallModel() { std::filesystem::remove(path_); }

Model emptyModel() {
  Model model;
  model.opsets[""] = 20;
  return model;
}

ValueInfo tensorInfo(const std::string &name, int32_t dataType, const std::vector<int64_t> &dims) {
  ValueInfo info;
  info.name = name;
  info.dataType = dataType;
  info.hasShape = true;
  for (int64_t size : dims)
    info.dims.push_back({size, ""});
  return info;
}

StoredTensor storedFloats(const std::string &name, const std::vector<int64_t> &dims,
                          const std::vector<float> &values) {
  StoredTensor tensor;
  tensor.name = name;
  tensor.dataType = 1;
  tensor.dims = dims;
  tensor.decoded.assign(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(float));
  return tensor;
}

Node makeNode(const std::string &op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, std::vector<Attribute> attributes) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

static Attribute named(const std::string &name, AttributeType type) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  return attribute;
}

Attribute integerAttribute(const std::string &name, int64_t value) {
  Attribute attribute = named(name, AttributeType::Int);
  attribute.integer = value;
  return attribute;
}

Attribute stringAttribute(const std::string &name, const std::string &value) {
  Attribute attribute = named(name, AttributeType::String);
  attribute.string = value;
  return attribute;
}

Attribute stringsAttribute(const std::string &name, std::vector<std::string> values) {
  Attribute attribute = named(name, AttributeType::Strings);
  attribute.strings = std::move(values);
  return attribute;
}

Attribute graphAttribute(const std::string &name, Graph graph) {
  Attribute attribute = named(name, AttributeType::Graph);
  attribute.graph = std::make_shared<Graph>(std::move(graph));
  return attribute;
}

} // namespace cleave::onnx
