// See Remark.h.
#include "compiler/frontend/step/Remark.h"

namespace cleave::frontend {

const char *kindName(Remark::Kind kind) {
  switch (kind) {
  case Remark::Kind::Split:
    return "split";
  case Remark::Kind::Transposed:
    return "transposed";
  case Remark::Kind::Tied:
    return "tied";
  case Remark::Kind::Untied:
    return "untied";
  case Remark::Kind::Restored:
    return "restored";
  case Remark::Kind::Warning:
  case Remark::Kind::TrainingWarning:
    return "warning";
  }
  return "remark";
}

} // namespace cleave::frontend
