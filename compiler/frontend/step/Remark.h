// Remark: one thing that the import decided or suspects and the user should know, as plain data.
#pragma once

#include <string>

namespace cleave::frontend {

struct Remark {
  // `TrainingWarning`: a warning that says nothing to those who do not train.
  enum class Kind {
    Split,
    Transposed,
    Tied,
    Untied,
    Restored,
    Warning,
    TrainingWarning
  } kind = Kind::Warning;
  std::string name; // the parameter or node
  std::string text; // one sentence in lower case
};

// `split`, `transposed`, …, `warning`.
const char *kindName(Remark::Kind kind);

} // namespace cleave::frontend
