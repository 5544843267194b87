// See OptionNames.h.
#include "compiler/frontend/step/OptionNames.h"

#include "compiler/frontend/emit/Failure.h"
#include "runtime/base/Nearest.h"

#include "llvm/ADT/STLExtras.h"

namespace cleave::frontend {

void refuseSymbol(const std::string &name, int64_t size, std::vector<std::string> symbols,
                  bool takesBatch) {
  if (takesBatch)
    symbols.insert(symbols.begin(), kBatch);
  emit::fail("--set ", name, "=", size, ": the model has no symbol '", name, "'",
             symbols.empty() ? "; it has none, since the export fixed all sizes: leave --set out, "
                               "or export with dynamic_shapes"
                             : suggestion(name, symbols));
}

void checkInputNames(const ImportOptions &options, const std::vector<std::string> &inputs,
                     bool haveElements) {
  auto check = [&](const std::string &option, const std::string &name) {
    std::string whole = haveElements ? name.substr(0, name.find('.')) : name;
    if (!llvm::is_contained(inputs, name) && !llvm::is_contained(inputs, whole))
      emit::fail(option, ": the model has no input '", name, "'",
                 inputs.empty() ? "; it has none" : suggestion(name, inputs));
  };
  for (const InputType &input : options.inputs)
    check("--input " + input.name, input.name);
  for (const auto &[name, values] : options.values)
    check("--value " + name + "=…", name);
  for (const auto &[name, strings] : options.strings)
    check("--value " + name + "=…", name);
}

bool isFixedAt(const FixedDims &fixed, const std::string &name, int64_t size) {
  std::string found; // other sizes of the dims that are meant
  for (const auto &[dim, fixedSize] : fixed) {
    if (name != dim && !(name == kBatch && llvm::StringRef(dim).ends_with(".0")))
      continue;
    if (fixedSize == size)
      return true;
    found += concat(found.empty() ? "" : ", ", dim, "=", fixedSize);
  }
  if (!found.empty())
    emit::fail("--set ", name, "=", size, ": the export fixed ", found,
               ": leave --set out, or export with dynamic_shapes");
  return false;
}

void checkTieNames(const ImportOptions &options, const std::set<std::string> &parameters) {
  auto check = [&](const std::string &option, const std::string &name) {
    if (!parameters.contains(name))
      emit::fail(option, ": the model has no parameter '", name, "'",
                 suggestionAmongMany(name, {parameters.begin(), parameters.end()}));
  };
  for (const auto &[from, to] : options.tie) {
    check("--tie " + from + "=" + to, from);
    check("--tie " + from + "=" + to, to);
  }
  for (const std::string &name : options.untie)
    check("--untie " + name, name);
}

} // namespace cleave::frontend
