// Models of a few nodes, written to a file, for tests of the importer.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// A file that is gone when this is.
class SmallModel {
public:
  explicit SmallModel(const Model &model);
  ~SmallModel();
  SmallModel(const SmallModel &) = delete;
  SmallModel &operator=(const SmallModel &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
};

// Without nodes; opset 20.
Model emptyModel();
// A tensor of this element type (by the format's number).
ValueInfo tensorInfo(const std::string &name, int32_t dataType, const std::vector<int64_t> &dims);
// A float32 tensor with these elements.
StoredTensor storedFloats(const std::string &name, const std::vector<int64_t> &dims,
                          const std::vector<float> &values);
// A node without a name, so that messages call it by its first output.
Node makeNode(const std::string &op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, std::vector<Attribute> attributes = {});
Attribute integerAttribute(const std::string &name, int64_t value);
Attribute textAttribute(const std::string &name, const std::string &value);
Attribute textsAttribute(const std::string &name, std::vector<std::string> values);
Attribute graphAttribute(const std::string &name, Graph graph);

} // namespace cleave::onnx
