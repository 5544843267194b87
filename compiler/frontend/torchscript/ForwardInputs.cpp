// See ForwardInputs.h.
#include "compiler/frontend/torchscript/ForwardInputs.h"

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/step/OptionNames.h"

#include <charconv>

namespace cleave::torchscript {

using emit::fail;
using frontend::InputType;

// The value that the user gives an input that is not a tensor.
static IValue literalOf(const InputType &input) {
  const std::string &text = input.literal;
  if (text == "none" || text == "None")
    return {};
  if (text == "true" || text == "false" || text == "True" || text == "False")
    return IValue(text[0] == 't' || text[0] == 'T');
  const char *end = text.data() + text.size();
  int64_t integer = 0;
  if (std::from_chars(text.data(), end, integer).ptr == end)
    return IValue(integer);
  double number = 0;
  if (std::from_chars(text.data(), end, number).ptr == end)
    return IValue(number);
  return IValue(text);
}

// The default of an argument, which is a literal.
static IValue absentOf(const Expression &expression, const std::string &name) {
  switch (expression.kind) {
  case Expression::Kind::None:
    return {};
  case Expression::Kind::Bool:
    return IValue(expression.integer != 0);
  case Expression::Kind::Int:
    return IValue(expression.integer);
  case Expression::Kind::Float:
    return IValue(expression.number);
  case Expression::Kind::String:
    return IValue(expression.text);
  default:
    fail("input '", name, "' has a default that is no number; give --input ", name, "=VALUE");
  }
}

static bool isTuple(const Parameter &parameter) {
  return parameter.type && parameter.type->kind == Expression::Kind::Index &&
         parameter.type->items[0]->text == "Tuple";
}

static const Function &forwardOf(Program &program, const Model &model) {
  const Class &type = *program.findClass(model.className()).type;
  auto found = type.methods.find("forward");
  if (found == type.methods.end())
    fail("the model's class '", type.name, "' has no method 'forward'");
  return found->second;
}

ForwardInputs::ForwardInputs(Program &program, const Model &model,
                             const frontend::ImportOptions &options)
    : model_(model), options_(options), forward_(forwardOf(program, model)) {}

void ForwardInputs::checkNames() const {
  std::vector<std::string> names;
  for (size_t i = 1; i < forward_.parameters.size(); ++i)
    names.push_back(forward_.parameters[i].name);
  frontend::checkInputNames(options_, names, /*haveElements=*/true);
}

IValueList ForwardInputs::add(frontend::StepBuilder &step) {
  std::vector<torch::StridedTensor> traced = model_.tracedInputs();
  IValueList out;
  symbols_.clear();
  for (size_t i = 1; i < forward_.parameters.size(); ++i) {
    const torch::StridedTensor *example = i - 1 < traced.size() ? &traced[i - 1] : nullptr;
    out.push_back(addInput(step, forward_.parameters[i], example));
  }
  checkSymbols();
  step.commit(); // messages name inputs
  return out;
}

const InputType *ForwardInputs::typeOf(const std::string &name) const {
  for (const InputType &input : options_.inputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

IValue ForwardInputs::addTensor(frontend::StepBuilder &step, const std::string &name,
                                ElementType element, const graph::Shape &dims) {
  mlir::Type type =
      graph::tensorOf(dims, graph::fromElementType(element, step.builder().getContext()));
  return aten::TensorState::create(mlir::Value(step.addArgument(Role::Input, type, name)));
}

IValue ForwardInputs::addInput(frontend::StepBuilder &step, const Parameter &parameter,
                               const torch::StridedTensor *example) {
  if (auto known = options_.values.find(parameter.name); known != options_.values.end())
    return addKnown(step, parameter, example, known->second);
  if (const InputType *type = typeOf(parameter.name))
    return addTyped(step, *type);
  IValueList parts; // x.0, x.1, … of a tuple or list
  while (const InputType *part = typeOf(parameter.name + "." + std::to_string(parts.size())))
    parts.push_back(addTyped(step, *part));
  if (!parts.empty())
    return IValue::list(std::move(parts), isTuple(parameter));
  if (parameter.absent)
    return absentOf(*parameter.absent, parameter.name);
  if (example && example->element)
    return addTensor(step, parameter.name, *example->element, emit::toShape(example->dims));
  std::string type = parameter.type ? parameter.type->text : "";
  if (type == "Tensor" || type.empty())
    fail("the file does not contain the type and dims of input '", parameter.name,
         "': give --input ", parameter.name,
         "=float32[batch,8], say, with as many dims as it has, and --set batch=8");
  fail("input '", parameter.name, "' needs a value: give --input ", parameter.name,
       "=VALUE, or --input ", parameter.name, ".0=TYPE[DIM,...] and so on for the tensors in it");
}

// An input whose value the user gives: a constant, or a number if the program takes one.
IValue ForwardInputs::addKnown(frontend::StepBuilder &step, const Parameter &parameter,
                               const torch::StridedTensor *example,
                               const std::vector<double> &values) {
  const std::string &name = parameter.name;
  std::string type = parameter.type ? parameter.type->text : "";
  if (type == "int" || type == "float" || type == "bool") {
    if (values.size() != 1)
      fail("--value ", name, "=…: the input is one ", type);
    return type == "int"     ? IValue(emit::truncated(values[0]))
           : type == "float" ? IValue(values[0])
                             : IValue(values[0] != 0);
  }
  std::vector<std::optional<int64_t>> dims;
  std::optional<ElementType> element;
  if (const InputType *typed = typeOf(name); typed && typed->element) {
    element = typed->element;
    for (const Polynomial &dim : sizesOf(*typed, /*keepSymbols=*/true))
      dims.push_back(dim.constant());
  } else if (example && example->element) {
    element = example->element;
    dims.assign(example->dims.begin(), example->dims.end());
  } else {
    fail("--value ", name, "=…: the file does not contain the input's type; give --input ", name,
         "=int64[", values.size(), "], say, too");
  }
  return aten::TensorState::create(
      step.addConstant(name, frontend::knownInput(name, *element, dims, values)));
}

IValue ForwardInputs::addTyped(frontend::StepBuilder &step, const InputType &type) {
  if (!type.element)
    return literalOf(type);
  return addTensor(step, type.name, *type.element, sizesOf(type, options_.keepSymbols));
}

graph::Shape ForwardInputs::sizesOf(const InputType &type, bool keepSymbols) {
  Result<graph::Shape> dims = frontend::sizesOf(type, options_.symbols, keepSymbols, symbols_);
  if (!dims)
    throw emit::Failure{dims.status()};
  return *dims;
}

void ForwardInputs::checkSymbols() const {
  for (const auto &[symbol, size] : options_.symbols) {
    if (std::find(symbols_.begin(), symbols_.end(), symbol) != symbols_.end())
      continue;
    std::string known;
    for (const std::string &name : std::set<std::string>(symbols_.begin(), symbols_.end()))
      known += (known.empty() ? "" : ", ") + name;
    fail("--set ", symbol, "=", size, ": no --input names the symbol '", symbol, "'; they name ",
         (known.empty() ? "none" : known));
  }
}

} // namespace cleave::torchscript
