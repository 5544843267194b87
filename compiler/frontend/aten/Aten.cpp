// See Aten.h. Here: finding the operator's function, its in-place forms, and known scalars.
#include "compiler/frontend/aten/Aten.h"

#include "compiler/frontend/aten/Complex.h"
#include "compiler/frontend/aten/Foreach.h"
#include "compiler/frontend/aten/OpCall.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace cleave::aten {
namespace {

struct Form {
  Schema schema;
  Function function;
};

// All forms of all operators, by name.
const llvm::StringMap<std::vector<Form>> &table() {
  static const llvm::StringMap<std::vector<Form>> forms = [] {
    llvm::StringMap<std::vector<Form>> out;
    for (llvm::ArrayRef<OpEntry> family :
         {scalarOps(),   activationOps(), attentionOps(),   complexOps(),       contractionOps(),
          creationOps(), diagonalOps(),   elementwiseOps(), embeddingBagOps(),  fourierOps(),
          indexingOps(), lossOps(),       movementOps(),    normalizationOps(), partOps(),
          poolingOps(),  randomOps(),     rankingOps(),     recurrentOps(),     reductionOps(),
          resizeOps(),   signalOps(),     specialOps(),     viewOps()})
      for (const OpEntry &entry : family)
        out[entry.name].push_back({parseSchema(entry.schema), entry.function});
    return out;
  }();
  return forms;
}

llvm::StringRef withoutNamespace(const std::string &name) {
  llvm::StringRef out = name;
  out.consume_front("aten::");
  return out;
}

// `add` for `add_`, which writes to its first argument. None for operators that change the shape of
// the handle itself or use random numbers.
std::optional<llvm::StringRef> outOfPlace(llvm::StringRef name) {
  static const char *const kOthers[] = {"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_"};
  if (name.consume_front("__i") && name.ends_with("__")) { // `__ior__` of `__or__`
    auto found = table().find("__" + name.str());
    return found == table().end() ? std::nullopt : std::optional(found->getKey());
  }
  if (!name.ends_with("_") || name.ends_with("__") || llvm::is_contained(kOthers, name))
    return std::nullopt;
  llvm::StringRef plain = name.drop_back();
  return table().contains(plain) ? std::optional(plain) : std::nullopt;
}

// `view_copy` is `view` with storage of its own.
std::optional<llvm::StringRef> withoutCopy(llvm::StringRef name) {
  bool isCopy = name.consume_back("_copy") && table().contains(name);
  return isCopy ? std::optional(name) : std::nullopt;
}

// Gives tensors without dims that are passed as V the one dim that the operator counts along.
// Returns whether the first of them, which the results are like, had none.
bool addRows(Context &context, const Schema &schema, IValueList &arguments) {
  emit::Emitter &e = context.emitter;
  std::optional<bool> isScalar;
  for (auto [parameter, argument] : llvm::zip(schema.parameters, arguments)) {
    if (parameter.type != "V" || !argument.isTensor())
      continue;
    Array elements = argument.tensor()->read(e);
    bool hasNoDims = rankOf(elements) == 0;
    if (hasNoDims)
      argument = TensorState::create(e.insertDim(elements, 0));
    isScalar = isScalar.value_or(hasNoDims);
  }
  return isScalar.value_or(false);
}

// Takes the dim away again that addRows gave to the operands.
void dropRows(Context &context, IValueList &results) {
  emit::Emitter &e = context.emitter;
  for (IValue &result : results)
    if (result.isTensor())
      if (Array elements = result.tensor()->read(e); rankOf(elements) == 1)
        result = TensorState::create(e.dropDim(elements, 0));
}

IValueList run(Context &context, const std::vector<Form> &forms, const IValueList &positional,
               const std::map<std::string, IValue> &keyword) {
  std::string problem;
  for (const Form &form : forms) {
    Bound bound = bind(form.schema, positional, keyword);
    if (!bound.arguments) {
      problem = bound.problem;
      continue;
    }
    bool isScalar = addRows(context, form.schema, *bound.arguments);
    OpCall call(context, form.schema, std::move(*bound.arguments));
    IValueList results = form.function(call).values;
    if (isScalar)
      dropRows(context, results);
    return results;
  }
  if (forms.size() == 1)
    fail(problem);
  std::string found;
  for (const IValue &value : positional)
    found += (found.empty() ? "" : ", ") + value.kindName();
  for (const auto &[name, value] : keyword)
    found += (found.empty() ? "" : ", ") + name + "=" + value.kindName();
  fail("has the arguments (", found, "), which none of its ", forms.size(), " forms takes");
}

// Writes the result to a tensor, converted to its type and shape.
void writeTo(Context &context, const TensorRef &target, const Array &result) {
  emit::Emitter &e = context.emitter;
  Array before = target->read(e);
  if (isFloating(result) && !isFloating(before))
    fail("writes floating-point numbers into a tensor of integers");
  static const Schema none;
  Array elements = OpCall(context, none, {}).cast(result, typeOf(before));
  target->write(e, e.broadcast(elements, shapeOf(before)), context.gradients);
}

// Writes the results to the argument `out`.
IValueList writeOut(Context &context, const IValue &out, const IValueList &results) {
  IValueList targets = out.isList() ? out.items() : IValueList{out};
  if (targets.size() != results.size())
    fail("has ", results.size(), " results, but 'out' takes ", targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    Array result = results[i].tensor()->read(context.emitter);
    if (Array before = targets[i].tensor()->read(context.emitter);
        shapeOf(before) != shapeOf(result))
      fail("gives ", emit::showShape(shapeOf(result)), ", but 'out' has the shape ",
           emit::showShape(shapeOf(before)), ", expected equal shapes");
    writeTo(context, targets[i].tensor(), result);
  }
  return targets;
}

// Writes the result to the first argument, converted to its type and shape.
IValueList writeBack(Context &context, const IValueList &positional,
                     const std::map<std::string, IValue> &keyword, const Array &result) {
  const IValue *target = positional.empty() ? nullptr : &positional[0];
  for (const char *name : {"self", "input"})
    if (auto found = keyword.find(name); !target && found != keyword.end())
      target = &found->second;
  if (!target || !target->isTensor())
    fail("writes to its first argument, which is not a tensor");
  writeTo(context, target->tensor(), result);
  return {*target};
}

// Whether the operator itself takes complex numbers.
bool takesComplex(llvm::StringRef name) {
  auto isNamed = [&](const OpEntry &entry) { return name == entry.name; };
  return llvm::any_of(complexOps(), isNamed) || llvm::any_of(fourierOps(), isNamed) ||
         llvm::any_of(signalOps(), isNamed);
}

IValueList dispatch(Context &context, const std::string &name, const IValueList &positional,
                    const std::map<std::string, IValue> &keyword) {
  context.emitter.evaluator.checkOps();
  llvm::StringRef plain = withoutNamespace(name);
  if (auto out = keyword.find("out"); out != keyword.end()) {
    std::map<std::string, IValue> others = keyword;
    others.erase("out");
    IValueList results = dispatch(context, name, positional, others);
    return out->second.isNone() ? results : writeOut(context, out->second, results);
  }
  if (isOnComplex(plain.str(), positional, keyword) && !takesComplex(plain))
    return callOnParts(context, plain.str(), positional, keyword);
  if (auto found = table().find(plain); found != table().end())
    return run(context, found->second, positional, keyword);
  if (isForeach(plain))
    return callForeach(context, plain, positional, keyword);
  if (std::optional<llvm::StringRef> view = withoutCopy(plain)) {
    IValueList results = run(context, table().find(*view)->second, positional, keyword);
    for (IValue &result : results)
      if (result.isTensor())
        result = TensorState::create(result.tensor()->read(context.emitter));
    return results;
  }
  std::optional<llvm::StringRef> pure = outOfPlace(plain);
  if (!pure)
    fail("is not supported");
  // Some in-place forms name their first argument `self` where the plain form has another name.
  const std::vector<Form> &forms = table().find(*pure)->second;
  std::map<std::string, IValue> renamed = keyword;
  if (forms[0].schema.parameters.empty())
    fail("has no argument to write to");
  if (auto self = renamed.extract("self"); !self.empty()) {
    self.key() = forms[0].schema.parameters[0].name;
    renamed.insert(std::move(self));
  }
  IValueList results = run(context, forms, positional, renamed);
  return writeBack(context, positional, keyword, results.at(0).tensor()->read(context.emitter));
}

// Visits the tensors among the values, also in lists, which are not nested in arguments of
// operators.
void forEachTensor(const IValueList &values, llvm::function_ref<void(const TensorRef &)> visit) {
  for (const IValue &value : values) {
    if (value.isTensor())
      visit(value.tensor());
    else if (value.isList())
      for (const IValue &item : value.items())
        if (item.isTensor())
          visit(item.tensor());
  }
}

// Makes the results of an operator (new tensors and views of its arguments) constants to gradients.
// `seen`: the lists visited so far.
void stopGradients(Context &context, const llvm::DenseSet<const TensorState *> &arguments,
                   IValueList &results, llvm::DenseSet<const ListState *> &seen) {
  emit::Emitter &e = context.emitter;
  for (IValue &result : results) {
    if (result.isList()) {
      if (seen.insert(result.listRef().get()).second)
        stopGradients(context, arguments, result.listRef()->items, seen);
      continue;
    }
    bool isFloat =
        result.isTensor() && !result.tensor()->number() && isFloating(result.tensor()->read(e));
    if (!isFloat)
      continue;
    if (arguments.contains(result.tensor().get()))
      continue; // no-op conversions and dropouts return the operand, with its gradient
    if (result.tensor()->isView())
      result = dispatch(context, "aten::detach", {result}, {}).at(0);
    else
      result.tensor()->storage()->contents = stopped(e, result.tensor()->read(e));
  }
}

// Makes the strides of new tensors unknown if an argument is not contiguous: each operator
// propagates memory orders in its own way.
void forgetStrides(Context &context, const llvm::DenseSet<const TensorState *> &arguments,
                   const IValueList &given, const IValueList &results) {
  bool anyOrder = false;
  forEachTensor(given, [&](const TensorRef &tensor) {
    anyOrder |= !tensor->number() && tensor->isDense(context.emitter) != true;
  });
  if (anyOrder)
    forEachTensor(results, [&](const TensorRef &tensor) {
      if (!tensor->isView() && !arguments.contains(tensor.get()))
        tensor->forgetStrides();
    });
}

// Arithmetic on Python's numbers gives numbers, also where these are tensors.
void keepNumbers(llvm::StringRef name, const IValueList &given, const IValueList &results) {
  bool anyNumber = false, onlyNumbers = true;
  forEachTensor(given, [&](const TensorRef &tensor) {
    (tensor->isPythonNumber() ? anyNumber : onlyNumbers) = tensor->isPythonNumber();
  });
  if (anyNumber && onlyNumbers &&
      llvm::any_of(elementwiseOps(), [&](const OpEntry &entry) { return name == entry.name; }))
    forEachTensor(results, [](const TensorRef &tensor) { tensor->becomePythonNumber(); });
}

// Operators whose new tensors are contiguous for all arguments.
bool makesPlainStrides(llvm::StringRef name) {
  return llvm::is_contained({"contiguous", "reshape", "flatten", "ravel", "linear", "layer_norm",
                             "stack", "embedding", "zeros", "ones", "full"},
                            name);
}

} // namespace

