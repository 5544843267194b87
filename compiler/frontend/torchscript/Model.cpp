// See Model.h.
#include "compiler/frontend/torchscript/Model.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/Content.h"
#include "compiler/frontend/torchscript/ModelJson.h"
#include "compiler/frontend/torchscript/Usage.h"

#include <algorithm>
#include <charconv>

namespace cleave::torchscript {

using emit::fail;
using frontend::Remark;
using torch::Node;
using torch::NodeId;
using torch::StridedTensor;
using NodeKind = Node::Kind;

static bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] static void failWithoutProgram(const torch::Archive &archive) {
  if (archive.find("data.pkl"))
    fail("the archive has weights but no program; save both with torch.export.save, or "
         "torch.jit.script(model).save(FILE)");
  std::vector<std::string> names = archive.namesWith("");
  bool isNumpy = !names.empty() && std::all_of(names.begin(), names.end(), [](const auto &name) {
    return name.ends_with(".npy");
  });
  fail("found ",
       (isNumpy         ? "NumPy arrays in an archive (.npz)"
        : names.empty() ? "a zip archive without files"
                        : "a zip archive of other files ('" + names[0] + "', ...)"),
       ", expected ", frontend::kModelFormats);
}

Model::Model(const torch::Archive &archive, Program &program,
             const frontend::ImportOptions &options)
    : archive_(archive), program_(program), table_(options) {
  if (archive.namesWith("code/").empty())
    failWithoutProgram(archive);
  if (archive.find("byteorder") && archive.contents("byteorder") != "little")
    fail("the archive was written on a big-endian machine; save it again on a little-endian one");
  readPickles();
  findTensors(options);
}

void Model::readPickles() {
  if (hasModelJson(archive_)) {
    ModelData read = readModelJson(archive_, program_);
    data_ = std::move(read.data);
    constants_ = std::move(read.constants);
    return;
  }
  data_ = torch::readPickle(archive_.contents("data.pkl"), "data.pkl", "data/");
  failOnPacked(data_[data_.root], "the model");
  if (data_[data_.root].kind != NodeKind::Object)
    fail("data.pkl holds no module; save the model again");
  if (archive_.find("constants.pkl"))
    constants_ =
        torch::readPickle(archive_.contents("constants.pkl"), "constants.pkl", "constants/");
}

// -- tensors --------------------------------------------------------------------------------------
void Model::findTensors(const frontend::ImportOptions &options) {
  visitObject(data_.root, "");
  nameOthers();
  table_.tie(options);
  for (const Node &node : data_.nodes) {
    if (node.kind != NodeKind::Tensor)
      continue;
    const StridedTensor &tensor = data_.tensors[node.integer];
    std::optional<size_t> same = table_.sameAs(tensor);
    byDataTensor_[node.integer] = same ? *same : table_.addConstant(tensor.entry, tensor);
  }
  if (!constants_.nodes.empty()) {
    const std::vector<NodeId> &items = constants_[constants_.root].items;
    for (size_t i = 0; i < items.size(); ++i)
      if (const Node &node = constants_[items[i]]; node.kind == NodeKind::Tensor)
        byConstantTensor_[node.integer] =
            table_.addConstant(concat("CONSTANTS.c", i), constants_.tensors[node.integer]);
  }
  remarks_ = table_.remarks();
  findFrozen();
  for (Remark &overlap : overlaps(table_.tensors()))
    remarks_.push_back(std::move(overlap));
}

// Modules of old archives do not list their buffers: all tensors that are no parameters are
// buffers.
static bool isBuffer(const Class &type, const std::string &name) {
  return contains(type.buffers, name) || (type.base == "Module" && !type.listsBuffers);
}

// The key of a dictionary or the name of an attribute, as stringOf() writes it.
static std::string keyText(const Node &key) {
  switch (key.kind) {
  case NodeKind::Bool:
    return key.integer != 0 ? "True" : "False";
  case NodeKind::Int:
    return std::to_string(key.integer);
  default:
    return key.text;
  }
}

// Visits objects depth-first in the order of attributes, the order of PyTorch's named_parameters().
void Model::visitObject(NodeId id, const std::string &path) {
  const Node &object = data_[id];
  if (!visited_.insert(id).second)
    return;
  const Class &type = *program_.findClass(object.text).type;
  for (size_t i = 0; i + 1 < object.items.size(); i += 2) {
    const std::string &name = data_[object.items[i]].text;
    const Node &value = data_[object.items[i + 1]];
    failOnPacked(value, attributePath(path, name));
    if (value.kind == NodeKind::Tensor && contains(type.parameters, name))
      table_.addNamed(Kind::Parameter, attributePath(path, name), data_.tensors[value.integer]);
    else if (value.kind == NodeKind::Tensor && isBuffer(type, name))
      table_.addNamed(Kind::Buffer, attributePath(path, name), data_.tensors[value.integer]);
  }
  for (size_t i = 0; i + 1 < object.items.size(); i += 2)
    if (data_[object.items[i + 1]].kind == NodeKind::Object)
      visitObject(object.items[i + 1], attributePath(path, data_[object.items[i]].text));
}

