// The symbols of an exported program: their names for the user, their sizes, and the ranges for
// which the program was exported.
#pragma once

#include "compiler/frontend/pt2/Program.h"
#include "compiler/frontend/step/Import.h"

namespace cleave::pt2 {

// The user's sizes, and the sizes that follow from the number of elements of an input of --value.
std::map<std::string, int64_t> sizesGiven(const Program &program,
                                          const frontend::ImportOptions &options);

// Replaces symbols by sizes or by their names for the user.
class Symbols {
public:
  // `given` are the user's sizes. Fails on a size outside of its range, on an unknown name, and,
  // unless `keeps`, on symbols of inputs without a size, all of which are listed.
  Symbols(const Program &program, const std::map<std::string, int64_t> &given, bool keeps);

  // The size with all symbols replaced or renamed; fails where it is not a polynomial of known
  // symbols. `what` names the tensor.
  Polynomial resolve(const Size &size, const std::string &what) const;

private:
  Polynomial::Binding values_;              // by the names in the file
  std::map<std::string, std::string> kept_; // name in the file -> name for the user
};

} // namespace cleave::pt2
