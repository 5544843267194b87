// A function in which tests of compiler/frontend/emit build ops.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "test/unit/graph_text/GraphText.h"

namespace cleave::emit {

inline const Polynomial batch = Polynomial::symbol("batch"), seq = Polynomial::symbol("seq");

class Building {
public:
  // `arguments` (`%x: tensor<…>, …`) are those of the function, which has no results.
  explicit Building(const std::string &arguments = "")
      : text("func.func @f(" + arguments + ") { return }"),
        b(text.function().getBody().front().getTerminator()), e(b, b.getUnknownLoc(), evaluator) {}

  Value argument(unsigned i) { return text.function().getArgument(i); }

  test::GraphText text;
  mlir::OpBuilder b;
  Evaluator evaluator;
  Emitter e;
};

// The message with which `build` fails; empty if it does not.
template <typename Build> std::string failureOf(Build build) {
  try {
    build();
  } catch (const Failure &failure) {
    return failure.status.message();
  }
  return "";
}

} // namespace cleave::emit