bool isInPlace(const std::string &name) {
  llvm::StringRef plain = withoutNamespace(name);
  const bool isMarked = plain.ends_with("_") && !plain.ends_with("__");
  return table().contains(plain) ? isMarked : outOfPlace(plain).has_value();
}

bool knows(const std::string &name) {
  llvm::StringRef plain = withoutNamespace(name);
  return table().contains(plain) || withoutCopy(plain) || outOfPlace(plain) || isForeach(plain);
}

IValueList call(Context &context, const std::string &name, const IValueList &positional,
                const std::map<std::string, IValue> &keyword) {
  try {
    IValueList given = positional;
    for (const auto &[argument, value] : keyword)
      given.push_back(value);
    llvm::DenseSet<const TensorState *> arguments;
    forEachTensor(given, [&](const TensorRef &tensor) { arguments.insert(tensor.get()); });
    IValueList results = dispatch(context, name, positional, keyword);
    keepNumbers(withoutNamespace(name), given, results);
    if (!makesPlainStrides(withoutNamespace(name)))
      forgetStrides(context, arguments, given, results);
    llvm::DenseSet<const ListState *> seen;
    if (!context.gradients && !isInPlace(name))
      stopGradients(context, arguments, results, seen);
    return results;
  } catch (const emit::Failure &failure) {
    throw emit::Failure{failure.status.withContext(name)};
  }
}

