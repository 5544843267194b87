// Target: texts of command-line options, and sizes in files and options.
#include "compiler/frontend/step/InputType.h"
#include "compiler/planner/search/Planner.h"
#include "dialects/interfaces/Polynomial.h"
#include "passes/train/TrainOptions.h"
#include "runtime/base/Units.h"
#include "test/fuzz/Targets.h"

#include <cstdlib>

namespace cleave::fuzz {

// A printed expression must parse to an equal one.
static void polynomial(const std::string &text) {
  std::optional<Polynomial> read = Polynomial::parse(text);
  if (read && Polynomial::parse(read->str()) != read)
    std::abort();
}

static void oneOption(const std::string &text) {
  mustBeTheirs(train::parseLoss(text).status());
  mustBeTheirs(train::parseOptimizer(text).status());
  mustBeTheirs(train::parseGroup(text, *train::parseOptimizer("adamw")).status());
  mustBeTheirs(parseBytes(text).status());
  Result<frontend::InputType> input = frontend::parseInput(text);
  mustBeTheirs(input.status());
  if (input.isOk())
    for (bool keepsSymbols : {false, true}) {
      std::vector<std::string> used;
      mustBeTheirs(frontend::sizesOf(*input, {{"batch", 8}}, keepsSymbols, used).status());
    }
  (void)Mesh::parse(text);
  polynomial(text);
}

void options(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t line = std::min(bytes.find('\n'), bytes.size());
    oneOption(std::string(bytes.substr(0, line)));
    bytes.remove_prefix(std::min(line + 1, bytes.size()));
  }
}

} // namespace cleave::fuzz
