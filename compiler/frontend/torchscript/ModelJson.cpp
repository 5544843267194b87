// See ModelJson.h. The fields are those of PyTorch's caffe2/proto/torch.proto (ModelDef), as
// Protobuf writes them to JSON: names in camelCase, 64-bit integers as strings, and nothing where a
// field was not set.
#include "compiler/frontend/torchscript/ModelJson.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Program.h"
#include "runtime/base/Json.h"

#include <charconv>
#include <set>

namespace cleave::torchscript {
namespace {

using torch::Node;
using torch::NodeId;
using torch::StridedTensor;

constexpr const char *kFile = "model.json";
constexpr const char *kWayOut =
    "; load it with a PyTorch that does, such as 1.4, and save it again: "
    "torch.jit.save(torch.jit.load(FILE), FILE)";
constexpr uint64_t kMaxBytes = uint64_t(64) << 20;
constexpr int64_t kFirstWithoutModelJson = 6; // value of protoVersion
// Limits of nested modules and of the characters of a module's path, which the names below repeat.
constexpr int kMaxModules = 100;
constexpr size_t kMaxPath = 1 << 10;

struct DataType {
  const char *name, *element; // in model.json; PyTorch's
};
constexpr DataType kDataTypes[] = {
    {"FLOAT", "float32"}, {"DOUBLE", "float64"}, {"FLOAT16", "float16"}, {"INT8", "int8"},
    {"INT16", "int16"},   {"INT32", "int32"},    {"INT64", "int64"},     {"UINT8", "uint8"},
    {"BYTE", "uint8"},    {"UINT16", "uint16"},  {"BOOL", "bool"},
};

template <typename... Parts> [[noreturn]] void wrong(const Parts &...what) {
  emit::fail(kFile, ": ", what..., "; save the model again");
}

// -- fields: absent ones have a default
const Json *find(const Json &object, const char *key) {
  if (!object.is_object())
    wrong("found ", object.type_name(), ", expected an object with '", key, "'");
  auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void wrongKind(const Json &found, const char *key, const char *expected) {
  wrong("found ", std::string(found.type_name()), " in '", key, "', expected ", expected);
}

int64_t toInteger(const Json &value, const char *key) {
  int64_t out = 0;
  if (value.is_number_integer() &&
      (!value.is_number_unsigned() || std::in_range<int64_t>(value.get_ref<const uint64_t &>())))
    return value.is_number_unsigned() ? static_cast<int64_t>(value.get_ref<const uint64_t &>())
                                      : value.get_ref<const int64_t &>();
  if (value.is_string()) {
    const auto &text = value.get_ref<const std::string &>();
    const char *end = text.data() + text.size();
    if (!text.empty() && std::from_chars(text.data(), end, out).ptr == end)
      return out;
  }
  wrongKind(value, key, "an integer");
}

int64_t integerIn(const Json &object, const char *key, int64_t absent) {
  const Json *value = find(object, key);
  return value ? toInteger(*value, key) : absent;
}

std::string textIn(const Json &object, const char *key) {
  const Json *value = find(object, key);
  if (!value)
    return "";
  if (!value->is_string())
    wrongKind(*value, key, "a string");
  return value->get_ref<const std::string &>();
}

bool truthIn(const Json &object, const char *key) {
  const Json *value = find(object, key);
  if (value && !value->is_boolean())
    wrongKind(*value, key, "true or false");
  return value && value->get_ref<const bool &>();
}

const Json &listIn(const Json &object, const char *key) {
  static const Json empty = Json::array();
  const Json *value = find(object, key);
  if (value && !value->is_array())
    wrongKind(*value, key, "a list");
  return value ? *value : empty;
}

std::vector<int64_t> integersIn(const Json &object, const char *key) {
  std::vector<int64_t> out;
  for (const Json &item : listIn(object, key))
    out.push_back(toInteger(item, key));
  return out;
}

// The entry of the archive that a RecordRef names; empty: none.
std::string entryIn(const Json &object, const char *key) {
  const Json *record = find(object, key);
  return record ? textIn(*record, "key") : "";
}

StridedTensor readTensor(const Json &json, size_t index) {
  StridedTensor out;
  std::string type = textIn(json, "dataType");
  out.elementName = type;
  for (const DataType &known : kDataTypes)
    if (type == known.name)
      out.elementName = known.element;
  if (truthIn(json, "isQuantized"))
    out.elementName = "q" + out.elementName;
  out.element = torch::elementTypeNamed(out.elementName);
  out.entry = entryIn(json, "data");
  out.offset = integerIn(json, "offset", 0);
  out.dims = integersIn(json, "dims");
  out.strides = integersIn(json, "strides");
  out.requiresGrad = truthIn(json, "requiresGrad");
  torch::checkTensor(out, "tensors[" + std::to_string(index) + "]");
  return out;
}

class Reader {
public:
  Reader(const torch::Archive &archive, Program &program) : archive_(archive), program_(program) {}

  ModelData read() {
    Json json = Json::parse(archive_.source(kFile, kMaxBytes), nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded())
      wrong("found no JSON, expected the tree of modules");
    if (int64_t version = integerIn(json, "protoVersion", 0); version >= kFirstWithoutModelJson)
      wrong("found protoVersion ", version, ", expected less than ", kFirstWithoutModelJson);
    const Json *model = find(json, "mainModule");
    if (!model)
      wrong("found no 'mainModule', expected the model");
    ModelData out;
    for (const Json &tensor : listIn(json, "tensors")) {
      archive_.spend(2 * sizeof(StridedTensor) + sizeof(Node));
      out.constants.tensors.push_back(readTensor(tensor, out.constants.tensors.size()));
      out.constants.nodes.push_back(
          {.kind = Node::Kind::Tensor, .integer = int64_t(out.constants.nodes.size())});
    }
    setRoot(out.constants);
    data_.tensors = out.constants.tensors;
    if (archive_.find("attributes.pkl"))
      data_ = torch::readPickle(archive_.contents("attributes.pkl"), "attributes.pkl", "",
                                out.constants.tensors);
    if (!data_.nodes.empty())
      attributes_ = data_[data_.root].items;
    data_.root = readModule(*model, "", 0);
    out.data = std::move(data_);
    return out;
  }

private:
  // Makes all nodes the items of a tuple.
  static void setRoot(torch::Pickle &pickle) {
    Node tuple{.kind = Node::Kind::Tuple};
    for (NodeId id = 0; id < pickle.nodes.size(); ++id)
      tuple.items.push_back(id);
    pickle.root = static_cast<NodeId>(pickle.nodes.size());
    pickle.nodes.push_back(std::move(tuple));
  }

  NodeId add(Node node) {
    archive_.spend(sizeof(Node) + node.text.size());
    data_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(data_.nodes.size() - 1);
  }

  // `path` is the module's place in the model; of the model itself it is empty.
  NodeId readModule(const Json &json, const std::string &path, int depth) {
    if (depth > kMaxModules || path.size() > kMaxPath)
      wrong("found modules nested more than ", kMaxModules, " deep or with more than ", kMaxPath,
            " characters in their names");
    archive_.spend(sizeof(Class) + 4 * path.size());
    Class type;
    type.name = textIn(json, "name");
    type.base = "Module";
    if (find(json, "getStateAttributeId"))
      emit::fail("the module '", (path.empty() ? type.name : path),
                 "' restores itself by __setstate__, as quantized modules do, which is not "
                 "supported in archives of PyTorch 1.3 and before",
                 kWayOut);
    Node object{.kind = Node::Kind::Object, .text = std::string(kFile) + ":" + path};
    readParameters(json, type, object);
    readAttributes(json, object);
    for (const Json &inner : listIn(json, "submodules")) {
      std::string name = textIn(inner, "name");
      setAttribute(object, name,
                   readModule(inner, path.empty() ? name : path + "." + name, depth + 1));
    }
    program_.addModule(object.text, std::move(type), entryIn(json, "torchscriptArena"));
    return add(std::move(object));
  }

  void setAttribute(Node &object, const std::string &name, NodeId value) {
    object.items.push_back(add({.kind = Node::Kind::String, .text = name}));
    object.items.push_back(value);
  }

  void readParameters(const Json &json, Class &type, Node &object) {
    for (const Json &parameter : listIn(json, "parameters")) {
      std::string name = textIn(parameter, "name");
      int64_t id = integerIn(parameter, "tensorId", 0);
      if (id < 0 || static_cast<uint64_t>(id) >= data_.tensors.size())
        wrong("found tensor ", id, " for '", name, "' in a table of ", data_.tensors.size());
      if (!truthIn(parameter, "isBuffer"))
        type.parameters.push_back(name);
      setAttribute(object, name, add({.kind = Node::Kind::Tensor, .integer = id}));
    }
  }

  // Attributes may repeat buffers.
  void readAttributes(const Json &json, Node &object) {
    std::set<std::string> known;
    for (size_t i = 0; i < object.items.size(); i += 2)
      known.insert(data_[object.items[i]].text);
    for (const Json &attribute : listIn(json, "attributes")) {
      std::string name = textIn(attribute, "name");
      int64_t id = integerIn(attribute, "id", -1);
      if (id >= 0 && static_cast<uint64_t>(id) >= attributes_.size())
        wrong("found value ", id, " for '", name, "', but attributes.pkl has ", attributes_.size());
      if (known.insert(name).second)
        setAttribute(object, name, id >= 0 ? attributes_[id] : add({}));
    }
  }

  const torch::Archive &archive_;
  Program &program_;
  torch::Pickle data_;
  std::vector<NodeId> attributes_; // in data_, by their numbers
};

} // namespace

bool hasModelJson(const torch::Archive &archive) {
  return archive.find(kFile) && archive.find("version") && !archive.find("data.pkl");
}

ModelData readModelJson(const torch::Archive &archive, Program &program) {
  return Reader(archive, program).read();
}

} // namespace cleave::torchscript
