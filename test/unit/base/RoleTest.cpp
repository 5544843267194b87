// The table of roles.
#include "runtime/base/Role.h"

#include <catch2/catch.hpp>

using namespace cleave;

TEST_CASE("every role is found by its name, and by the number that its buffers have in plans") {
  for (const RoleFacts &facts : kRoles) {
    CHECK(factsOf(facts.role).name == facts.name);
    CHECK(roleNamed(facts.name) == facts.role);
    CHECK(roleFromNumber(static_cast<int>(storedAs(facts.role))) == storedAs(facts.role));
  }
  CHECK_FALSE(roleNamed("paramter"));
  CHECK_FALSE(roleNamed(""));
  CHECK_FALSE(roleFromNumber(0));
  CHECK_FALSE(roleFromNumber(static_cast<int>(Role::Label)));
}

TEST_CASE("a label is stored as an input and the loss as a metric") {
  CHECK(storedAs(Role::Label) == Role::Input);
  CHECK(storedAs(Role::Loss) == Role::Metric);
  CHECK(storedAs(Role::State) == Role::State);
}

TEST_CASE("buffers that programs do not write keep their content") {
  for (const RoleFacts &facts : kRoles)
    CHECK((facts.isWritten || facts.isPersistent));
}

TEST_CASE("no role has the empty name") {
  CHECK(name(std::optional<Role>(Role::State)) == "state");
  CHECK(name(std::optional<Role>()) == "");
}