// -- element types --------------------------------------------------------------------------------
static constexpr std::pair<int64_t, ElementType> kDtypes[] = {
    {0, ElementType::U8},    {1, ElementType::I8},   {2, ElementType::I16}, {3, ElementType::I32},
    {4, ElementType::I64},   {5, ElementType::F16},  {6, ElementType::F32}, {7, ElementType::F64},
    {11, ElementType::Bool}, {15, ElementType::BF16}};

std::optional<ElementType> elementTypeOfDtype(int64_t dtype) {
  for (auto [number, type] : kDtypes)
    if (number == dtype)
      return type;
  return std::nullopt;
}

int64_t dtypeOf(ElementType type) {
  for (auto [number, known] : kDtypes)
    if (known == type)
      return number;
  fail("has elements of ", emit::typeName(type),
       ", which Cleave does not support in PyTorch's programs");
}

// -- known scalars --------------------------------------------------------------------------------
// The one element of a tensor that follows from constants.
static double knownElement(Context &context, const TensorRef &tensor, const std::string &what) {
  Array elements = tensor->read(context.emitter);
  std::optional<Tensor> known = context.emitter.known(elements);
  if (!known)
    fail("needs ", what, " to be known, but it ", context.emitter.evaluator.whyUnknown(elements));
  if (known->size() != 1)
    fail("has ", known->size(), " elements as ", what, ", expected 1");
  return known->values[0];
}

