// Checks of the names in import options.
#include "compiler/frontend/step/OptionNames.h"

#include "compiler/frontend/emit/Failure.h"

#include <catch2/catch.hpp>

namespace cleave::frontend {
namespace {

template <typename Check> std::string failureOf(Check check) {
  try {
    check();
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

TEST_CASE("options for unknown inputs are refused with the inputs of the model") {
  ImportOptions options;
  options.values = {{"x", {1}}};
  auto check = [&](std::vector<std::string> inputs, bool haveElements) {
    return failureOf([&] { checkInputNames(options, inputs, haveElements); });
  };
  CHECK(check({"x", "y"}, false) == "");
  CHECK(check({"y", "z"}, false) == "--value x=…: the model has no input 'x': expected y or z");
  CHECK(check({}, false) == "--value x=…: the model has no input 'x'; it has none");
  options.values = {{"x.0", {1}}};
  CHECK(check({"x"}, true) == "");
  CHECK(check({"x"}, false) == "--value x.0=…: the model has no input 'x.0': expected x");
  options.values.clear();
  options.strings = {{"words", {"red"}}};
  CHECK(check({"x"}, false) == "--value words=…: the model has no input 'words': expected x");
}

TEST_CASE("ties of unknown parameters are refused") {
  ImportOptions options;
  options.tie = {{"a", "b"}};
  auto check = [&](const std::set<std::string> &parameters) {
    return failureOf([&] { checkTieNames(options, parameters); });
  };
  CHECK(check({"a", "b"}) == "");
  CHECK(check({"a"}) == "--tie a=b: the model has no parameter 'b'; it has a");
  options.tie.clear();
  options.untie = {"c"};
  CHECK(check({"a"}) == "--untie c: the model has no parameter 'c'; it has a");
}

} // namespace
} // namespace cleave::frontend
