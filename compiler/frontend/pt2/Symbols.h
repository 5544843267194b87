// The symbols of an exported program: what the user calls them, which sizes he gave them, and
// whether these lie in the ranges that the program was exported for.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/pt2/Program.h"

namespace cleave::pt2 {

// The user's sizes, and those of dims that follow from how many elements an input of --value has.
std::map<std::string, int64_t> sizesGiven(const Program &program,
                                          const frontend::ImportOptions &options);

class Symbols {
public:
  // `given` are the user's sizes. Fails on a size outside the range, on a name that the program does
  // not have, and, unless they are kept as symbols, on those of inputs that have no size; all of
  // these are listed.
  Symbols(const Program &program, const std::map<std::string, int64_t> &given, bool keeps);

  // The size with all symbols replaced, or renamed as the user knows them; fails
  // where it is no polynomial of known ones.
  Polynomial resolve(const Size &size, const std::string &what) const;

private:
  Polynomial::Binding values_;              // by the file's names
  std::map<std::string, std::string> kept_; // the file's name -> the user's
};

} // namespace cleave::pt2
