// Models of a few nodes, written to a file, for tests of the importer.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// Element types of TensorProto.
constexpr int32_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9,
                  kDouble = 11, kComplex = 14;

// A temporary file with the model, removed when this object is destroyed.
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

// A model without nodes, of opset 20.
Model emptyModel();
// The declaration of a tensor with this data type of the format.
ValueInfo tensorInfo(const std::string &name, int32_t dataType, const std::vector<int64_t> &dims);
// A float32 tensor with these elements.
StoredTensor storedFloats(const std::string &name, const std::vector<int64_t> &dims,
                          const std::vector<float> &values);
// A node without a name, which messages call by its first output.
Node makeNode(const std::string &op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, std::vector<Attribute> attributes = {});
Attribute integerAttribute(const std::string &name, int64_t value);
Attribute stringAttribute(const std::string &name, const std::string &value);
Attribute stringsAttribute(const std::string &name, std::vector<std::string> values);
Attribute graphAttribute(const std::string &name, Graph graph);

} // namespace cleave::onnx