// The one element of a tensor of integers that follows from shapes.
static std::optional<Polynomial> symbolicElement(Context &context, const TensorRef &tensor) {
  if (tensor->number())
    return tensor->number();
  Array elements = tensor->read(context.emitter);
  if (isFloating(elements))
    return std::nullopt;
  std::optional<emit::SizeTensor> known = context.emitter.evaluator.sizes(elements);
  return known && known->elements.size() == 1 ? known->elements[0].whole() : std::nullopt;
}

Polynomial integerOf(Context &context, const IValue &value, const std::string &what) {
  if (value.isInt())
    return value.integer();
  if (value.isBool())
    return value.boolean();
  if (value.isFloat() && value.number() == std::trunc(value.number()))
    return emit::truncated(value.number());
  if (!value.isTensor())
    fail("has a ", value.kindName(), " as ", what, ", expected an integer");
  if (std::optional<Polynomial> known = symbolicElement(context, value.tensor()))
    return *known;
  return emit::truncated(knownElement(context, value.tensor(), what));
}

double numberOf(Context &context, const IValue &value, const std::string &what) {
  if (value.isFloat())
    return value.number();
  if (value.isBool())
    return value.boolean();
  if (value.isInt()) {
    if (std::optional<int64_t> number = value.integer().constant())
      return static_cast<double>(*number);
    fail("needs ", what, " to be a number, but it is ", value.integer().str(),
         "; give its symbols values (--set)");
  }
  if (!value.isTensor())
    fail("has a ", value.kindName(), " as ", what, ", expected a number");
  if (const std::optional<Polynomial> &known = value.tensor()->number())
    return numberOf(context, IValue(*known), what);
  return knownElement(context, value.tensor(), what);
}

bool boolOf(Context &context, const IValue &value, const std::string &what) {
  if (value.isString())
    return !value.string().empty();
  if (value.isList())
    return !value.items().empty();
  return !value.isNone() && numberOf(context, value, what) != 0;
}

} // namespace cleave::aten
