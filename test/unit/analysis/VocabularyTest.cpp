// Bounds of inputs that are used as indices.
#include "compiler/analysis/Vocabulary.h"

#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// The bound of %i, an input of six integers (0: none), after a body that yields %j, indices of
// `table`, a parameter of five rows.
int64_t boundOf(const std::string &body, const std::string &role = "input") {
  test::GraphText text(R"(func.func @step(%i: tensor<6xi64> {graph.name = "i", graph.role = ")" +
                       role + R"("}, %table: tensor<5x3xf32>) {)" + body + R"(
    %out = graph.gather %table at %j dim 0 : tensor<5x3xf32>, tensor<6xi64> -> tensor<6x3xf32>
    return
  })");
  analysis::recordVocabularies(text.function());
  auto bound = text.function().getArgAttrOfType<mlir::IntegerAttr>(0, analysis::kVocabulary);
  return bound ? bound.getInt() : 0;
}

const char *kSame = "%j = graph.reshape %i : tensor<6xi64> -> tensor<6xi64>";

} // namespace

TEST_CASE("an index is less than the rows of its table, through casts and moves") {
  CHECK(boundOf(kSame) == 5);
  CHECK(boundOf("%j = graph.reverse %i dim 0 : tensor<6xi64>") == 5);
  CHECK(boundOf("%n = graph.cast %i : tensor<6xi64> -> tensor<6xi32>\n"
                "%j = graph.cast %n : tensor<6xi32> -> tensor<6xi64>") == 5);
}

TEST_CASE("negative indices that are wrapped keep the bound, others do not") {
  auto wrapped = [](const std::string &count) {
    return "%zero = graph.constant dense<0> : tensor<6xi64>\n%n = graph.constant dense<" + count +
           "> : tensor<6xi64>\n%c = graph.compare lt %i, %zero : tensor<6xi64>\n"
           "%s = graph.add %i, %n : tensor<6xi64>\n"
           "%j = graph.select %c, %s, %i : tensor<6xi1>, tensor<6xi64>";
  };
  CHECK(boundOf(wrapped("5")) == 5);
  CHECK(boundOf(wrapped("4")) == 0);
}

TEST_CASE("computed indices have no bound") {
  CHECK(boundOf("%j = graph.add %i, %i : tensor<6xi64>") == 0);
  CHECK(boundOf("%f = graph.cast %i : tensor<6xi64> -> tensor<6xf32>\n"
                "%j = graph.cast %f : tensor<6xf32> -> tensor<6xi64>") == 0);
}

TEST_CASE("only what the user feeds has a bound") {
  CHECK(boundOf(kSame, "label") == 5);
  CHECK(boundOf(kSame, "constant") == 0);
}

TEST_CASE("slices bound an input only if they cover it") {
  auto slices = [](int64_t second) {
    return "%a = graph.slice %i dim 0 from 0 step 1 : tensor<6xi64> -> tensor<3xi64>\n"
           "%b = graph.slice %i dim 0 from " +
           std::to_string(second) +
           " step 1 : tensor<6xi64> -> tensor<3xi64>\n"
           "%0 = graph.gather %table at %a dim 0 : tensor<5x3xf32>, tensor<3xi64> -> "
           "tensor<3x3xf32>\n"
           "%1 = graph.gather %table at %b dim 0 : tensor<5x3xf32>, tensor<3xi64> -> "
           "tensor<3x3xf32>\n%j = graph.constant dense<0> : tensor<6xi64>";
  };
  CHECK(boundOf(slices(3)) == 5);
  CHECK(boundOf(slices(2)) == 0);
}
