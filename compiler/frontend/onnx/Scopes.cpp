// See Scopes.h.
#include "compiler/frontend/onnx/Scopes.h"

#include "compiler/frontend/onnx/file/Failure.h"

namespace cleave::onnx {

const Binding *Scopes::find(const std::string &name) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    if (auto found = level->find(name); found != level->end())
      return &found->second;
  return nullptr;
}

Binding Scopes::resolve(const std::string &name) const {
  if (const Binding *binding = find(name))
    return *binding;
  if (auto known = uncomputed_.find(name); known != uncomputed_.end())
    fail(known->second);
  fail("reads '", name, "', which has elements that Cleave does not compute with");
}

std::set<std::string> Scopes::names() const {
  std::set<std::string> all;
  for (const auto &level : levels_)
    for (const auto &[name, binding] : level)
      all.insert(name);
  return all;
}

void Scopes::markUncomputed(const std::string &name, std::string message) {
  uncomputed_[name] = std::move(message);
}

} // namespace cleave::onnx
