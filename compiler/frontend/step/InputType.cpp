// See InputType.h.
#include "compiler/frontend/step/InputType.h"

#include "compiler/frontend/emit/Emitter.h"

#include <charconv>

namespace cleave::frontend {
namespace {

std::optional<int64_t> numberIn(const std::string &text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? std::optional(value) : std::nullopt;
}

std::optional<ElementType> elementNamed(const std::string &name) {
  for (const DTypeFacts &facts : kDTypes)
    if (facts.longName == name)
      return facts.dtype;
  return std::nullopt;
}

Status wrongInput(const std::string &text) {
  return Status::userError("found '", text,
                           "', expected NAME=TYPE[DIM,...] as in x=float32[batch,8], or "
                           "NAME=VALUE as in flag=true");
}

} // namespace

Result<InputType> parseInput(const std::string &text) {
  InputType out;
  size_t equals = text.find('='), open = text.find('[');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return wrongInput(text);
  out.name = text.substr(0, equals);
  if (open == std::string::npos) {
    out.literal = text.substr(equals + 1);
    return out;
  }
  if (open < equals || text.back() != ']')
    return wrongInput(text);
  std::string type = text.substr(equals + 1, open - equals - 1);
  out.element = elementNamed(type);
  if (!out.element)
    return Status::userError("found the element type '", type, "' of input '", out.name,
                             "', expected float32, int64, bool, ...");
  std::string dims = text.substr(open + 1, text.size() - open - 2);
  for (size_t at = 0; !dims.empty() && at <= dims.size();) {
    size_t comma = std::min(dims.find(',', at), dims.size());
    out.dims.push_back(dims.substr(at, comma - at));
    if (out.dims.back().empty())
      return wrongInput(text);
    at = comma + 1;
  }
  return out;
}

Result<std::vector<Polynomial>> sizesOf(const InputType &input,
                                        const std::map<std::string, int64_t> &symbols,
                                        bool keepSymbols, std::vector<std::string> &used) {
  std::vector<Polynomial> out;
  int64_t count = 1;
  for (const std::string &dim : input.dims) {
    std::optional<int64_t> size = numberIn(dim);
    if (!size) {
      if (dim != symbolName(dim))
        return Status::userError("found the dim '", dim, "' of input '", input.name,
                                 "', expected a number or a name");
      used.push_back(dim);
      auto found = symbols.find(dim);
      if (found == symbols.end() && keepSymbols) {
        out.push_back(Polynomial::symbol(dim));
        continue;
      }
      if (found == symbols.end())
        return Status::userError("symbol '", dim, "' of input '", input.name,
                                 "' has no value: give --set ", dim, "=8, say");
      size = found->second;
    }
    if (*size < 1)
      return Status::userError("dim ", dim, " of input '", input.name, "' has the size ", *size,
                               ", expected at least 1");
    if (__builtin_mul_overflow(count, *size, &count) || count > (int64_t(1) << 56))
      return Status::userError("input '", input.name, "' has more elements than fit into memory");
    out.push_back(*size);
  }
  return out;
}

} // namespace cleave::frontend
