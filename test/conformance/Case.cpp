// See Case.h.
#include "test/conformance/Case.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/file/TensorReader.h"
#include "compiler/frontend/onnx/file/Weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cleave::conformance {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3, kAbsolute = 1e-7;
// ONNX's runner allows two units in the last place for bfloat16.
constexpr double kRelativeBF16 = 1.0 / 64;

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

fs::path exampleFolder(const Case &test, int number) {
  return fs::path(test.folder) / ("test_data_set_" + std::to_string(number));
}

// Reads an array from the message `in`, which is a part of the file's content.
Array readArray(const std::string &content, onnx::WireReader in) {
  onnx::StoredTensor stored = onnx::readTensor(in);
  if (stored.dataType == onnx::kStringType)
    return {ElementType::I64, stored.dims, "", true, stored.strings};
  Array out{stored.element(), stored.dims, stored.decoded, false, {}};
  if (stored.inFile)
    out.bytes = content.substr(stored.range.offset, stored.range.size);
  return out;
}

// `x=float32[2,3]`, in the form of --input.
std::string description(const std::string &name, const Array &array) {
  std::string dims;
  for (int64_t size : array.shape)
    dims += (dims.empty() ? "" : ",") + std::to_string(size);
  return name + "=" + onnx::typeName(array.type) + "[" + dims + "]";
}

struct Values {
  std::map<std::string, Array> arrays;
  std::vector<std::string> described;
};

// A sequence: tensors in field 3. An optional: its tensor in field 3 or its sequence in field 5, or
// neither.
void readContainer(const std::string &name, bool isSequence, const std::string &content,
                   onnx::WireReader in, Values &out) {
  int count = 0;
  while (in.next()) {
    if (in.field() == 5 && !isSequence)
      return readContainer(name, true, content, in.message(), out);
    if (in.field() != 3)
      continue;
    std::string element = isSequence ? name + "." + std::to_string(count) : name;
    ++count;
    Array array = readArray(content, in.message());
    out.described.push_back(description(element, array));
    out.arrays[element] = std::move(array);
  }
  if (count == 0)
    out.described.push_back(name + (isSequence ? "=0" : "=none"));
}

// The files PREFIX_0.pb, PREFIX_1.pb, … for the values of these names.
Values readValues(const fs::path &folder, const std::string &prefix,
                  const std::vector<onnx::ValueInfo> &values) {
  Values out;
  for (size_t i = 0; i < values.size(); ++i) {
    fs::path path = folder / (prefix + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path))
      onnx::fail(path.filename().string() + " is missing");
    const onnx::ValueInfo &value = values[i];
    if (value.dataType == 0)
      onnx::fail("'" + value.name + "' is not a tensor");
    std::string content = contentOf(path);
    onnx::WireReader in(content);
    if (!value.isSequence && !value.isOptional)
      out.arrays[value.name] = readArray(content, in);
    else
      readContainer(value.name, value.isSequence && !value.isOptional, content, in, out);
  }
  return out;
}

bool isNumeric(const onnx::ValueInfo &value) {
  if (value.isSequence || value.isOptional)
    return false;
  // The format's numbers: 1 to 7, 9 to 13 and 16 but for strings (8).
  return (value.dataType >= 1 && value.dataType <= 13 && value.dataType != 8) ||
         value.dataType == 16;
}

std::string showShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

} // namespace

Tensor Array::tensor() const {
  Tensor out(type, shape);
  for (int64_t i = 0; i < out.size(); ++i)
    out.values[i] = onnx::elementAt(bytes, type, i);
  return out;
}

std::vector<Case> findCases(const std::string &root, const std::string &prefix) {
  std::vector<Case> out;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == "model.onnx") {
      fs::path folder = entry.path().parent_path();
      out.push_back({prefix + fs::relative(folder, root).string(), folder.string()});
    }
  std::sort(out.begin(), out.end(), [](const Case &a, const Case &b) { return a.name < b.name; });
  return out;
}

bool isNumeric(const Case &test) {
  std::string content = contentOf(test.model());
  try {
    onnx::Model model = onnx::readModel(content, test.model());
    auto numeric = [](const onnx::ValueInfo &value) { return isNumeric(value); };
    return std::all_of(model.graph.inputs.begin(), model.graph.inputs.end(), numeric) &&
           std::all_of(model.graph.outputs.begin(), model.graph.outputs.end(), numeric);
  } catch (const onnx::Failure &) {
    return false;
  }
}

int exampleCount(const Case &test) {
  int count = 0;
  while (fs::exists(exampleFolder(test, count)))
    ++count;
  return count;
}

Result<Example> readExample(const Case &test, int number) {
  std::string content = contentOf(test.model());
  try {
    onnx::Model model = onnx::readModel(content, test.model());
    fs::path folder = exampleFolder(test, number);
    Values inputs = readValues(folder, "input", model.graph.inputs);
    return Example{inputs.arrays, readValues(folder, "output", model.graph.outputs).arrays,
                   inputs.described};
  } catch (const onnx::Failure &failure) {
    return failure.status;
  }
}

static std::string difference(const Tensor &actual, const Tensor &expected) {
  if (actual.type != expected.type)
    return "the element type is " + onnx::typeName(actual.type) + ", expected " +
           onnx::typeName(expected.type);
  if (actual.shape != expected.shape)
    return "the shape is " + showShape(actual.shape) + ", expected " + showShape(expected.shape);
  double relative = expected.type == ElementType::BF16 ? kRelativeBF16 : kRelative;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double a = actual.values[i], b = expected.values[i];
    bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                (std::isfinite(b) && std::fabs(a - b) <= kAbsolute + relative * std::fabs(b));
    if (!same)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(b);
  }
  return "";
}

static std::string textDifference(const Array &actual, const Array &expected) {
  if (actual.shape != expected.shape)
    return "the shape is " + showShape(actual.shape) + ", expected " + showShape(expected.shape);
  for (size_t i = 0; i < expected.texts.size(); ++i)
    if (actual.texts[i] != expected.texts[i])
      return "element " + std::to_string(i) + " is '" + actual.texts[i] + "', expected '" +
             expected.texts[i] + "'";
  return "";
}

std::string difference(const Outcome &actual, const std::map<std::string, Array> &expected) {
  for (const auto &[name, array] : expected) {
    if (!(array.isText ? actual.texts.contains(name) : actual.tensors.contains(name)))
      return "output '" + name + "' is missing";
    std::string text = array.isText ? textDifference(actual.texts.at(name), array)
                                    : difference(actual.tensors.at(name), array.tensor());
    if (!text.empty())
      return "output '" + name + "': " + text;
  }
  if (size_t count = actual.tensors.size() + actual.texts.size(); count != expected.size())
    return concat("has ", count, " outputs, expected ", expected.size());
  return "";
}

} // namespace cleave::conformance