// Names the tensors that are neither parameters nor buffers by the attribute, and the place in its
// list or dictionary.
void Model::nameOthers() {
  std::set<NodeId> visited;
  std::vector<std::pair<NodeId, std::string>> open{{data_.root, ""}};
  while (!open.empty()) {
    auto [id, path] = std::move(open.back());
    open.pop_back();
    const Node &node = data_[id];
    if (node.kind == NodeKind::Tensor && !table_.named(path))
      table_.addNamed(Kind::Constant, path, data_.tensors[node.integer]);
    if (!visited.insert(id).second)
      continue;
    const bool isNamed = node.kind == NodeKind::Object || node.kind == NodeKind::Dict;
    const bool isList = node.kind == NodeKind::List || node.kind == NodeKind::Tuple;
    const size_t begin = open.size();
    for (size_t i = 0; isNamed && i + 1 < node.items.size(); i += 2)
      open.emplace_back(node.items[i + 1], attributePath(path, keyText(data_[node.items[i]])));
    for (size_t i = 0; isList && i < node.items.size(); ++i)
      open.emplace_back(node.items[i], attributePath(path, std::to_string(i)));
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(begin), open.end()); // depth-first
  }
}

// The parameters of a frozen module are constants of the program.
void Model::findFrozen() {
  if (hasModelJson(archive_)) // older than freezing
    return;
  const std::vector<Stored> &tensors = table_.tensors();
  if (std::any_of(tensors.begin(), tensors.end(),
                  [](const Stored &stored) { return stored.kind == Kind::Parameter; }))
    return;
  std::vector<size_t> constants;
  for (auto [tensor, index] : byConstantTensor_)
    constants.push_back(index);
  if (constants.empty())
    return;
  frozen_ = findFrozenParameters(archive_, table_, constants, runningStatistics(program_));
  size_t count = frozen_.all.size() - frozen_.transposedOf.size();
  if (count > 0)
    remarks_.push_back({Remark::Kind::Warning, "the model",
                        concat("was frozen, so its ", count,
                               " parameters lost their names and are called CONSTANTS.c0, ...")});
}

// -- values ---------------------------------------------------------------------------------------
InstanceRef Model::instantiate(const MakeTensor &make) const {
  ObjectBuilder builder(program_, table_, data_, byDataTensor_, make);
  return instanceOf(builder.valueOf(data_.root, ""));
}

NodeId Model::constantNode(const std::string &name) const {
  size_t index = 0;
  const char *end = name.data() + name.size();
  bool isNumbered =
      name.size() > 1 && name[0] == 'c' && std::from_chars(name.data() + 1, end, index).ptr == end;
  if (!isNumbered || constants_.nodes.empty() || index >= constants_[constants_.root].items.size())
    fail("the archive has no constant '", name, "'; save the model again");
  return constants_[constants_.root].items[index];
}

std::optional<size_t> Model::constantTensor(const std::string &name) const {
  const Node &node = constants_[constantNode(name)];
  if (node.kind != NodeKind::Tensor)
    return std::nullopt;
  return byConstantTensor_.at(node.integer);
}

IValue Model::constantValue(const std::string &name) const {
  MakeTensor none = [&](size_t) -> IValue {
    fail("the constant '", name, "' holds tensors inside something else");
  };
  ObjectBuilder builder(program_, table_, constants_, byConstantTensor_, none);
  return builder.valueOf(constantNode(name), name);
}

std::vector<StridedTensor> Model::tracedInputs() const {
  std::vector<StridedTensor> out;
  if (!archive_.find("traced_inputs.pkl"))
    return out;
  torch::Pickle pickle = torch::readPickle(archive_.contents("traced_inputs.pkl"),
                                           "traced_inputs.pkl", "traced_inputs/");
  const Node &root = pickle[pickle.root];
  for (size_t i = 0; root.kind == NodeKind::Dict && i + 1 < root.items.size(); i += 2) {
    if (pickle[root.items[i]].text != "forward")
      continue;
    for (NodeId item : pickle[root.items[i + 1]].items) {
      if (pickle[item].kind != NodeKind::Tensor)
        return {};
      out.push_back(pickle.tensors[pickle[item].integer]);
    }
  }
  return out;
}

} // namespace cleave::torchscript
