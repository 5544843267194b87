// See ModelInputs.h.
#include "compiler/frontend/onnx/ModelInputs.h"

#include "compiler/frontend/step/KnownInput.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "dialects/graph/Step.h"

#include <algorithm>
#include <charconv>

namespace cleave::onnx {
namespace {

using namespace graph;

// Elements of one sequence that is an input.
constexpr int64_t kMaxElements = 1 << 16;

// `3` as a number; none where it is another word.
std::optional<int64_t> countIn(const std::string &text) {
  int64_t count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  bool isCount = error == std::errc() && end == text.data() + text.size() && count >= 0;
  return isCount ? std::optional(count) : std::nullopt;
}

// `x=int64[batch,8]`: how --input describes such an input, with what the file says about it. Of a sequence: its
// element, `.0`.
std::string exampleOf(const ValueInfo &input, const std::string &element = "") {
  std::optional<ElementType> type = elementTypeOf(input.dataType);
  std::string dims;
  for (const Dim &dim : input.dims) {
    bool isName = !dim.symbol.empty() && dim.symbol == symbolName(dim.symbol);
    dims += (dims.empty() ? "" : ",") + (dim.size ? std::to_string(*dim.size)
                                         : isName ? dim.symbol
                                                  : "8");
  }
  bool isKnown = input.hasShape && input.dims.size() <= kMaxRank;
  return input.name + element + "=" + typeName(type.value_or(ElementType::F32)) + "[" +
         (isKnown ? dims : "batch,8") + "]";
}

class InputBinder {
public:
  InputBinder(const Model &model, const ImportOptions &options, SignatureEdit &signature,
              mlir::OpBuilder &b, TextPool &texts)
      : model_(model), options_(options), signature_(signature), b_(b), texts_(texts),
        context_(*b.getContext()) {}

  std::map<std::string, Binding> run(Refusals &refusals) {
    std::map<std::string, Binding> bindings;
    for (const ValueInfo &input : model_.graph.inputs) {
      try {
        bindings[input.name] = bind(input);
      } catch (const Failure &failure) {
        refusals.add(failure);
        bindings[input.name].failed = true;
      }
    }
    checkNames();
    try {
      checkSymbols();
    } catch (const Failure &failure) {
      refusals.add(failure);
      refusals.check(model_); // nothing can be imported without sizes
    }
    return bindings;
  }

private:
  // -- what the user says about inputs ------------------------------------------------------------
  const frontend::InputType *typed(const std::string &name) const {
    for (const frontend::InputType &input : options_.inputs)
      if (input.name == name)
        return &input;
    return nullptr;
  }

  bool isDescribed(const std::string &name) const {
    return typed(name) || options_.values.contains(name) || options_.texts.contains(name);
  }

  // Options must be about inputs: `x`, or element `x.0` of a sequence x.
  void checkNames() const {
    for (const frontend::InputType &input : options_.inputs)
      if (!names_.contains(input.name))
        fail("--input " + input.name + ": the model has no such input");
    for (const auto &[name, text] : options_.texts)
      if (!names_.contains(name))
        fail("--value " + name + "=…: the model has no input '" + name + "'");
    for (const auto &[name, values] : options_.values)
      if (!names_.contains(name))
        fail("--value " + name + "=…: the model has no input '" + name + "'");
  }

  // -- sequences and optionals --------------------------------------------------------------------
  Binding bind(const ValueInfo &input) {
    names_.insert(input.name);
    const frontend::InputType *said = typed(input.name);
    if (input.isOptional && said && !said->element && said->literal == "none")
      return {};
    if (!input.isSequence)
      return bindTensor(input);
    Binding sequence;
    sequence.isSequence = true;
    for (int64_t i = 0, count = lengthOf(input); i < count; ++i) {
      ValueInfo element = input;
      element.name += "." + std::to_string(i);
      names_.insert(element.name);
      Binding bound = bindTensor(element);
      sequence.values.push_back(bound.values[0]);
      sequence.isText = bound.isText;
      sequence.narrow = bound.narrow;
    }
    return sequence;
  }

