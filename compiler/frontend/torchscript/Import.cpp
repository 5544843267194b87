// See Import.h. Here: the inputs, and running the program until it is known which buffers it writes.
#include "compiler/frontend/torchscript/Import.h"

#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Quantized.h"
#include "compiler/frontend/torchscript/Evaluator.h"
#include "compiler/frontend/torchscript/Limits.h"
#include "compiler/frontend/torchscript/StepBuilder.h"
#include "compiler/frontend/torchscript/Usage.h"

#include "llvm/Support/MemoryBuffer.h"

#include <charconv>

namespace cleave::torchscript {
namespace {

using emit::fail;
using frontend::ImportOptions;
using frontend::InputType;

// A value that the user typed for an input that is no tensor.
Value literalOf(const InputType &input) {
  const std::string &text = input.literal;
  if (text == "none" || text == "None")
    return {};
  if (text == "true" || text == "false" || text == "True" || text == "False")
    return Value(text[0] == 't' || text[0] == 'T');
  const char *end = text.data() + text.size();
  int64_t integer = 0;
  if (std::from_chars(text.data(), end, integer).ptr == end)
    return Value(integer);
  double number = 0;
  if (std::from_chars(text.data(), end, number).ptr == end)
    return Value(number);
  return Value(text);
}

class Importer {
public:
  Importer(mlir::MLIRContext &context, const std::string &path, const ImportOptions &options)
      : context_(context), path_(path), options_(options), archive_(path), program_(archive_),
        model_(archive_, program_, options) {}

  frontend::Imported run() {
    checkInputNames();
    // Small buffers are constants, which may decide branches, until one turns out to be written.
    std::set<std::string> written;
    while (true) {
      StepBuilder step(context_, path_, archive_, model_);
      std::vector<frontend::Remark> remarks = model_.remarks();
      std::set<std::string> missing = runOnce(step, written, remarks);
      if (missing.empty())
        return {step.finish(), std::move(remarks), producer()};
      written.insert(missing.begin(), missing.end());
    }
  }

private:
  std::set<std::string> runOnce(StepBuilder &step, const std::set<std::string> &written,
                                std::vector<frontend::Remark> &remarks) {
    aten::Context context{step.emitter(), batchNorm()};
    std::map<size_t, Value> constants;
    std::map<size_t, int64_t> copies;
    auto constant = [&](const std::string &name) {
      std::optional<size_t> tensor = model_.constantTensor(name);
      if (!tensor)
        return model_.constantValue(name);
      if (model_.isMergedByFreezing(*tensor))
        return step.addTensor(*tensor, written, copies[*tensor]++);
      std::optional<size_t> other = model_.transposedOf(*tensor);
      auto known = constants.find(other.value_or(*tensor));
      if (known == constants.end())
        known =
            constants
                .emplace(other.value_or(*tensor), step.addTensor(other.value_or(*tensor), written))
                .first;
      if (!other)
        return known->second;
      emit::Emitter &e = step.emitter();
      return Value(aten::TensorState::create(e.swapDims(known->second.tensor()->read(e), 0, 1)));
    };
    auto locate = [&](const std::string &path, const std::string &op) {
      std::string name = path.empty() ? op : path + "." + op;
      mlir::Location module = mlir::UnknownLoc::get(&context_);
      if (!path.empty())
        module = mlir::NameLoc::get(mlir::StringAttr::get(&context_, path));
      step.emitter().loc = mlir::NameLoc::get(mlir::StringAttr::get(&context_, name), module);
    };
    ValueList inputs = addInputs(step);
    InstanceRef model =
        model_.instantiate([&](size_t index) { return step.addTensor(index, written); });
    Evaluator evaluator(program_, {context, constant, locate, remarks, version()});
    try {
      step.addOutputs(evaluator.callMethod(model, "forward", inputs));
    } catch (const UnknownOperator &unknown) {
      failOn(unknown.name);
    }
    return step.addStates(*model);
  }

