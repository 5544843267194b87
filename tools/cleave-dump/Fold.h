// Folding of names: repeated blocks of a model mostly have equal decisions, which share a row.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>
#include <vector>

namespace cleave::dump {

// The name with every number replaced by `#`: equal for corresponding parts of different blocks.
std::string nameShape(const std::string &name);

// The name of a decision in a row that several may share: its place in the model, if it has one.
inline const std::string &rowName(const plan::Decision &decision) {
  return decision.place().empty() ? decision.name() : decision.place();
}

// One name for several of the same shape: `h.{0-3}.attn.weight`; if several numbers vary,
// each prints as its own set.
std::string foldedName(const std::vector<std::string> &names);

} // namespace cleave::dump