  // As the user says: by a number, or by the elements that are described.
  int64_t lengthOf(const ValueInfo &input) const {
    const frontend::InputType *said = typed(input.name);
    std::optional<int64_t> count = said && !said->element ? countIn(said->literal) : std::nullopt;
    if (!count) {
      count = 0;
      while (*count <= kMaxElements && isDescribed(input.name + "." + std::to_string(*count)))
        ++*count;
      if (*count == 0)
        fail("input '" + input.name + "' is a sequence: say how many tensors it has by --input " +
             input.name + "=2, or what they are by --input " + exampleOf(input, ".0") +
             " and so on");
    }
    if (*count > kMaxElements)
      fail("--input " + input.name + "=…: found " + std::to_string(*count) +
           " tensors, expected at most " + std::to_string(kMaxElements));
    return *count;
  }

  // -- tensors ------------------------------------------------------------------------------------
  Binding bindTensor(const ValueInfo &input) {
    if (input.dataType == kStringType) {
      Binding bound{{knownTexts(input)}};
      bound.isText = true;
      return bound;
    }
    return {{addInput(input)}, false, narrowNumber(input.dataType)};
  }

  // An input whose type the user gives.
  Value addTyped(const frontend::InputType &input, const ValueInfo &declared) {
    if (!input.element)
      fail("--input " + input.name + ": found the value '" + input.literal +
           "', expected a tensor's type as in " + exampleOf(declared));
    std::vector<std::string> used;
    Result<graph::Shape> dims =
        frontend::sizesOf(input, options_.symbols, options_.keepSymbols, used);
    if (!dims)
      throw Failure{dims.status()};
    symbols_.insert(used.begin(), used.end());
    mlir::Type element = fromElementType(*input.element, &context_);
    return signature_.addArgument(tensorOf(*dims, element), input.name, "input");
  }

