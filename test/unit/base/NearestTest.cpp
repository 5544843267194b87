// Names like one that is unknown.
#include "runtime/base/Nearest.h"

#include <catch2/catch.hpp>

using namespace cleave;

TEST_CASE("the edit distance counts insertions, deletions and replacements") {
  CHECK(editDistance("", "") == 0);
  CHECK(editDistance("", "abc") == 3);
  CHECK(editDistance("kitten", "sitting") == 3);
  CHECK(editDistance("cosin", "cosine") == 1);
}

TEST_CASE("names that contain the unknown one come before those that are like it") {
  const std::vector<std::string> names = {"fc2.weight", "h.0.fc1.weight", "fc1.weight", "fc1.bias"};
  CHECK(nearestNames("fc1", names, 2) == std::vector<std::string>{"fc1.bias", "fc1.weight"});
  CHECK(nearestNames("fc1.wieght", names, 1) == std::vector<std::string>{"fc1.weight"});
  CHECK(nearestNames("x", {}, 3).empty());
}
