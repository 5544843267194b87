// See Model.h.
#include "compiler/frontend/torchscript/Model.h"

#include "compiler/frontend/step/Content.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Quantized.h"
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

static std::string join(const std::string &path, const std::string &name) {
  constexpr size_t most = 1 << 10; // a pickle repeats long names for a few bytes
  if (path.size() + name.size() > most)
    fail("the name of an attribute has more than " + std::to_string(most) + " characters");
  return path.empty() ? name : path + "." + name;
}

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
  fail("found " +
       (isNumpy         ? "NumPy arrays in an archive (.npz)"
        : names.empty() ? "a zip archive without files"
                        : "a zip archive of other files ('" + names[0] + "', ...)") +
       ", expected " + frontend::kModelFormats);
}

static void refusePacked(const Node &node, const std::string &name) {
  if (node.kind == NodeKind::Packed)
    torch::failOnQuantized("'" + name + "' holds packed weights (" + node.text + ")");
}

Model::Model(const torch::Archive &archive, Program &program,
             const frontend::ImportOptions &options)
    : archive_(archive), program_(program) {
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
  refusePacked(data_[data_.root], "the model");
  if (data_[data_.root].kind != NodeKind::Object)
    fail("data.pkl holds no module; save the model again");
  if (archive_.find("constants.pkl"))
    constants_ =
        torch::readPickle(archive_.contents("constants.pkl"), "constants.pkl", "constants/");
}

// -- parameters, buffers, constants
void Model::findTensors(const frontend::ImportOptions &options) {
  untied_.insert(options.untie.begin(), options.untie.end());
  visitObject(data_.root, "");
  for (const std::string &name : options.untie)
    if (!byName_.contains(name))
      fail("--untie " + name + ": the model has no parameter '" + name + "'");
  tie(options);
  for (const Node &node : data_.nodes) {
    if (node.kind != NodeKind::Tensor)
      continue;
    const StridedTensor &tensor = data_.tensors[node.integer];
    auto same = byWindow_.find(windowOf(tensor));
    byDataTensor_[node.integer] =
        same != byWindow_.end() ? same->second : addConstant(tensor.entry, tensor);
  }
  if (!constants_.nodes.empty()) {
    const std::vector<NodeId> &items = constants_[constants_.root].items;
    for (size_t i = 0; i < items.size(); ++i)
      if (const Node &node = constants_[items[i]]; node.kind == NodeKind::Tensor)
        byConstantTensor_[node.integer] =
            addConstant("CONSTANTS.c" + std::to_string(i), constants_.tensors[node.integer]);
    findFrozen();
  }
  warnOfOverlaps();
}

// Modules of old archives do not list their buffers: all tensors are that are no parameters.
static bool isBuffer(const Class &type, const std::string &name) {
  return contains(type.buffers, name) || (type.base == "Module" && !type.listsBuffers);
}

// Depth-first in the order of attributes, which is that of PyTorch's named_parameters().
void Model::visitObject(NodeId id, const std::string &path) {
  const Node &object = data_[id];
  if (!visited_.insert(id).second)
    return;
  const Class &type = *program_.findClass(object.text).type;
  for (size_t i = 0; i + 1 < object.items.size(); i += 2) {
    const std::string &name = data_[object.items[i]].text;
    const Node &value = data_[object.items[i + 1]];
    refusePacked(value, join(path, name));
    if (value.kind == NodeKind::Tensor && contains(type.parameters, name))
      addNamed(Kind::Parameter, join(path, name), data_.tensors[value.integer]);
    else if (value.kind == NodeKind::Tensor && isBuffer(type, name))
      addNamed(Kind::Buffer, join(path, name), data_.tensors[value.integer]);
  }
  for (size_t i = 0; i + 1 < object.items.size(); i += 2)
    if (data_[object.items[i + 1]].kind == NodeKind::Object)
      visitObject(object.items[i + 1], join(path, data_[object.items[i]].text));
}

void Model::addNamed(Kind kind, const std::string &name, const StridedTensor &tensor) {
  if (auto same = shared_.find(windowOf(tensor)); same != shared_.end()) {
    byName_[name] = same->second;
    if (kind == Kind::Parameter)
      remarks_.push_back({Remark::Kind::Tied, tensors_[same->second].name,
                          "'" + name + "' is the same tensor in the file: one parameter"});
    return;
  }
  byName_[name] = add(kind, name, tensor);
}

Model::Window Model::windowOf(const StridedTensor &tensor) {
  return {tensor.entry, tensor.elementName, tensor.offset, tensor.dims, tensor.strides};
}

size_t Model::add(Kind kind, const std::string &name, const StridedTensor &tensor) {
  if (torch::isQuantizedElement(tensor.elementName))
    torch::failOnQuantized("'" + name + "' is a tensor of " + tensor.elementName);
  Window window = windowOf(tensor);
  byWindow_.try_emplace(window, tensors_.size());
  if (!untied_.contains(name))
    shared_.try_emplace(std::move(window), tensors_.size());
  tensors_.push_back({kind, name, tensor});
  return tensors_.size() - 1;
}

