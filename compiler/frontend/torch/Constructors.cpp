// See Constructors.h.
#include "compiler/frontend/torch/Constructors.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Quantized.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace cleave::torch {

using emit::fail;
using Kind = Node::Kind;

namespace {

struct TypeName {
  const char *name, *storage;
  std::optional<ElementType> type;
};

const TypeName kTypes[] = {
    {"float64", "DoubleStorage", ElementType::F64},
    {"float32", "FloatStorage", ElementType::F32},
    {"float16", "HalfStorage", ElementType::F16},
    {"bfloat16", "BFloat16Storage", ElementType::BF16},
    {"int64", "LongStorage", ElementType::I64},
    {"int32", "IntStorage", ElementType::I32},
    {"int16", "ShortStorage", ElementType::I16},
    {"int8", "CharStorage", ElementType::I8},
    {"uint8", "ByteStorage", ElementType::U8},
    {"uint16", "UInt16Storage", ElementType::U16},
    {"uint32", "UInt32Storage", ElementType::U32},
    {"uint64", "UInt64Storage", ElementType::U64},
    {"bool", "BoolStorage", ElementType::Bool},
    {"complex64", "ComplexFloatStorage", {}},
    {"complex128", "ComplexDoubleStorage", {}},
    {"qint8", "QInt8Storage", {}},
    {"quint8", "QUInt8Storage", {}},
    {"qint32", "QInt32Storage", {}},
    {"quint4x2", "QUInt4x2Storage", {}},
    {"quint2x4", "QUInt2x4Storage", {}},
};

// Globals other than storages and element types: constants and constructors.
constexpr const char *kTensorV2 = "torch._utils._rebuild_tensor_v2";
constexpr const char *kTensorV3 = "torch._utils._rebuild_tensor_v3";
constexpr const char *kQuantized = "torch._utils._rebuild_qtensor";
constexpr const char *kTensorOfTable = "torch.jit._pickle.build_tensor_from_id";
constexpr const char *kParameter = "torch._utils._rebuild_parameter";
constexpr const char *kOrderedDict = "collections.OrderedDict";
constexpr const char *kDevice = "torch.device";
constexpr const char *kTypeTag = "torch.jit._pickle.restore_type_tag";
// Constructors that return their first argument.
constexpr std::array kTransparent = {
    kParameter,
    kTypeTag,
    "torch.Size",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_tensorlist",
    "torch.serialization._get_layout",
};

bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

const TypeName *typeOfGlobal(const std::string &name) {
  for (const TypeName &type : kTypes)
    if (name == std::string("torch.") + type.name || name == std::string("torch.") + type.storage)
      return &type;
  return nullptr;
}

bool isTransparent(const std::string &name) {
  return std::find(kTransparent.begin(), kTransparent.end(), name) != kTransparent.end();
}

// Quantization schemes: one scale per tensor or per channel.
bool isScheme(const std::string &name) {
  return name == "torch.per_tensor_affine" || name == "torch.per_channel_affine" ||
         name == "torch.per_channel_affine_float_qparams";
}

bool isKnown(const std::string &name) {
  return name == kTensorV2 || name == kTensorV3 || name == kQuantized || name == kTensorOfTable ||
         name == kOrderedDict || name == kDevice || isScheme(name) || isTransparent(name) ||
         typeOfGlobal(name) || name == "torch.storage.UntypedStorage" ||
         startsWith(name, "__torch__.");
}

} // namespace

std::optional<ElementType> elementTypeNamed(const std::string &name) {
  const TypeName *type = typeOfGlobal("torch." + name);
  return type ? type->type : std::nullopt;
}

void Constructors::spend(uint64_t bytes) {
  constexpr uint64_t always = 1 << 20, perByte = 64;
  spent_ += bytes;
  if (spent_ > always && spent_ / perByte > bytes_)
    wrong("of ", bytes_, " bytes stands for more than ", spent_);
}

NodeId Constructors::add(Node node) {
  spend(node.text.size() + node.items.size() * sizeof(NodeId));
  pickle_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(pickle_.nodes.size() - 1);
}

NodeId Constructors::global(const std::string &name) {
  if (isKnown(name))
    return add({.kind = Kind::Global, .text = name});
  bool isModule = startsWith(name, "torch.nn.") || startsWith(name, "__main__.");
  fail("the pickle '", name_, "' wants to make '", name,
       (isModule ? "', Python code that is not in the file; save the program, too: "
                   "torch.jit.script(model).save(FILE) or torch.export.save(torch.export.export("
                   "model, inputs), FILE)"
                 : "', which is nothing that a model needs; expected tensors, lists, dictionaries "
                   "and TorchScript objects only"));
}

const Node &Constructors::argument(NodeId arguments, size_t i, Kind kind) const {
  const std::vector<NodeId> &items = pickle_[arguments].items;
  if (i >= items.size() || pickle_[items[i]].kind != kind)
    wrong("makes something of arguments that do not fit");
  return pickle_[items[i]];
}

std::vector<int64_t> Constructors::integers(const Node &node) {
  std::vector<int64_t> out;
  spend(node.items.size() * sizeof(int64_t));
  for (NodeId item : node.items) {
    if (pickle_[item].kind != Kind::Int)
      wrong("has a size that is not an integer");
    out.push_back(pickle_[item].integer);
  }
  return out;
}

