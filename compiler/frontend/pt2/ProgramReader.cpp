// Reads model.json and the lists of weights and constants. See Program.h.
#include "compiler/frontend/pt2/Json.h"
#include "compiler/frontend/pt2/Program.h"

#include "compiler/frontend/emit/Failure.h"

namespace cleave::pt2 {
namespace {

using emit::fail;

// Limit of nested graphs and nested containers.
constexpr int kMaxDepth = 16;

// Limits of the length of an output's name, which those of its parts repeat, and of outputs.
constexpr size_t kMaxName = 1024, kMaxOutputs = 1 << 16;

// Limit of the length of a path in the JSON that contains a tensor's name, which its sizes repeat.
constexpr size_t kMaxPath = 1 << 14;

struct ScalarType {
  int64_t number; // in the archive
  const char *name;
  int64_t dtype; // the number in dtype arguments of operators
  std::optional<ElementType> element;
};

constexpr int64_t kNoDtype = -1;

const ScalarType kScalarTypes[] = {
    {1, "uint8", 0, ElementType::U8},
    {2, "int8", 1, ElementType::I8},
    {3, "int16", 2, ElementType::I16},
    {4, "int32", 3, ElementType::I32},
    {5, "int64", 4, ElementType::I64},
    {6, "float16", 5, ElementType::F16},
    {7, "float32", 6, ElementType::F32},
    {8, "float64", 7, ElementType::F64},
    {9, "complex32", 8, {}},
    {10, "complex64", 9, {}},
    {11, "complex128", 10, {}},
    {12, "bool", 11, ElementType::Bool},
    {13, "bfloat16", 15, ElementType::BF16},
    {28, "uint16", 27, ElementType::U16},
    {29, "float8_e4m3fn", kNoDtype, {}},
    {30, "float8_e5m2", kNoDtype, {}},
    {34, "uint32", 28, ElementType::U32},
    {35, "uint64", 29, ElementType::U64},
};

const ScalarType *findScalarType(int64_t number) {
  for (const ScalarType &type : kScalarTypes)
    if (type.number == number)
      return &type;
  return nullptr;
}

// `{"as_int": 8}`, `{"as_expr": {"expr_str": "s0", …}}`.
Size readSize(const Field &field) {
  std::string kind = field.alternative();
  if (kind == "as_int") {
    int64_t value = field.at("as_int").integer();
    return {Polynomial(value), std::to_string(value)};
  }
  if (kind != "as_expr")
    fail(field.path(), ": found '", kind, "', expected as_int or as_expr");
  std::string text = field.at("as_expr").at("expr_str").string();
  return {parseSize(text), text};
}

std::vector<Size> readSizes(const Field &field) {
  std::vector<Size> out;
  field.forEach([&](const Field &size) { out.push_back(readSize(size)); });
  return out;
}

TensorMeta readTensorMeta(const Field &field) {
  if (field.path().size() > kMaxPath)
    fail("a tensor has a name of more than ", kMaxPath, " characters");
  TensorMeta out;
  int64_t number = field.at("dtype").integer();
  const ScalarType *type = findScalarType(number);
  out.dtypeName = type ? type->name : "number " + std::to_string(number);
  out.element = type ? type->element : std::nullopt;
  out.sizes = readSizes(field.at("sizes"));
  out.strides = readSizes(field.at("strides"));
  out.offset = readSize(field.at("storage_offset"));
  out.requiresGrad = !field.has("requires_grad") || field.at("requires_grad").boolean();
  if (field.has("device"))
    out.device = field.at("device").at("type").string();
  return out;
}

Graph readGraph(const Field &field, int depth);

Argument named(const Field &name) {
  Argument out;
  out.kind = Argument::Kind::Name;
  out.text = name.string();
  return out;
}

Argument integer(int64_t value) {
  Argument out;
  out.kind = Argument::Kind::Integer;
  out.integer = value;
  return out;
}

Argument other(std::string what) {
  Argument out;
  out.kind = Argument::Kind::Other;
  out.text = std::move(what);
  return out;
}

Argument readDtype(const Field &field) {
  const ScalarType *type = findScalarType(field.integer());
  if (!type || type->dtype == kNoDtype)
    return other(std::string("the element type ") +
                 (type ? type->name : "number " + std::to_string(field.integer())));
  return integer(type->dtype);
}

Argument readNumber(const Field &field) {
  Argument out;
  out.kind = Argument::Kind::Number;
  out.number = field.number();
  return out;
}

Argument readBool(const Field &field) {
  Argument out;
  out.kind = Argument::Kind::Bool;
  out.boolean = field.boolean();
  return out;
}

Argument readString(const Field &field) {
  Argument out;
  out.kind = Argument::Kind::String;
  out.text = field.string();
  return out;
}

// A name or a literal.
Argument readSymbolic(const Field &field) {
  std::string kind = field.alternative();
  if (kind == "as_name")
    return named(field.at("as_name"));
  if (kind == "as_int")
    return integer(field.at("as_int").integer());
  if (kind == "as_float")
    return readNumber(field.at("as_float"));
  if (kind == "as_bool")
    return readBool(field.at("as_bool"));
  return other(kind);
}

Argument readTensor(const Field &field) { return named(field.at("name")); }

Argument readOptionalTensor(const Field &field) {
  return field.has("as_tensor") ? readTensor(field.at("as_tensor")) : Argument();
}

Argument readInteger(const Field &field) { return integer(field.integer()); }

template <Argument (*readItem)(const Field &)> Argument readList(const Field &field) {
  Argument out;
  out.kind = Argument::Kind::List;
  field.forEach([&](const Field &item) { out.items.push_back(readItem(item)); });
  return out;
}

// Devices, layouts and memory formats, which have no effect.
Argument readNothing(const Field &) { return {}; }

using ReadArgument = Argument (*)(const Field &);

const std::map<std::string, ReadArgument> &readers() {
  static const std::map<std::string, ReadArgument> all = {
      {"as_bool", readBool},
      {"as_bools", readList<readBool>},
      {"as_device", readNothing},
      {"as_float", readNumber},
      {"as_float_lists", readList<readList<readNumber>>},
      {"as_floats", readList<readNumber>},
      {"as_int", readInteger},
      {"as_int_lists", readList<readList<readInteger>>},
      {"as_ints", readList<readInteger>},
      {"as_layout", readNothing},
      {"as_memory_format", readNothing},
      {"as_nested_tensors", readList<readList<readTensor>>},
      {"as_none", readNothing},
      {"as_operator", readString},
      {"as_optional_tensor", readOptionalTensor},
      {"as_optional_tensors", readList<readOptionalTensor>},
      {"as_scalar_type", readDtype},
      {"as_string", readString},
      {"as_strings", readList<readString>},
      {"as_sym_bool", readSymbolic},
      {"as_sym_bools", readList<readSymbolic>},
      {"as_sym_float", readSymbolic},
      {"as_sym_floats", readList<readSymbolic>},
      {"as_sym_int", readSymbolic},
      {"as_sym_ints", readList<readSymbolic>},
      {"as_tensor", readTensor},
      {"as_tensors", readList<readTensor>},
  };
  return all;
}

Argument readArgument(const Field &field, int depth) {
  std::string kind = field.alternative();
  if (auto reader = readers().find(kind); reader != readers().end())
    return reader->second(field.at(kind.c_str()));
  if (kind != "as_graph")
    return other(kind);
  Field graph = field.at("as_graph");
  Argument out;
  out.kind = Argument::Kind::Graph;
  out.text = graph.at("name").string();
  out.graph = std::make_shared<Graph>(readGraph(graph.at("graph"), depth + 1));
  return out;
}

// `L__self__,,models.Net;L__self__fc,fc,torch.nn.modules.linear.Linear` -> `fc`. A module that was
// called several times has `@2` behind its name.
std::string innermostModule(const std::string &stack) {
  size_t last = stack.rfind(';');
  std::string entry = last == std::string::npos ? stack : stack.substr(last + 1);
  size_t first = entry.find(','), second = entry.rfind(',');
  if (first == std::string::npos || second <= first)
    return "";
  std::string name = entry.substr(first + 1, second - first - 1);
  if (name.starts_with("_empty_nn_module_stack"))
    return "";
  return name.substr(0, name.find('@'));
}

Node readNode(const Field &field, int depth) {
  Node out;
  out.target = field.at("target").string();
  field.at("inputs").forEach([&](const Field &input) {
    out.inputs.push_back(
        {input.has("name") ? input.at("name").string() : "", readArgument(input.at("arg"), depth)});
  });
  field.at("outputs").forEach(
      [&](const Field &output) { out.outputs.push_back(readArgument(output, depth)); });
  if (field.has("metadata") && field.at("metadata").has("nn_module_stack"))
    out.module = innermostModule(field.at("metadata").at("nn_module_stack").string());
  if (field.has("name"))
    out.name = field.at("name").string();
  else if (!out.outputs.empty())
    out.name = out.outputs[0].text;
  return out;
}

Graph readGraph(const Field &field, int depth) {
  if (depth > kMaxDepth)
    fail(field.path(), ": graphs are nested more than ", kMaxDepth, " deep");
  Graph out;
  field.at("nodes").forEach([&](const Field &node) { out.nodes.push_back(readNode(node, depth)); });
  field.at("inputs").forEach(
      [&](const Field &input) { out.inputs.push_back(readArgument(input, depth)); });
  field.at("outputs").forEach(
      [&](const Field &output) { out.outputs.push_back(readArgument(output, depth)); });
  field.at("tensor_values").forEachField([&](const std::string &name, const Field &meta) {
    out.tensors.emplace(name, readTensorMeta(meta));
  });
  field.at("sym_int_values").forEachField([&](const std::string &name, const Field &size) {
    out.integers.emplace(name, readSize(size));
  });
  return out;
}

// A kind of input or output, and its name in the schema.
template <typename Kind> struct NamedKind {
  const char *name;
  Kind kind;
  const char *target; // the field that names the tensor that is meant; null: there is none
};

constexpr NamedKind<InputSpec::Kind> kInputs[] = {
    {"user_input", InputSpec::Kind::User, nullptr},
    {"parameter", InputSpec::Kind::Parameter, "parameter_name"},
    {"buffer", InputSpec::Kind::Buffer, "buffer_name"},
    {"tensor_constant", InputSpec::Kind::Constant, "tensor_constant_name"},
    {"constant_input", InputSpec::Kind::Fixed, nullptr},
};

constexpr NamedKind<OutputSpec::Kind> kOutputs[] = {
    {"user_output", OutputSpec::Kind::User, nullptr},
    {"buffer_mutation", OutputSpec::Kind::Buffer, "buffer_name"},
    {"parameter_mutation", OutputSpec::Kind::Parameter, "parameter_name"},
    {"user_input_mutation", OutputSpec::Kind::Input, "user_input_name"},
    {"loss_output", OutputSpec::Kind::Loss, nullptr},
};

// Sets the kind of `spec`, Other if the table lacks its name, and its target.
template <typename Spec, size_t count>
void setKind(const NamedKind<typename Spec::Kind> (&table)[count], const Field &field, Spec &spec) {
  for (const auto &named : table)
    if (spec.kindName == named.name) {
      spec.kind = named.kind;
      spec.target = named.target ? field.at(named.target).string() : "";
      return;
    }
  spec.kind = Spec::Kind::Other;
}

// The name of the value of an input, empty for one that is not a tensor or a symbol.
std::string nameOfInput(InputSpec::Kind kind, const Field &spec) {
  switch (kind) {
  case InputSpec::Kind::User: {
    Argument value = readArgument(spec.at("arg"), 0);
    return value.kind == Argument::Kind::Name ? value.text : "";
  }
  case InputSpec::Kind::Fixed:
    return spec.at("name").string();
  case InputSpec::Kind::Other:
    return "";
  default:
    return spec.at("arg").at("name").string();
  }
}

InputSpec readInputSpec(const Field &field) {
  InputSpec out;
  out.kindName = field.alternative();
  const Field spec = field.at(out.kindName.c_str());
  setKind(kInputs, spec, out);
  out.name = nameOfInput(out.kind, spec);
  if (out.kind == InputSpec::Kind::Buffer)
    out.persistent = !spec.has("persistent") || spec.at("persistent").boolean();
  return out;
}

OutputSpec readOutputSpec(const Field &field) {
  OutputSpec out;
  out.kindName = field.alternative();
  const Field spec = field.at(out.kindName.c_str());
  setKind(kOutputs, spec, out);
  if (out.kind != OutputSpec::Kind::Other)
    out.value = out.kind == OutputSpec::Kind::User ? readArgument(spec.at("arg"), 0)
                                                   : readTensor(spec.at("arg"));
  return out;
}

// The leaves of a tree of containers, named by keys and positions: `logits`, `states.0.1`.
void nameLeaves(const Field &tree, const std::string &prefix, int depth,
                std::vector<std::string> &names) {
  if (depth > kMaxDepth)
    fail(tree.path(), ": containers are nested more than ", kMaxDepth, " deep");
  if (prefix.size() > kMaxName)
    fail(tree.path(), ": an output has a name of more than ", kMaxName, " characters");
  if (names.size() == kMaxOutputs)
    fail(tree.path(), ": found more than ", kMaxOutputs, " outputs");
  if (!tree.has("type")) {
    names.push_back(prefix.empty() ? "0" : prefix);
    return;
  }
  std::vector<std::string> keys;
  if (tree.has("context")) {
    nlohmann::json context = nlohmann::json::parse(tree.at("context").string(), nullptr, false);
    if (context.is_array())
      for (const nlohmann::json &key : context)
        keys.push_back(key.is_string()       ? key.get<std::string>()
                       : key.is_structured() ? std::to_string(keys.size()) // dump() recurses
                                             : key.dump());
  }
  size_t count = 0;
  tree.at("children_spec").forEach([&](const Field &) { ++count; });
  size_t i = 0;
  tree.at("children_spec").forEach([&](const Field &child) {
    std::string name = keys.size() == count ? keys[i] : std::to_string(i);
    nameLeaves(child, prefix.empty() ? name : prefix + "." + name, depth + 1, names);
    ++i;
  });
}

// The names of outputs: keys and positions in the containers that the user's function returns, or
// positions if the file has no containers.
std::vector<std::string> readOutputNames(const Field &module, size_t count) {
  std::vector<std::string> names;
  if (module.has("module_call_graph"))
    module.at("module_call_graph").forEach([&](const Field &entry) {
      if (!names.empty() || !entry.at("fqn").string().empty() || !entry.has("signature"))
        return;
      Field text = entry.at("signature").at("out_spec");
      nlohmann::json spec = parseJson(text.string(), text.path());
      if (spec.is_array() && spec.size() == 2)
        nameLeaves(Field(spec[1], text.path()), "", 0, names);
    });
  if (names.size() != count) {
    names.clear();
    for (size_t i = 0; i < count; ++i)
      names.push_back(std::to_string(i));
  }
  return names;
}

void checkVersion(const Field &root) {
  Field version = root.at("schema_version");
  int64_t major = version.at("major").integer(), minor = version.at("minor").integer();
  if (major != kSchemaMajor)
    fail("the program has schema version ", major, ".", minor, ", but Cleave reads ", kSchemaMajor,
         ".x; export it with PyTorch ", (major < kSchemaMajor ? "2.5 or newer" : "2.15"));
}

} // namespace

// Of any schema version.
static std::string producer(const Field &root) {
  std::string version = root.has("torch_version") ? root.at("torch_version").string() : "";
  if (version.empty() || version == "<=2.4") // PyTorch's default for files without the field
    return "torch 2.4 or older";
  return "torch " + version;
}

std::string producerOf(std::string_view text) {
  nlohmann::json json = parseJson(text, "the program");
  return producer(Field(json, "program"));
}

Program readProgram(std::string_view text) {
  nlohmann::json json = parseJson(text, "the program (model.json)");
  Field root(json, "model.json");
  checkVersion(root);
  Program out;
  Field module = root.at("graph_module");
  out.graph = readGraph(module.at("graph"), 0);
  Field signature = module.at("signature");
  signature.at("input_specs").forEach([&](const Field &spec) {
    out.inputs.push_back(readInputSpec(spec));
  });
  size_t userOutputs = 0;
  signature.at("output_specs").forEach([&](const Field &spec) {
    out.outputs.push_back(readOutputSpec(spec));
    userOutputs += out.outputs.back().kind == OutputSpec::Kind::User;
  });
  out.outputNames = readOutputNames(module, userOutputs);
  root.at("range_constraints").forEachField([&](const std::string &symbol, const Field &range) {
    Range &bounds = out.ranges[symbol];
    if (range.has("min_val"))
      bounds.least = range.at("min_val").integer();
    if (range.has("max_val"))
      bounds.most = range.at("max_val").integer();
  });
  out.producer = producer(root);
  return out;
}

std::map<std::string, Payload> readPayloads(std::string_view text) {
  nlohmann::json json = parseJson(text, "the list of weights");
  std::map<std::string, Payload> out;
  Field(json, "weights")
      .at("config")
      .forEachField([&](const std::string &name, const Field &entry) {
        Payload &payload = out[name];
        payload.entry = entry.at("path_name").string();
        payload.isParameter = entry.at("is_param").boolean();
        payload.isPickled = entry.at("use_pickle").boolean();
        if (entry.has("tensor_meta"))
          payload.meta = readTensorMeta(entry.at("tensor_meta"));
      });
  return out;
}

} // namespace cleave::pt2
