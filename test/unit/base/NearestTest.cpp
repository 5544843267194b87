// Names like one that is unknown.
#include "runtime/base/Nearest.h"

#include <catch2/catch.hpp>

using namespace cleave;

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(editDistance("", "") == 0);
  CHECK(editDistance("", "abc") == 3);
  CHECK(editDistance("kitten", "sitting") == 3);
  CHECK(editDistance("cosin", "cosine") == 1);
  CHECK(editDistance("gtp2", "gpt2") == 1);
  CHECK(editDistance("ab", "ba") == 1);
}

TEST_CASE("names that contain the unknown one come before those that are like it") {
  const std::vector<std::string> names = {"fc2.weight", "h.0.fc1.weight", "fc1.weight", "fc1.bias"};
  CHECK(nearestNames("fc1", names, 2) == std::vector<std::string>{"fc1.bias", "fc1.weight"});
  CHECK(nearestNames("fc1.wieght", names, 1) == std::vector<std::string>{"fc1.weight"});
  CHECK(nearestNames("x", {}, 3).empty());
}

TEST_CASE("a name is similar if few typos or its missing end make the difference") {
  using Names = std::vector<std::string>;
  const Names names = {"h100-500w-node", "h100-node", "local-cpu"};
  CHECK(similarNames("h100", names) == Names{"h100-node"});
  CHECK(similarNames("Local_CPU", names) == Names{"local-cpu"});
  CHECK(similarNames("lcoal-cpu", names) == Names{"local-cpu"});
  CHECK(similarNames("zero4", {"zero1", "zero2", "fsdp"}) == Names{"zero1", "zero2"});
  CHECK(similarNames("tpu-pod", names).empty());
  CHECK(similarNames("l", names).empty());
  CHECK(similarNames("", names).empty());
  CHECK(similarNames("x", {"y"}).empty());
  CHECK(similarNames("x", {}).empty());
}

TEST_CASE("a message suggests the similar names, or lists what is expected") {
  const std::vector<std::string> names = {"sgd", "adam", "adamw"};
  CHECK(suggestion("Adam_W", names) == "; did you mean adamw?");
  CHECK(suggestion("adamv", names) == "; did you mean adam or adamw?");
  CHECK(suggestion("muon", names) == ": expected sgd, adam or adamw");
  CHECK(suggestion("muon", names, "a file") == ": expected sgd, adam, adamw or a file");
  CHECK(suggestion("muon", {}, "a file") == ": expected a file");
}

TEST_CASE("of very many names only the most similar are listed") {
  std::vector<std::string> names = {"fc1.bias", "fc1.weight", "fc2.weight"};
  CHECK(suggestionAmongMany("fc1.wieght", names) == "; did you mean fc1.weight?");
  CHECK(suggestionAmongMany("head", names) == "; it has fc1.bias, fc1.weight, fc2.weight");
  for (const char *other : {"x", "y", "z"})
    names.push_back(other);
  CHECK(suggestionAmongMany("fc2", names) == "; did you mean fc2.weight?");
  CHECK_THAT(suggestionAmongMany(".weight", names),
             Catch::StartsWith("; similar names are fc1.weight, fc2.weight, "));
  CHECK(suggestionAmongMany("fc", {}).empty());
}
