// See Symbols.h.
#include "compiler/frontend/pt2/Symbols.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/OptionNames.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace cleave::pt2 {
namespace {

using emit::fail;

// The dims of the user's inputs, by name: the input and the number of the dim.
struct InputDim {
  std::string name;
  bool isFirst = false;
  std::optional<Polynomial> size;
};
std::vector<InputDim> inputDims(const Program &program) {
  std::vector<InputDim> dims;
  for (const InputSpec &input : program.inputs) {
    auto tensor = program.graph.tensors.find(input.name);
    if (input.kind != InputSpec::Kind::User || tensor == program.graph.tensors.end())
      continue;
    for (size_t i = 0; i < tensor->second.sizes.size(); ++i)
      dims.push_back({concat(input.name, ".", i), i == 0, tensor->second.sizes[i].value});
  }
  return dims;
}

// Symbols -> names for the user: the first dim of an input with that symbol.
std::map<std::string, std::string> userNames(const Program &program) {
  std::map<std::string, std::string> out;
  for (const InputDim &dim : inputDims(program))
    for (const std::string &symbol : dim.size.value_or(Polynomial()).symbols())
      if (*dim.size == Polynomial::symbol(symbol))
        out.try_emplace(symbol, dim.name);
  return out;
}

frontend::FixedDims fixedDims(const Program &program) {
  frontend::FixedDims fixed;
  for (const InputDim &dim : inputDims(program))
    if (dim.size && dim.size->isConstant())
      fixed.emplace(dim.name, *dim.size->constant());
  return fixed;
}

// Gives the user's batch to the first dims of inputs, if the program has no symbol of that name.
void giveBatch(const Program &program, std::map<std::string, int64_t> &sizes) {
  auto batch = sizes.find(frontend::kBatch);
  std::map<std::string, std::string> names = userNames(program);
  if (batch == sizes.end() || names.contains(frontend::kBatch))
    return;
  std::set<std::string> first;
  for (const InputDim &dim : inputDims(program))
    for (const auto &[symbol, name] : names)
      if (dim.isFirst && dim.size && *dim.size == Polynomial::symbol(symbol))
        first.insert(sizes.contains(symbol) ? symbol : name);
  int64_t size = batch->second;
  if (!first.empty())
    sizes.erase(batch);
  for (const std::string &name : first)
    sizes.try_emplace(name, size);
}

void checkRange(const Program &program, const std::string &symbol, const std::string &name,
                int64_t size) {
  auto range = program.ranges.find(symbol);
  if (size < 1)
    fail("--set ", name, "=", size, ": expected a size of at least 1");
  if (range == program.ranges.end())
    return;
  auto [least, most] = range->second;
  if ((!least || size >= *least) && (!most || size <= *most))
    return;
  fail("--set ", name, "=", size, ": the model was exported for sizes from ", least.value_or(1),
       (most ? concat(" to ", *most) : " on"),
       "; give one of these, or export it with other dynamic_shapes");
}

// The names for the user, sorted.
std::vector<std::string> sorted(const std::map<std::string, std::string> &names) {
  std::vector<std::string> out;
  for (const auto &[symbol, name] : names)
    out.push_back(name);
  std::ranges::sort(out);
  return out;
}

// Whether the first dim of an input has a size that --set batch=N gives.
bool takesBatch(const Program &program) {
  return std::ranges::any_of(inputDims(program), [](const InputDim &dim) {
    return dim.isFirst && dim.size && !dim.size->isConstant();
  });
}

[[noreturn]] void failOnMissing(const std::map<std::string, std::string> &names) {
  std::string missing, example;
  for (const std::string &name : sorted(names)) {
    missing += (missing.empty() ? "'" : ", '") + name + "'";
    example += (example.empty() ? "--set " : " --set ") + name + "=8";
  }
  fail("the symbolic dims ", missing, " have no sizes: give ", example, ", say");
}

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Renames the symbols of a polynomial, by way of its text.
Polynomial renamed(const Polynomial &size, const std::map<std::string, std::string> &names) {
  std::string text = size.str(), out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && isNamePart(text[end]))
      ++end;
    auto found = names.find(text.substr(i, end - i));
    out += found == names.end() ? text.substr(i, std::max<size_t>(end - i, 1)) : found->second;
    i = std::max(end, i + 1);
  }
  return Polynomial::parse(out).value_or(size);
}

} // namespace

std::map<std::string, int64_t> sizesGiven(const Program &program,
                                          const frontend::ImportOptions &options) {
  std::map<std::string, int64_t> out = options.symbols;
  giveBatch(program, out);
  for (const auto &[name, values] : options.values) {
    auto tensor = program.graph.tensors.find(name);
    if (tensor == program.graph.tensors.end())
      continue;
    std::map<std::string, std::string> names = userNames(program);
    std::string open; // the one symbol without a size
    int64_t count = 1;
    auto multiply = [&](int64_t size) {
      if (__builtin_mul_overflow(count, size, &count))
        count = 0;
    };
    for (const Size &size : tensor->second.sizes) {
      std::string text = size.value ? size.value->str() : "";
      auto known = names.find(text);
      if (size.value && size.value->constant())
        multiply(*size.value->constant());
      else if (out.contains(text))
        multiply(out[text]);
      else if (known != names.end() && out.contains(known->second))
        multiply(out[known->second]);
      else
        open = open.empty() ? text : "?";
    }
    auto found = static_cast<int64_t>(values.size());
    if (names.contains(open) && count > 0 && found % count == 0)
      out[open] = found / count;
  }
  return out;
}

Symbols::Symbols(const Program &program, const std::map<std::string, int64_t> &given, bool keeps) {
  std::map<std::string, std::string> names = userNames(program);
  for (const auto &[name, size] : given) {
    auto found = std::find_if(names.begin(), names.end(), [&](const auto &known) {
      return known.first == name || known.second == name;
    });
    if (found == names.end() && frontend::isFixedAt(fixedDims(program), name, size))
      continue;
    if (found == names.end())
      frontend::refuseSymbol(name, size, sorted(names), takesBatch(program));
    checkRange(program, found->first, name, size);
    values_[found->first] = size;
  }
  for (const auto &[symbol, name] : names)
    if (!values_.contains(symbol))
      kept_[symbol] = name;
  if (!kept_.empty() && !keeps)
    failOnMissing(kept_);
}

Polynomial Symbols::resolve(const Size &size, const std::string &what) const {
  if (!size.value)
    fail("the size of ", what, " is ", size.text, ", which Cleave does not support");
  Polynomial out = size.value->substitute(values_);
  for (const std::string &symbol : out.symbols())
    if (!kept_.contains(symbol))
      fail("the size of ", what, " depends on '", symbol,
           "', which is the size of no input's dim; export the model with fewer dynamic dims");
  return renamed(out, kept_);
}

} // namespace cleave::pt2