size_t Model::addConstant(const std::string &name, const StridedTensor &tensor) {
  return add(Kind::Constant, name, tensor);
}

// The first name becomes the second.
void Model::tie(const frontend::ImportOptions &options) {
  for (const auto &[name, other] : options.tie) {
    for (const std::string &one : {name, other})
      if (!byName_.contains(one))
        fail("--tie " + name + "=" + other + ": the model has no parameter '" + one + "'");
    const StridedTensor &a = tensors_[byName_[name]].tensor, &b = tensors_[byName_[other]].tensor;
    if (a.dims != b.dims || a.element != b.element)
      fail("--tie " + name + "=" + other + ": the two have different shapes or types");
    byName_[name] = byName_[other];
    remarks_.push_back({Remark::Kind::Tied, other, "'" + name + "' is tied to it as asked for"});
  }
}

// Whether a vector has equal elements only, as the weights and biases of fresh norms have.
static bool hasEqualElements(const torch::Archive &archive, const Stored &stored) {
  constexpr int64_t most = int64_t(1) << 20;
  if (stored.tensor.dims.size() != 1 || stored.tensor.elementCount() > most)
    return false;
  Tensor values = torch::readTensor(archive, stored.tensor, stored.name);
  return std::adjacent_find(values.values.begin(), values.values.end(), std::not_equal_to<>()) ==
         values.values.end();
}

// Whether b holds by columns what a holds by rows, and not only one number. `budget`: elements that may be compared.
static bool isTransposed(const torch::Archive &archive, const Stored &a, const Stored &b,
                         int64_t &budget) {
  const StridedTensor &x = a.tensor, &y = b.tensor;
  if (x.dims.size() != 2 || y.dims.size() != 2 || x.element != y.element ||
      x.dims[0] != y.dims[1] || x.dims[1] != y.dims[0] || x.dims[0] < 2 || x.dims[1] < 2)
    return false;
  if ((budget -= 64) < 0) // finding the entries takes time, too
    return false;
  const torch::Entry &xEntry = torch::entryOf(archive, x, a.name),
                     &yEntry = torch::entryOf(archive, y, b.name);
  if (xEntry.isCompressed || yEntry.isCompressed)
    return false;
  std::string_view left = archive.mapped(xEntry), right = archive.mapped(yEntry);
  auto size = static_cast<size_t>(byteSize(*x.element)),
       first = static_cast<size_t>(x.offset) * size;
  bool differs = false;
  for (int64_t i = 0; i < x.dims[0]; ++i)
    for (int64_t j = 0; j < x.dims[1]; ++j) {
      if (--budget < 0)
        return false;
      size_t from = static_cast<size_t>(x.offset + i * x.strides[0] + j * x.strides[1]) * size;
      size_t to = static_cast<size_t>(y.offset + j * y.strides[0] + i * y.strides[1]) * size;
      if (left.compare(from, size, right, to, size) != 0)
        return false;
      differs |= left.compare(from, size, left, first, size) != 0;
    }
  return differs;
}

// Random numbers are not each other's transpose by accident.
void Model::findTransposed(const std::vector<size_t> &frozen) {
  // Only zeros that many tensors share, or dims of stride 0, take more.
  int64_t budget = int64_t(1) << 28;
  for (size_t i = 0; i < frozen.size(); ++i)
    for (size_t j = 0; j < i && --budget >= 0 && !transposedOf_.contains(frozen[i]); ++j)
      if (!transposedOf_.contains(frozen[j]) &&
          isTransposed(archive_, tensors_[frozen[j]], tensors_[frozen[i]], budget))
        transposedOf_[frozen[i]] = frozen[j];
}

// A frozen module has no parameters any more: they are constants of the program.
void Model::findFrozen() {
  if (hasModelJson(archive_)) // older than freezing
    return;
  if (std::any_of(tensors_.begin(), tensors_.end(),
                  [](const Stored &stored) { return stored.kind == Kind::Parameter; }))
    return;
  std::set<std::string> statistics = runningStatistics(program_);
  std::vector<size_t> frozen;
  for (auto [index, stored] : byConstantTensor_) {
    Stored &tensor = tensors_[stored];
    if (!tensor.tensor.element || !isFloat(*tensor.tensor.element) || tensor.tensor.dims.empty() ||
        tensor.tensor.elementCount() < 2 || statistics.contains(tensor.name))
      continue;
    tensor.kind = Kind::Parameter;
    tensor.tensor.requiresGrad = true; // freezing a module says nothing of its parameters
    if (hasEqualElements(archive_, tensor))
      equalEverywhere_.insert(stored);
    frozen.push_back(stored);
  }
  findTransposed(frozen);
  size_t count = frozen.size() - transposedOf_.size();
  if (count > 0)
    remarks_.push_back({Remark::Kind::Warning, "the model",
                        "was frozen, so its " + std::to_string(count) +
                            " parameters lost their names and are called CONSTANTS.c0, ..."});
}

