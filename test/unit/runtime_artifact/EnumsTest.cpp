// Every value of the file's enumerations is one of runtime/base of the same name, and vice versa.
#include "runtime/artifact/Enums.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::artifact;

// `ALL_REDUCE` as `all_reduce`.
static std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return name;
}

TEST_CASE("the kinds of collectives of plans are those of the table") {
  for (int number = 0; number < plan::Collective::Kind_ARRAYSIZE + 1; ++number) {
    plan::Collective collective;
    collective.set_kind(static_cast<plan::Collective::Kind>(number));
    const std::optional<CollectiveKind> kind = findKind(collective);
    REQUIRE(kind.has_value() == plan::Collective::Kind_IsValid(number));
    if (!kind)
      continue;
    CHECK(name(*kind) == lower(plan::Collective::Kind_Name(number)));
    CHECK(kindOf(collective) == *kind);
    CHECK(toFile(*kind) == collective.kind());
  }
  for (const CollectiveFacts &facts : kCollectives)
    CHECK(plan::Collective::Kind_IsValid(static_cast<int>(facts.kind)));
}

TEST_CASE("the roles of plans are those of the table that buffers have") {
  for (int number = 0; number < plan::Role_ARRAYSIZE + 1; ++number) {
    const auto inFile = static_cast<plan::Role>(number);
    const std::optional<Role> role = findRole(inFile);
    REQUIRE(role.has_value() == (plan::Role_IsValid(number) && number != plan::ROLE_UNSPECIFIED));
    if (!role)
      continue;
    CHECK(name(*role) == lower(plan::Role_Name(number)));
    CHECK(toFile(*role) == inFile);
  }
  for (const RoleFacts &facts : kRoles)
    CHECK(findRole(toFile(facts.role)) == storedAs(facts.role));
}