  aten::Context::BatchNorm batchNorm() const {
    using From = ImportOptions::BatchNorm;
    using To = aten::Context::BatchNorm;
    return options_.batchNorm == From::Train    ? To::Train
           : options_.batchNorm == From::Frozen ? To::Frozen
                                                : To::AsExported;
  }

  // All operators of the archive that are not known, reached or not.
  [[noreturn]] void failOn(const std::string &name) {
    std::map<std::string, std::string> all = unknownOperators(program_);
    for (const auto &[other, place] : all)
      if (torch::isQuantizedOperator(other))
        torch::failOnQuantized("the model calls " + other + " (" + place + ")");
    std::string others;
    for (const auto &[other, place] : all)
      if (other != name)
        others += (others.empty() ? "" : ", ") + other + " (" + place + ")";
    fail("the model calls " + name + " (" + all[name] + "), which Cleave does not know" +
         (others.empty() ? "" : "; its code also has, maybe where it is not run, " + others));
  }

  // -- inputs
  const Function &forward() {
    Definition type = program_.findClass(model_.className());
    auto found = type.type->methods.find("forward");
    if (found == type.type->methods.end())
      fail("the model's class '" + type.type->name + "' has no method 'forward'");
    return found->second;
  }

  const InputType *typeOf(const std::string &name) const {
    for (const InputType &input : options_.inputs)
      if (input.name == name)
        return &input;
    return nullptr;
  }

  void checkInputNames() {
    std::string known;
    const std::vector<Parameter> &parameters = forward().parameters;
    for (size_t i = 1; i < parameters.size(); ++i)
      known += (known.empty() ? "" : ", ") + parameters[i].name;
    auto check = [&](const std::string &option, const std::string &name) {
      std::string first = name.substr(0, name.find('.'));
      bool isThere = false;
      for (size_t i = 1; i < parameters.size(); ++i)
        isThere |= parameters[i].name == name || parameters[i].name == first;
      if (!isThere)
        fail(option + " " + name + ": the model has no such input; it has " + known);
    };
    for (const InputType &input : options_.inputs)
      check("--input", input.name);
    for (const auto &[name, values] : options_.values)
      check("--value", name);
  }

  ValueList addInputs(StepBuilder &step) {
    const std::vector<Parameter> &parameters = forward().parameters;
    std::vector<torch::StridedTensor> traced = model_.tracedInputs();
    ValueList out;
    used_.clear();
    for (size_t i = 1; i < parameters.size(); ++i) {
      const Parameter &parameter = parameters[i];
      const torch::StridedTensor *example = i - 1 < traced.size() ? &traced[i - 1] : nullptr;
      out.push_back(addInput(step, parameter, example));
    }
    checkSymbols();
    return out;
  }

  Value addInput(StepBuilder &step, const Parameter &parameter,
                 const torch::StridedTensor *example) {
    if (auto known = options_.values.find(parameter.name); known != options_.values.end())
      return addKnown(step, parameter, example, known->second);
    if (const InputType *type = typeOf(parameter.name))
      return addTyped(step, *type);
    ValueList parts; // x.0, x.1, … of a tuple or list
    while (const InputType *part = typeOf(parameter.name + "." + std::to_string(parts.size())))
      parts.push_back(addTyped(step, *part));
    if (!parts.empty())
      return Value::list(std::move(parts), isTuple(parameter));
    if (parameter.absent)
      return absentOf(*parameter.absent, parameter.name);
    if (example && example->element)
      return step.addInput(parameter.name, *example->element, emit::toShape(example->dims));
    std::string type = parameter.type ? parameter.type->text : "";
    if (type == "Tensor" || type.empty())
      fail("the file does not tell the type and dims of input '" + parameter.name +
           "': give --input " + parameter.name +
           "=float32[batch,8], say, with as many dims as it has, and --set batch=8");
    fail("input '" + parameter.name + "' needs a value: give --input " + parameter.name +
         "=VALUE, or --input " + parameter.name +
         ".0=TYPE[DIM,...] and so on for the tensors in it");
  }

