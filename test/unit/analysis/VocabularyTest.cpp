// Bounds of inputs that are used as indices.
#include "compiler/analysis/Vocabulary.h"

#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// One of the bounds of %i, an input of six integers (0: none), after a body that yields %j, indices
// of `table`, a parameter of five rows.
int64_t boundOf(const std::string &body, const std::string &role = "input",
                llvm::StringRef name = analysis::kVocabulary) {
  test::GraphText text(R"(func.func @step(%i: tensor<6xi64> {graph.name = "i", graph.role = ")" +
                       role + R"("}, %table: tensor<5x3xf32>) {)" + body + R"(
    %out = graph.gather %table at %j dim 0 : tensor<5x3xf32>, tensor<6xi64> -> tensor<6x3xf32>
    return
  })");
  analysis::recordVocabularies(text.function());
  auto bound = text.function().getArgAttrOfType<mlir::IntegerAttr>(0, name);
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
  CHECK(boundOf(wrapped("5"), "input", analysis::kLowest) == -5);
  CHECK(boundOf(wrapped("5") + R"(
    %k = graph.gather %table at %i dim 0 : tensor<5x3xf32>, tensor<6xi64> -> tensor<6x3xf32>)",
                "input", analysis::kLowest) == 0);
  CHECK(boundOf(wrapped("4")) == 0);
}

TEST_CASE("the places of a scatter are less than its rows") {
  CHECK(boundOf(std::string(kSame) + R"(
    %ones = graph.constant dense<1> : tensor<6xi64>
    %counts = graph.scatter sum %ones at %j dim 0 : tensor<6xi64>, tensor<6xi64> -> tensor<3xi64>)") ==
        3);
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

// Labels of which `ignored` does not count, as the indices %j of their classes.
static std::string masked(const std::string &ignored, const std::string &suffix = "") {
  std::string text = "%n = graph.constant dense<" + ignored + "> : tensor<6xi64>\n" +
                     "%z = graph.constant dense<0> : tensor<6xi64>\n" +
                     "%c = graph.compare ne %i, %n : tensor<6xi64>\n" +
                     "%j = graph.select %c, %i, %z : tensor<6xi1>, tensor<6xi64>\n";
  for (const char *name : {"%n", "%z", "%c", "%j"})
    for (size_t at = 0; !suffix.empty() && (at = text.find(name, at)) != std::string::npos; at += 2)
      text.replace(at, 2, name + suffix);
  return text;
}

TEST_CASE("labels may have the value that all their losses ignore") {
  for (const char *role : {"input", "label"}) {
    CHECK(boundOf(masked("255"), role) == 5);
    CHECK(boundOf(masked("255"), role, analysis::kIgnored) == 255);
    CHECK(boundOf(masked("-1"), role, analysis::kIgnored) == -1);
  }
  CHECK(boundOf(kSame, "label", analysis::kIgnored) == 0);
  const std::string other = R"(
    %k = graph.gather %table at %j2 dim 0 : tensor<5x3xf32>, tensor<6xi64> -> tensor<6x3xf32>
)";
  CHECK(boundOf(masked("7", "2") + other + masked("7"), "label", analysis::kIgnored) == 7);
  CHECK(boundOf(masked("8", "2") + other + masked("7"), "label", analysis::kIgnored) == 0);
  const std::string loss = R"(
    %logits = graph.constant dense<0.0> : tensor<6x4xf32>
    %loss = graph.softmax_cross_entropy %logits, %i {ignore_index = 9 : i64} : tensor<6x4xf32>, tensor<6xi64> -> tensor<f32>
)";
  CHECK(boundOf(loss + masked("9")) == 4);
  CHECK(boundOf(loss + masked("9"), "input", analysis::kIgnored) == 9);
}
