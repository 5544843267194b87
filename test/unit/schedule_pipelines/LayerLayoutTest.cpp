// Megatron-LM's layout strings.
#include "compiler/schedule/pipelines/LayerLayout.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

LayerLayout parsed(const std::string &text, uint32_t ranks = 0) {
  Result<LayerLayout> layout = parseLayerLayout(text, ranks);
  INFO(layout.status().message());
  REQUIRE(layout);
  return *layout;
}

std::string layoutWhy(const std::string &text, uint32_t ranks = 0) {
  return refusal(parseLayerLayout(text, ranks).status());
}

} // namespace

TEST_CASE("a layout of NVIDIA's recipes has the layers of each virtual stage") {
  const std::string text = "Et*2|(t*2|)*34,t*3|(t*2|)*3,tL";
  const LayerLayout layout = parsed(text, 4);
  REQUIRE(layout.stages.size() == 40);
  CHECK(layout.stages.front() == "Ett");
  CHECK(layout.stages[1] == "tt");
  CHECK(layout.stages[35] == "ttt");
  CHECK(layout.stages.back() == "tL");
  const std::vector<uint32_t> layers = layout.transformerLayers();
  CHECK(std::accumulate(layers.begin(), layers.end(), 0u) == 80);
  CHECK(textOf(layout) == text);
}

TEST_CASE("commas have no meaning, and stages may be empty") {
  CHECK(parsed("Et*3|(tt|)*29,m|L").stages.size() == 32);
  CHECK(parsed("E,t,,|t,L").stages == std::vector<std::string>{"Et", "tL"});
  CHECK(parsed("E||t|L").stages == std::vector<std::string>{"E", "", "t", "L"});
  CHECK(parsed("E|*3tL").stages == std::vector<std::string>{"E", "", "", "tL"});
  CHECK(parsed("E(t)*0L").stages == std::vector<std::string>{"EL"});
}

TEST_CASE("the text of a layout is short, and parses to the layout") {
  const std::pair<const char *, const char *> cases[] = {{"Ettt|tt|tt|tt|L", "Et*3|(t*2|)*3,L"},
                                                         {"Et|t|t|tL", "Et|(t|)*2,tL"},
                                                         {"E|t|t|t|L", "E|(t|)*3,L"},
                                                         {"EtL", "EtL"},
                                                         {"E|||tL", "E|(|)*2,tL"},
                                                         {"Et|tL||", "Et|tL||"}};
  for (const auto &[text, expected] : cases) {
    const LayerLayout layout = parsed(text);
    CHECK(textOf(layout) == expected);
    CHECK(parsed(textOf(layout)) == layout);
  }
}

TEST_CASE("a layout of stage sizes begins with the embedding and ends with the loss") {
  CHECK(layoutOf({3, 2, 2}).stages == std::vector<std::string>{"Ett", "tt", "tL"});
  CHECK(textOf(layoutOf({3, 2, 2})) == "Et*2|t*2|tL");
}

TEST_CASE("mistakes in a layout are user errors with their column") {
  CHECK(layoutWhy("Et|xL") ==
        "layout: column 4 of 'Et|xL': found 'x', expected E, t, m, L, |, (…)*N or ,");
  CHECK_THAT(layoutWhy("Et*|L"), Contains("column 3 of 'Et*|L': expected a number after *"));
  CHECK_THAT(layoutWhy("E(tt|L"), Contains("column 2") && Contains("expected a matching )*N"));
  CHECK_THAT(layoutWhy("E(tt|)L"), Contains("expected a matching )*N"));
  CHECK_THAT(layoutWhy("E((t|)*2t|)*3L"), Contains("without other parentheses"));
  CHECK_THAT(layoutWhy("Et*1000001L"), Contains("more than 1000000 characters"));
  CHECK_THAT(layoutWhy("E(t*1000)*1001L"), Contains("more than 1000000 characters"));
  CHECK_THAT(layoutWhy("Et*99999999999999999999L"), Contains("expected a number"));
  CHECK_THAT(layoutWhy("tEL"),
             Contains("expected the first layer, and no other one, to be the embedding"));
  CHECK_THAT(layoutWhy("EEtL"), Contains("to be the embedding"));
  CHECK_THAT(layoutWhy("EtLt"), Contains("to be the loss"));
  CHECK_THAT(layoutWhy(""), Contains("to be the embedding"));
  CHECK_THAT(layoutWhy("Et|t|tL", 2),
             Contains("found 3 stages; expected a multiple of the 2 ranks"));
}