  Value addInput(const ValueInfo &input) {
    if (const frontend::InputType *said = typed(input.name))
      return addTyped(*said, input);
    std::optional<ElementType> type = elementTypeOf(input.dataType);
    if (input.dataType == 0)
      fail("input '" + input.name + "' has no type; give --input " + exampleOf(input) +
           ", say, or export the model with one");
    if (!type)
      fail("input '" + input.name + "' has elements of " + dataTypeName(input.dataType) +
           ", which Cleave does not compute with");
    if (!input.hasShape || input.dims.size() > kMaxRank)
      fail("input '" + input.name + "' has no usable shape; give --input " + exampleOf(input) +
           ", say, or export the model with one");
    if (options_.values.contains(input.name) || options_.texts.contains(input.name))
      return knownInput(input, *type);
    Shape dims;
    int64_t count = 1;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      dims.push_back(sizeOf(input, i));
      int64_t size = std::max<int64_t>(dims.back().constant().value_or(1), 1); // 0 hides no others
      if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 56))
        fail("input '" + input.name + "' has more elements than fit into memory");
    }
    return signature_.addArgument(tensorOf(dims, fromElementType(*type, &context_)), input.name,
                                  "input");
  }

  // An input whose value the user fixed, as a constant.
  Value knownInput(const ValueInfo &input, ElementType type) {
    auto given = options_.values.find(input.name);
    if (given == options_.values.end())
      fail("--value " + input.name + "=…: found texts, expected numbers");
    return constant(input.name,
                    frontend::knownInput(input.name, type, openDims(input), given->second));
  }

  // Their numbers.
  Value knownTexts(const ValueInfo &input) {
    auto given = options_.texts.find(input.name);
    if (given == options_.texts.end())
      fail("input '" + input.name + "' has texts, which exist while importing only: give --value " +
           input.name + "=red,green, say");
    if (!input.hasShape)
      fail("input '" + input.name + "' has no usable shape; export the model with one");
    std::vector<double> numbers;
    for (const std::string &text : given->second)
      numbers.push_back(static_cast<double>(texts_.numberOf(text)));
    return constant(input.name,
                    frontend::knownInput(input.name, ElementType::I64, openDims(input), numbers));
  }

  Value constant(const std::string &name, const Tensor &tensor) {
    mlir::Location location = mlir::NameLoc::get(b_.getStringAttr(name));
    return ConstantOp::create(b_, location, toAttribute(tensor, &context_));
  }

  // The sizes of a known input; the first that nobody gave follows from the number of its elements.
  std::vector<std::optional<int64_t>> openDims(const ValueInfo &input) {
    std::vector<std::optional<int64_t>> dims;
    bool hasOpen = false;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      bool isOpen =
          !hasOpen && !input.dims[i].size && !options_.symbols.contains(symbolOf(input, i));
      hasOpen |= isOpen;
      dims.push_back(isOpen ? std::nullopt : sizeOf(input, i).constant());
      if (!isOpen && !dims.back())
        fail("--value " + input.name + "=…: give --set " + symbolOf(input, i) + "=8, say, too");
    }
    return dims;
  }

  // What --set calls dim i.
  static std::string symbolOf(const ValueInfo &input, size_t i) {
    const std::string &symbol = input.dims[i].symbol;
    return symbol.empty() ? input.name + "." + std::to_string(i) : symbol;
  }

  Polynomial sizeOf(const ValueInfo &input, size_t i) {
    const Dim &dim = input.dims[i];
    std::string name = symbolOf(input, i);
    bool isSymbol = !dim.size || *dim.size == 0;
    Polynomial size = isSymbol ? symbolicSize(name, i, input.name) : Polynomial(*dim.size);
    if (size.constant().value_or(0) < 0)
      fail("dim " + std::to_string(i) + " of input '" + input.name + "' has the size " +
           size.str() + ", expected at least 0");
    return size;
  }

  // An expression of symbols as exporters write them, `past + 1`; but `batch-size` is a name.
  static std::optional<Polynomial> expressionOf(const std::string &name) {
    constexpr size_t most = 1 << 12; // characters; longer products of sums are work without end
    if (name.size() > most)
      return std::nullopt;
    for (size_t at = name.find_first_of("+-"); at != std::string::npos;
         at = name.find_first_of("+-", at + 1))
      if (at == 0 || name[at - 1] != ' ' || at + 1 == name.size() || name[at + 1] != ' ')
        return std::nullopt;
    return Polynomial::parse(name);
  }

  // A symbol, or an expression of symbols.
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
      if (found != options_.symbols.end())
        values[symbol] = found->second;
      else
        missing_.try_emplace(given, "dim " + std::to_string(i) + " of input '" + input + "'");
    }
    return size->substitute(values);
  }

  void checkSymbols() {
    for (const auto &[symbol, size] : options_.symbols) {
      auto isMeant = [&](const std::string &name) {
        return name == symbol || symbolName(name) == symbol;
      };
      if (llvm::any_of(symbols_, isMeant))
        continue;
      std::string known;
      for (const std::string &name : symbols_)
        known += (known.empty() ? "" : ", ") + name;
      fail("--set " + symbol + "=" + std::to_string(size) + ": the model has no symbol '" + symbol +
           "'; it has " + (known.empty() ? "none" : known));
    }
    if (missing_.empty() || options_.keepSymbols)
      return;
    std::string list, options;
    for (const auto &[name, place] : missing_) {
      list += (list.empty() ? "'" : ", '") + name + "' (" + place + ")";
      options += " --set " + name + "=8";
    }
    fail((missing_.size() == 1 ? "symbol " + list + " has no value"
                               : "symbols " + list + " have no values") +
         ": give" + options + ", say");
  }

  const Model &model_;
  const ImportOptions &options_;
  SignatureEdit &signature_;
  mlir::OpBuilder &b_;
  TextPool &texts_;
  mlir::MLIRContext &context_;
  std::set<std::string> names_;                   // of inputs and of elements of sequences
  std::set<std::string> symbols_;                 // as the model names them
  std::map<std::string, std::string> givenNames_; // by the name that a polynomial can have
  std::map<std::string, std::string> missing_;    // without a size -> where it occurs
};

} // namespace

std::map<std::string, Binding> bindInputs(const Model &model, const ImportOptions &options,
                                          graph::SignatureEdit &signature, mlir::OpBuilder &b,
                                          TextPool &texts, Refusals &refusals) {
  return InputBinder(model, options, signature, b, texts).run(refusals);
}

} // namespace cleave::onnx
