// See ModelInputs.h.
#include "compiler/frontend/onnx/ModelInputs.h"

#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/node/NodeImport.h"
#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/step/OptionNames.h"

#include <algorithm>
#include <charconv>

namespace cleave::onnx {
namespace {

using namespace graph;

// Elements of one sequence that is an input.
constexpr int64_t kMaxElements = 1 << 16;

// Characters of an expression of symbols: longer products of sums take too long to expand.
constexpr size_t kMaxExpression = 1 << 12;

// The number that the text holds; none where it is not a non-negative number.
std::optional<int64_t> countIn(const std::string &text) {
  int64_t count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  bool isCount = error == std::errc() && end == text.data() + text.size() && count >= 0;
  return isCount ? std::optional(count) : std::nullopt;
}

// An example of --input for the input, with the type and dims that the file declares:
// `x=int64[batch,8]`. For a sequence, `element` is the suffix of one of its elements: `.0`.
std::string exampleOf(const ValueInfo &input, const std::string &element = "") {
  std::optional<ElementType> type = elementTypeOf(input.dataType);
  std::string dims;
  for (const Dim &dim : input.dims) {
    bool isName = !dim.symbol.empty() && dim.symbol == symbolName(dim.symbol);
    dims += (dims.empty() ? "" : ",") + (dim.size ? concat(*dim.size)
                                         : isName ? dim.symbol
                                                  : std::string("8"));
  }
  bool isKnown = input.hasShape && input.dims.size() <= kMaxRank;
  return concat(input.name, element, "=", typeName(type.value_or(ElementType::F32)), "[",
                isKnown ? dims : "batch,8", "]");
}

class InputBinder {
public:
  InputBinder(const Model &model, const ImportOptions &options, frontend::StepBuilder &step,
              StringPool &strings)
      : model_(model), options_(options), step_(step), strings_(strings) {}

  std::map<std::string, Binding> run(UnsupportedOperators &unsupported) {
    std::map<std::string, Binding> bindings;
    findBatch();
    for (const ValueInfo &input : model_.graph.inputs) {
      try {
        bindings[input.name] = bind(input);
      } catch (const Failure &failure) {
        unsupported.add(failure);
        bindings[input.name].failed = true;
      }
    }
    frontend::checkInputNames(options_, {names_.begin(), names_.end()}, /*haveElements=*/false);
    try {
      checkSymbols();
    } catch (const Failure &failure) {
      unsupported.add(failure);
      unsupported.check(model_); // nothing can be imported without sizes
    }
    return bindings;
  }

private:
  // -- options of the user ------------------------------------------------------------------------
  // The --input option for the input; null if there is none.
  const frontend::InputType *typed(const std::string &name) const {
    for (const frontend::InputType &input : options_.inputs)
      if (input.name == name)
        return &input;
    return nullptr;
  }

  bool isDescribed(const std::string &name) const {
    return typed(name) || options_.values.contains(name) || options_.strings.contains(name);
  }

  // -- sequences and optionals --------------------------------------------------------------------
  Binding bind(const ValueInfo &input) {
    names_.insert(input.name);
    const frontend::InputType *given = typed(input.name);
    if (input.isOptional && given && !given->element && given->literal == "none")
      return {};
    if (!input.isSequence)
      return bindTensor(input);
    Binding sequence;
    sequence.isSequence = true;
    for (int64_t i = 0, count = lengthOf(input); i < count; ++i) {
      ValueInfo element = input;
      element.name += concat(".", i);
      names_.insert(element.name);
      Binding bound = bindTensor(element);
      sequence.values.push_back(bound.values[0]);
      sequence.isString = bound.isString;
      sequence.narrow = bound.narrow;
    }
    return sequence;
  }

  // The length that the user gives: by a number, or by describing the elements.
  int64_t lengthOf(const ValueInfo &input) const {
    const frontend::InputType *given = typed(input.name);
    std::optional<int64_t> count =
        given && !given->element ? countIn(given->literal) : std::nullopt;
    if (!count) {
      count = 0;
      while (*count <= kMaxElements && isDescribed(concat(input.name, ".", *count)))
        ++*count;
      if (*count == 0)
        fail("input '", input.name, "' is a sequence: give its length as in --input ", input.name,
             "=2, or the types of its tensors as in --input ", exampleOf(input, ".0"));
    }
    if (*count > kMaxElements)
      fail("--input ", input.name, "=…: found ", *count, " tensors, expected at most ",
           kMaxElements);
    return *count;
  }

