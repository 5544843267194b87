// Remark: a repair or warning of the import, as plain data.
#pragma once

#include <string>

namespace cleave::frontend {

struct Remark {
  // The kind of repair (changes of parameters), or a warning; TrainingWarning: one that matters
  // only for training.
  enum class Kind {
    Split,
    Transposed,
    Tied,
    Untied,
    Restored,
    Warning,
    TrainingWarning
  } kind = Kind::Warning;
  std::string name; // of the parameter or node
  std::string text; // one sentence in lower case
};

// `split`, `transposed`, …; `warning` for both kinds of warnings.
const char *kindName(Remark::Kind kind);

} // namespace cleave::frontend