// Two parameters that share memory without being the same would be one thing to PyTorch and two to
// us.
void Model::warnOfOverlaps() {
  auto end = [](const StridedTensor &tensor) {
    int64_t last = tensor.offset;
    for (size_t i = 0; i < tensor.dims.size(); ++i)
      last += (tensor.dims[i] - 1) * tensor.strides[i];
    return last;
  };
  std::map<std::pair<std::string, int64_t>, const Stored *> byPlace;
  for (const Stored &stored : tensors_)
    if (stored.kind == Kind::Parameter && stored.tensor.elementCount() > 0)
      byPlace[{stored.tensor.entry, stored.tensor.offset}] = &stored;
  const Stored *before = nullptr;
  for (const auto &[place, stored] : byPlace) {
    if (before && before->tensor.entry == place.first && end(before->tensor) >= place.second)
      remarks_.push_back(
          {Remark::Kind::TrainingWarning, stored->name,
           "shares memory with '" + before->name + "', but is trained apart from it"});
    before = stored;
  }
}

// -- values
// The objects of one instantiation.
class Model::Builder {
public:
  Builder(const Model &model, const torch::Pickle &pickle, const std::map<size_t, size_t> &tensors,
          const std::function<Value(size_t)> &make)
      : model_(model), pickle_(pickle), tensors_(tensors), make_(make) {}

  Value valueOf(NodeId id, const std::string &path) {
    auto known = values_.find(id);
    if (known != values_.end())
      return known->second;
    Value value = makeValue(pickle_[id], path);
    values_[id] = value;
    return value;
  }

private:
  Value makeValue(const Node &node, const std::string &path) {
    switch (node.kind) {
    case NodeKind::None:
      return {};
    case NodeKind::Bool:
      return Value(node.integer != 0);
    case NodeKind::Int:
      return Value(node.integer);
    case NodeKind::Float:
      return Value(node.number);
    case NodeKind::String:
    case NodeKind::Device:
    case NodeKind::Global:
      return Value(node.text);
    case NodeKind::Tensor:
      if (!tensors_.contains(node.integer))
        fail("'" + path + "' is a tensor inside a constant, expected a constant of its own");
      return tensor(tensors_.at(node.integer));
    case NodeKind::Packed:
      refusePacked(node, path);
      return {};
    case NodeKind::Storage:
      fail("'" + path + "' is a storage without a tensor");
    case NodeKind::List:
    case NodeKind::Tuple: {
      ValueList items;
      for (size_t i = 0; i < node.items.size(); ++i)
        items.push_back(valueOf(node.items[i], join(path, std::to_string(i))));
      return Value::list(std::move(items), node.kind == NodeKind::Tuple);
    }
    case NodeKind::Dict: {
      auto out = std::make_shared<Dictionary>();
      for (size_t i = 0; i + 1 < node.items.size(); i += 2)
        out->set(valueOf(node.items[i], path), valueOf(node.items[i + 1], path));
      return Value(aten::ObjectRef(out));
    }
    case NodeKind::Object:
      return makeObject(node, path);
    }
    return {};
  }

  Value makeObject(const Node &node, const std::string &path) {
    auto out = std::make_shared<Instance>();
    out->definition = model_.program_.findClass(node.text);
    out->path = path;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const std::string &name = pickle_[node.items[i]].text;
      std::string full = join(path, name);
      auto named = model_.byName_.find(full); // of a parameter that was tied or untied
      bool isTensor = pickle_[node.items[i + 1]].kind == NodeKind::Tensor;
      out->attributes[name] = isTensor && named != model_.byName_.end()
                                  ? tensor(named->second)
                                  : valueOf(node.items[i + 1], full);
    }
    return Value(aten::ObjectRef(out));
  }

  Value tensor(size_t index) {
    auto known = made_.find(index);
    if (known == made_.end())
      known = made_.emplace(index, make_(index)).first;
    return known->second;
  }

  const Model &model_;
  const torch::Pickle &pickle_;
  const std::map<size_t, size_t> &tensors_;
  const std::function<Value(size_t)> &make_;
  std::map<NodeId, Value> values_;
  std::map<size_t, Value> made_;
};

InstanceRef Model::instantiate(const std::function<Value(size_t)> &make) const {
  return instanceOf(Builder(*this, data_, byDataTensor_, make).valueOf(data_.root, ""));
}

NodeId Model::constantNode(const std::string &name) const {
  size_t index = 0;
  const char *end = name.data() + name.size();
  bool isNumbered =
      name.size() > 1 && name[0] == 'c' && std::from_chars(name.data() + 1, end, index).ptr == end;
  if (!isNumbered || constants_.nodes.empty() || index >= constants_[constants_.root].items.size())
    fail("the archive has no constant '" + name + "'; save the model again");
  return constants_[constants_.root].items[index];
}

std::optional<size_t> Model::constantTensor(const std::string &name) const {
  const Node &node = constants_[constantNode(name)];
  if (node.kind != NodeKind::Tensor)
    return std::nullopt;
  return byConstantTensor_.at(node.integer);
}

Value Model::constantValue(const std::string &name) const {
  std::function<Value(size_t)> none = [&](size_t) -> Value {
    fail("the constant '" + name + "' holds tensors inside something else");
  };
  return Builder(*this, constants_, byConstantTensor_, none).valueOf(constantNode(name), name);
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
