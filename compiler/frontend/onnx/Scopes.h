// Scopes: the names of the model while it is imported. A subgraph has a scope of its own inside the
// scope of the node that holds it.
#pragma once

#include "compiler/frontend/onnx/node/Binding.h"

#include "llvm/ADT/ScopeExit.h"

#include <map>
#include <set>
#include <string>

namespace cleave::onnx {

class Scopes {
public:
  // The outermost scope, of the main graph, holds `names` at first.
  explicit Scopes(std::map<std::string, Binding> names) { levels_.push_back(std::move(names)); }

  // Opens a scope inside the current one; it closes when the returned object is destroyed.
  [[nodiscard]] auto enter(std::map<std::string, Binding> names = {}) {
    levels_.push_back(std::move(names));
    return llvm::scope_exit([this] { levels_.pop_back(); });
  }

  // The binding of a name in the current scope, new if need be.
  Binding &operator[](const std::string &name) { return levels_.back()[name]; }
  // The binding in the innermost scope that has the name; null if there is none.
  const Binding *find(const std::string &name) const;
  // The same; fails if there is none.
  Binding resolve(const std::string &name) const;
  // All names of all open scopes.
  std::set<std::string> names() const;

  // Records an output that its node's handler does not compute: resolve() fails with `message`.
  void markUncomputed(const std::string &name, std::string message);

private:
  std::vector<std::map<std::string, Binding>> levels_; // outermost first
  std::map<std::string, std::string> uncomputed_;      // name -> message
};

} // namespace cleave::onnx