NodeId Constructors::construct(NodeId constructor, NodeId arguments) {
  if (pickle_[constructor].kind != Kind::Global)
    wrong("calls something that is not a constructor");
  const std::string name = pickle_[constructor].text;
  bool isTuple = pickle_[arguments].kind == Kind::Tuple;
  if (!isTuple && startsWith(name, "__torch__."))
    return arguments; // a member of an Enum; its value represents it
  if (!isTuple)
    wrong("calls something that is not a constructor");
  if (name == kTensorV2)
    return addTensor(window(arguments, /*gradient=*/4));
  if (name == kQuantized) // the quantizer's arguments come first
    return addTensor(window(arguments, /*gradient=*/5));
  if (name == kTensorV3)
    return addTensor(typedWindow(arguments));
  if (name == kTensorOfTable)
    return tensorOfTable(arguments);
  if (name == kOrderedDict)
    return makeDict(arguments);
  if (name == kDevice) {
    std::string text = argument(arguments, 0, Kind::String).text;
    return add({.kind = Kind::Device, .text = text});
  }
  if (isTransparent(name)) {
    if (pickle_[arguments].items.empty())
      wrong("makes something of arguments that do not fit");
    return pickle_[arguments].items[0];
  }
  if (startsWith(name, "__torch__."))
    return add({.kind = Kind::Object, .text = name});
  wrong("calls '", name, "', which is not a constructor");
}

NodeId Constructors::makeDict(NodeId arguments) {
  Node out{.kind = Kind::Dict};
  if (!pickle_[arguments].items.empty())
    for (NodeId pair : argument(arguments, 0, Kind::List).items) {
      const std::vector<NodeId> &items = pickle_[pair].items;
      if (items.size() != 2)
        wrong("has a dictionary of elements that are not pairs");
      out.items.insert(out.items.end(), items.begin(), items.end());
    }
  return add(std::move(out));
}

// A storage is represented by a tensor of all its elements.
NodeId Constructors::storage(NodeId id) {
  if (pickle_[id].kind != Kind::Tuple || argument(id, 0, Kind::String).text != "storage")
    wrong("refers to something outside that is not a storage");
  StridedTensor tensor;
  const std::string &type = argument(id, 1, Kind::Global).text;
  const TypeName *known = typeOfGlobal(type);
  if (known) {
    tensor.element = known->type;
    tensor.elementName = known->name;
  } else if (type != "torch.storage.UntypedStorage") {
    wrong("has a storage of '", type, "'");
  }
  tensor.entry = folder_ + argument(id, 2, Kind::String).text;
  argument(id, 3, Kind::String); // the device, which is ignored
  tensor.storageElements = argument(id, 4, Kind::Int).integer;
  if (tensor.storageElements < 0)
    wrong("has a storage of negative size");
  spend(tensor.entry.size());
  pickle_.tensors.push_back(std::move(tensor));
  return add({.kind = Kind::Storage, .integer = int64_t(pickle_.tensors.size() - 1)});
}

// A window of a storage; `gradient` is the place of requires_grad.
StridedTensor Constructors::window(NodeId arguments, size_t gradient) {
  StridedTensor tensor = pickle_.tensors[argument(arguments, 0, Kind::Storage).integer];
  spend(tensor.entry.size());
  tensor.offset = argument(arguments, 1, Kind::Int).integer;
  tensor.dims = integers(argument(arguments, 2, Kind::Tuple));
  tensor.strides = integers(argument(arguments, 3, Kind::Tuple));
  tensor.requiresGrad = argument(arguments, gradient, Kind::Bool).integer != 0;
  return tensor;
}

// The storage has a size in bytes, the tensor its element type.
StridedTensor Constructors::typedWindow(NodeId arguments) {
  StridedTensor tensor = window(arguments, /*gradient=*/4);
  const std::string &type = argument(arguments, 6, Kind::Global).text;
  tensor.elementName = type.substr(type.find('.') + 1);
  tensor.element = elementTypeNamed(tensor.elementName);
  if (tensor.element)
    tensor.storageElements /= byteSize(*tensor.element);
  return tensor;
}

NodeId Constructors::addTensor(StridedTensor tensor) {
  checkTensor(tensor, tensor.entry);
  pickle_.tensors.push_back(std::move(tensor));
  return add({.kind = Kind::Tensor, .integer = int64_t(pickle_.tensors.size() - 1)});
}

NodeId Constructors::tensorOfTable(NodeId arguments) {
  int64_t id = argument(arguments, 0, Kind::Int).integer;
  if (id < 0 || static_cast<uint64_t>(id) >= tableSize_)
    wrong("refers to tensor ", id, " of a table of ", tableSize_);
  return add({.kind = Kind::Tensor, .integer = id});
}

void Constructors::setState(NodeId object, NodeId state) {
  Node &target = pickle_.nodes[object];
  if (target.kind == Kind::Dict)
    return; // Python's own attributes of a dictionary
  if (target.kind == Kind::Object && pickle_[state].kind != Kind::Dict &&
      isQuantizedClass(target.text)) {
    target.kind = Kind::Packed;
    return;
  }
  if (target.kind != Kind::Object || pickle_[state].kind != Kind::Dict)
    wrong(target.kind == Kind::Object ? "has an object of '" + target.text +
                                            "' with a state of its own kind, which Cleave "
                                            "does not support"
                                      : "gives attributes to something that has none");
  target.items = pickle_[state].items;
  spend(target.items.size() * sizeof(NodeId));
  for (size_t i = 0; i < target.items.size(); i += 2)
    if (pickle_[target.items[i]].kind != Kind::String)
      wrong("has an attribute without a name");
}

} // namespace cleave::torch