  // -- tensors ------------------------------------------------------------------------------------
  Binding bindTensor(const ValueInfo &input) {
    if (input.dataType == kStringType)
      return {.values = {knownStrings(input)}, .isString = true};
    return {.values = {addInput(input)}, .narrow = narrowNumber(input.dataType)};
  }

  // An input with a type from the user.
  Value addTyped(const frontend::InputType &input, const ValueInfo &declared) {
    if (!input.element)
      fail("--input ", input.name, ": found the value '", input.literal,
           "', expected a tensor's type as in ", exampleOf(declared));
    std::vector<std::string> used;
    Result<graph::Shape> dims =
        frontend::sizesOf(input, options_.symbols, options_.keepSymbols, used);
    if (!dims)
      throw Failure{dims.status()};
    symbols_.insert(used.begin(), used.end());
    return addArgument(input.name, *dims, *input.element);
  }

  Value addArgument(const std::string &name, const Sizes &dims, ElementType element) {
    mlir::Type type = fromElementType(element, step_.builder().getContext());
    return step_.addArgument(Role::Input, tensorOf(dims, type), name);
  }

  Value addInput(const ValueInfo &input) {
    if (const frontend::InputType *given = typed(input.name))
      return addTyped(*given, input);
    std::optional<ElementType> type = elementTypeOf(input.dataType);
    if (input.dataType == 0)
      fail("input '", input.name, "' has no type; give --input ", exampleOf(input),
           ", say, or export the model with one");
    if (!type)
      fail("input '", input.name, "' has elements of ", dataTypeName(input.dataType),
           ", which Cleave does not compute with");
    if (!input.hasShape || input.dims.size() > kMaxRank)
      fail("input '", input.name, "' has no usable shape; give --input ", exampleOf(input),
           ", say, or export the model with one");
    if (options_.values.contains(input.name) || options_.strings.contains(input.name))
      return knownInput(input, *type);
    Sizes dims;
    int64_t count = 1;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      dims.push_back(sizeOf(input, i));
      // A size of 0 counts as 1, so that it does not hide the other dims.
      int64_t size = std::max<int64_t>(dims.back().constant().value_or(1), 1);
      if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 56))
        fail("input '", input.name, "' has more elements than fit into memory");
    }
    return addArgument(input.name, dims, *type);
  }

  // An input with a value from the user, as a constant.
  Value knownInput(const ValueInfo &input, ElementType type) {
    auto given = options_.values.find(input.name);
    if (given == options_.values.end())
      fail("--value ", input.name, "=…: found strings, expected numbers");
    return step_.addConstant(
        input.name, frontend::knownInput(input.name, type, openDims(input), given->second));
  }

  // The numbers of an input of strings, as a constant.
  Value knownStrings(const ValueInfo &input) {
    auto given = options_.strings.find(input.name);
    if (given == options_.strings.end())
      fail("input '", input.name, "' has strings, which exist while importing only: give --value ",
           input.name, "=red,green, say");
    if (!input.hasShape)
      fail("input '", input.name, "' has no usable shape; export the model with one");
    std::vector<double> numbers;
    for (const std::string &string : given->second)
      numbers.push_back(static_cast<double>(strings_.numberOf(string)));
    return step_.addConstant(
        input.name, frontend::knownInput(input.name, ElementType::I64, openDims(input), numbers));
  }

  // The sizes of an input with known value. None for the first one that neither file nor user
  // gives: it follows from the number of elements.
  std::vector<std::optional<int64_t>> openDims(const ValueInfo &input) {
    std::vector<std::optional<int64_t>> dims;
    bool hasOpen = false;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      bool isOpen =
          !hasOpen && !input.dims[i].size && !options_.symbols.contains(symbolOf(input, i));
      hasOpen |= isOpen;
      dims.push_back(isOpen ? std::nullopt : sizeOf(input, i).constant());
      if (!isOpen && !dims.back())
        fail("--value ", input.name, "=…: give --set ", symbolOf(input, i), "=8, say, too");
    }
    return dims;
  }

  // The name of dim i for --set.
  static std::string symbolOf(const ValueInfo &input, size_t i) {
    const std::string &symbol = input.dims[i].symbol;
    return symbol.empty() ? concat(input.name, ".", i) : symbol;
  }

  Polynomial sizeOf(const ValueInfo &input, size_t i) {
    const Dim &dim = input.dims[i];
    std::string name = symbolOf(input, i);
    bool isSymbol = !dim.size || *dim.size == 0;
    Polynomial size = isSymbol ? symbolicSize(name, i, input.name) : Polynomial(*dim.size);
    if (!isSymbol)
      fixed_.emplace(name, *dim.size);
    if (size.constant().value_or(0) < 0)
      fail("dim ", i, " of input '", input.name, "' has the size ", size.str(),
           ", expected at least 0");
    return size;
  }

  // An expression of symbols as exporters write them (`past + 1`); none for names such as
  // `batch-size`.
  static std::optional<Polynomial> expressionOf(const std::string &name) {
    if (name.size() > kMaxExpression)
      return std::nullopt;
    for (size_t at = name.find_first_of("+-"); at != std::string::npos;
         at = name.find_first_of("+-", at + 1))
      if (at == 0 || name[at - 1] != ' ' || at + 1 == name.size() || name[at + 1] != ' ')
        return std::nullopt;
    return Polynomial::parse(name);
  }

  // Finds the symbols that `--set batch=N` means where none has that name: first dims of inputs.
  void findBatch() {
    for (const ValueInfo &input : model_.graph.inputs) {
      const frontend::InputType *given = typed(input.name);
      for (size_t i = 0; i < input.dims.size(); ++i)
        if (input.dims[i].symbol == frontend::kBatch ||
            (given && llvm::is_contained(given->dims, frontend::kBatch)))
          return batches_.clear();
      if (!given && !input.dims.empty() && !input.dims[0].size)
        batches_.insert(symbolOf(input, 0));
    }
  }

  // The size of dim i of `input`, named `name` in the file: a symbol or an expression of symbols,
  // with the user's sizes inserted.
  Polynomial symbolicSize(const std::string &name, size_t i, const std::string &input) {
    std::optional<Polynomial> size = expressionOf(name);
    if (!size || size->isConstant() || options_.symbols.contains(name))
      size = Polynomial::symbol(symbolName(name));
    if (*size == Polynomial::symbol(symbolName(name)))
      givenNames_[symbolName(name)] = name;
    Polynomial::Binding values;
    for (const std::string &symbol : size->symbols()) {
      const std::string &given = givenNames_.try_emplace(symbol, symbol).first->second;
      symbols_.insert(given);
      auto found = options_.symbols.find(given);
      if (found == options_.symbols.end())
        found = options_.symbols.find(symbol);
      if (found == options_.symbols.end() && batches_.contains(given))
        found = options_.symbols.find(frontend::kBatch);
      if (found != options_.symbols.end())
        values[symbol] = found->second;
      else
        missing_.try_emplace(given, concat("dim ", i, " of input '", input, "'"));
    }
    return size->substitute(values);
  }

  // Fails for --set with other symbols than the model's, and for symbols without a size.
  void checkSymbols() {
    for (const auto &[symbol, size] : options_.symbols) {
      auto isMeant = [&](const std::string &name) {
        return name == symbol || symbolName(name) == symbol;
      };
      if (llvm::any_of(symbols_, isMeant) || (symbol == frontend::kBatch && !batches_.empty()))
        continue;
      if (frontend::isFixedAt(fixed_, symbol, size))
        continue;
      frontend::refuseSymbol(symbol, size, {symbols_.begin(), symbols_.end()},
                             !batches_.empty() && !symbols_.contains(frontend::kBatch));
    }
    if (missing_.empty() || options_.keepSymbols)
      return;
    std::string list, options;
    for (const auto &[name, place] : missing_) {
      list += concat(list.empty() ? "'" : ", '", name, "' (", place, ")");
      options += concat(" --set ", name, "=8");
    }
    if (missing_.size() == 1)
      fail("symbol ", list, " has no value: give", options, ", say");
    fail("symbols ", list, " have no values: give", options, ", say");
  }

  const Model &model_;
  const ImportOptions &options_;
  frontend::StepBuilder &step_;
  StringPool &strings_;
  std::set<std::string> names_;   // of inputs and of elements of sequences
  std::set<std::string> symbols_; // by the model's names
  frontend::FixedDims fixed_;
  std::set<std::string> batches_; // what --set batch=N means, unless the model has such a symbol
  std::map<std::string, std::string> givenNames_; // the model's names by their symbolName
  std::map<std::string, std::string> missing_;    // symbols without a size -> where they occur
};

} // namespace

std::map<std::string, Binding> bindInputs(const Model &model,
                                          const frontend::ImportOptions &options,
                                          frontend::StepBuilder &step, StringPool &strings,
                                          UnsupportedOperators &unsupported) {
  return InputBinder(model, options, step, strings).run(unsupported);
}

} // namespace cleave::onnx