  // An input whose value the user fixed: a constant, or a number where the program takes one.
  Value addKnown(StepBuilder &step, const Parameter &parameter, const torch::StridedTensor *example,
                 const std::vector<double> &values) {
    const std::string &name = parameter.name;
    std::string type = parameter.type ? parameter.type->text : "";
    if (type == "int" || type == "float" || type == "bool") {
      if (values.size() != 1)
        fail("--value " + name + "=…: the input is one " + type);
      return type == "int"     ? Value(emit::truncated(values[0]))
             : type == "float" ? Value(values[0])
                               : Value(values[0] != 0);
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
      fail("--value " + name + "=…: the file does not tell the input's type; give --input " + name +
           "=int64[" + std::to_string(values.size()) + "], say, too");
    }
    return step.addConstant(name, frontend::knownInput(name, *element, dims, values));
  }

  static bool isTuple(const Parameter &parameter) {
    return parameter.type && parameter.type->kind == Expression::Kind::Index &&
           parameter.type->items[0]->text == "Tuple";
  }

  Value addTyped(StepBuilder &step, const InputType &type) {
    if (!type.element)
      return literalOf(type);
    return step.addInput(type.name, *type.element, sizesOf(type, options_.keepSymbols));
  }

  graph::Shape sizesOf(const InputType &type, bool keepSymbols) {
    Result<graph::Shape> dims = frontend::sizesOf(type, options_.symbols, keepSymbols, used_);
    if (!dims)
      throw emit::Failure{dims.status()};
    return *dims;
  }

  // Defaults of `forward` are literals.
  Value absentOf(const Expression &expression, const std::string &name) {
    switch (expression.kind) {
    case Expression::Kind::None:
      return {};
    case Expression::Kind::Bool:
      return Value(expression.integer != 0);
    case Expression::Kind::Int:
      return Value(expression.integer);
    case Expression::Kind::Float:
      return Value(expression.number);
    case Expression::Kind::String:
      return Value(expression.text);
    default:
      fail("input '" + name + "' has a default that is no number; give --input " + name + "=VALUE");
    }
  }

  void checkSymbols() {
    for (const auto &[symbol, size] : options_.symbols) {
      if (std::find(used_.begin(), used_.end(), symbol) != used_.end())
        continue;
      std::string known;
      for (const std::string &name : std::set<std::string>(used_.begin(), used_.end()))
        known += (known.empty() ? "" : ", ") + name;
      fail("--set " + symbol + "=" + std::to_string(size) + ": no --input names the symbol '" +
           symbol + "'; they name " + (known.empty() ? "none" : known));
    }
  }

  // As the archive says it; `?` where it does not.
  std::string versionText() const {
    std::string version = "?";
    for (const char *name : {"version", ".data/version"})
      if (archive_.find(name))
        version = archive_.contents(name, 1024);
    while (!version.empty() && (version.back() == '\n' || version.back() == ' '))
      version.pop_back();
    return version;
  }

  int64_t version() const {
    std::string text = versionText();
    const char *end = text.data() + text.size();
    int64_t number = 0;
    bool isNumber = !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
    return isNumber ? number : kNewestVersion;
  }

  std::string producer() const { return "torch.jit, archive version " + versionText(); }

  mlir::MLIRContext &context_;
  std::string path_;
  const ImportOptions &options_;
  torch::Archive archive_;
  Program program_;
  Model model_;
  std::vector<std::string> used_; // symbols of inputs
};

} // namespace

bool recognises(const std::string &path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && torch::Archive::recognises({(*file)->getBufferStart(), (*file)->getBufferSize()});
}

Result<frontend::Imported> importTorchScript(mlir::MLIRContext &context, const std::string &path,
                                             const ImportOptions &options) {
  try {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    return Importer(context, path, options).run();
  } catch (const emit::Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::torchscript
