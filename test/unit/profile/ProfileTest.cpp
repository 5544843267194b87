// Profiles of networks that are small enough to count by hand.
#include "test/unit/profile/ZooProfile.h"

#include "compiler/profile/Maxima.h"
#include "compiler/profile/Tables.h"
#include "compiler/zoo/Builder.h"
#include "compiler/zoo/Layers.h"

#include <algorithm>

namespace cleave::profile {
namespace {

const Row &rowNamed(const Profile &profile, const std::string &module) {
  for (const Row &row : profile.rows)
    if (row.module == module)
      return row;
  FAIL("no row of " << module);
  return profile.rows[0];
}

// GPT-2 with width 8, batch 3, length 5.
const std::map<std::string, int64_t> kTiny = {
    {"layers", 1}, {"hidden", 8}, {"heads", 2}, {"vocab", 11}, {"context", 6}};

TEST_CASE("a linear layer costs its products forward, and twice as many backward") {
  Profile profile = grouped(
      profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}})), Grouping::Module);
  const Amounts &costs = rowNamed(profile, "transformer.h.0.mlp.c_fc").costs;
  int64_t products = 3 * 5 * 8 * 32;
  CHECK(number(costs.parameters) == 8 * 32 + 32);
  CHECK(number(costs.parameterBytes) == 4 * (8 * 32 + 32));
  // The bias has no MACs in the forward pass; its gradient is a sum.
  CHECK(number(costs.forwardMacs) == products);
  CHECK(number(costs.forwardFlops) == 2 * products + 3 * 5 * 32);
  CHECK(number(costs.backwardMacs) == 2 * products + 3 * 5 * 32);
}

TEST_CASE("the parameters of a step are counted once, tied ones too") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  int64_t embeddings = (11 + 6) * 8, norms = 3 * 16;
  int64_t layer = 8 * 24 + 24 + 8 * 8 + 8 + 8 * 32 + 32 + 32 * 8 + 8;
  CHECK(number(profile.total.parameters) == embeddings + norms + layer);
  CHECK(number(profile.gradientBytes) == 4 * (embeddings + norms + layer));
  // AdamW keeps two moments of every parameter, and the number of the step.
  CHECK(number(profile.stateBytes) == 2 * 4 * (embeddings + norms + layer) + 8);
}

TEST_CASE("a profile without training has no backward pass") {
  driver::CompileOptions options;
  options.symbols = {{"batch", 3}, {"seq", 5}};
  Profile profile = profileOf(zooModel("gpt2", kTiny), options);
  CHECK(!profile.trains);
  CHECK(number(profile.total.backwardFlops) == 0);
  CHECK(number(profile.total.savedBytes) == 0);
  CHECK(number(profile.gradientBytes) == 0);
  REQUIRE(profile.peaks.size() == 1);
  CHECK(number(profile.peaks[0].bytes) > number(profile.total.parameterBytes));
}

TEST_CASE("values that the backward pass reads are live at the peak") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  int64_t resident = number(profile.total.parameterBytes) + number(profile.stateBytes) +
                     number(profile.inputBytes);
  CHECK(number(profile.total.savedBytes) > 0);
  CHECK(number(profile.total.savedBytes) <= number(profile.total.outputBytes));
  CHECK(number(profile.peaks[0].bytes) >= resident + number(profile.total.savedBytes));
}

// The gradient of a product by one operand is a product of the same size. The gradient by the
// model's input is not computed.
TEST_CASE("a convolution costs twice as much backward as forward, the first one as much") {
  zoo::Builder b("conv", {});
  zoo::Value x = b.input("x", ElementType::F32, {"batch", "6", "9", "9"});
  x = conv2d(b, "first", x, 6, 8, {3, 2, 1});
  x = relu(b, x);
  x = conv2d(b, "grouped", x, 8, 12, {3, 1, 1, 4});
  x = relu(b, x);
  x = relu(b, conv2d(b, "strided", x, 12, 4, {2, 2})); // the loss belongs to the relu
  b.output("y", x, {"batch", "4", "2", "2"});
  Profile profile = grouped(profileOf(b.finish(), trainingOn("mse:y")), Grouping::Module);
  auto costs = [&](const char *name) { return rowNamed(profile, name).costs; };
  CHECK(costs("first").forwardMacs == Polynomial::symbol("batch") * Polynomial(8 * 25 * 6 * 9));
  CHECK(costs("first").backwardMacs == costs("first").forwardMacs);
  CHECK(costs("grouped").forwardMacs == Polynomial::symbol("batch") * Polynomial(12 * 25 * 2 * 9));
  for (const char *name : {"grouped", "strided"})
    CHECK(costs(name).backwardMacs == costs(name).forwardMacs * Polynomial(2));
}

TEST_CASE("residual networks cost twice as much backward as forward, layer by layer") {
  Profile profile = grouped(profileOf(zooModel("resnet18"), training({})), Grouping::Module);
  int convolutions = 0;
  for (const Row &row : profile.rows) {
    if (row.kind != "convolution" && row.kind != "conv")
      continue;
    INFO(row.module);
    ++convolutions;
    int64_t times = row.module == "conv1" ? 1 : 2;
    CHECK(row.costs.backwardMacs == row.costs.forwardMacs * Polynomial(times));
  }
  CHECK(convolutions == 20);
}

TEST_CASE("groups add up to the total, in every grouping") {
  Profile profile = profileOf(zooModel("resnet18", {{"image", 32}}), training({{"batch", 2}}));
  for (Grouping grouping : {Grouping::Operator, Grouping::Module, Grouping::Kind}) {
    Amounts sum;
    for (const Row &row : grouped(profile, grouping).rows)
      sum += row.costs;
    CHECK(sum.forwardMacs == profile.total.forwardMacs);
    CHECK(sum.backwardFlops == profile.total.backwardFlops);
    CHECK(sum.savedBytes == profile.total.savedBytes);
  }
  Profile stages = grouped(profile, Grouping::Module, 1);
  CHECK(rowNamed(stages, "layer1").costs.parameters == Polynomial(147968));
}

TEST_CASE("rows are sorted by a column, largest first, or the columns are listed") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  Result<Profile> bySize = sorted(profile, "parameters");
  REQUIRE(bySize.status().isOk());
  CHECK(std::is_sorted(bySize->rows.begin(), bySize->rows.end(), [](const Row &a, const Row &b) {
    return number(a.costs.parameters) > number(b.costs.parameters);
  }));
  CHECK_THAT(sorted(profile, "size").status().message(),
             Catch::Matchers::Contains("unknown column 'size': expected parameters"));
}

TEST_CASE("amounts that can be the largest are kept") {
  Polynomial n = Polynomial::symbol("n"), half = n.floorDividedBy(2);
  std::vector<Polynomial> amounts = {
      n * n,         n * Polynomial(3) + Polynomial(5), n * Polynomial(2), half,
      Polynomial(7), n * Polynomial(2) + Polynomial(6)};
  AmountSpace space(amounts);
  Maxima maxima(space);
  for (size_t i = 0; i < amounts.size(); ++i) {
    CHECK(space.amount(space.row(amounts[i])) == amounts[i]);
    maxima.add(space.row(amounts[i]), i);
  }
  // For n = 1 both 2n + 6 and 3n + 5 are 8; for larger n the former is less. 2n and 7 never exceed
  // them. The floors are opaque.
  std::vector<size_t> kept;
  for (const Maxima::Candidate &candidate : maxima.take())
    kept.push_back(candidate.moment);
  CHECK(kept == std::vector<size_t>{0, 1, 3});
}

TEST_CASE("an amount between two others is not kept, however many there are") {
  Polynomial n = Polynomial::symbol("n");
  std::vector<Polynomial> amounts;
  for (int64_t i = 0; i <= 200; ++i)
    amounts.push_back(n * Polynomial(3 * i) + Polynomial(7 * (200 - i)));
  amounts.push_back(n * Polynomial(300) + Polynomial(701)); // a little above the line
  AmountSpace space(amounts);
  Maxima maxima(space);
  for (size_t i = 0; i < amounts.size(); ++i)
    maxima.add(space.row(amounts[i]), i);
  std::vector<Maxima::Candidate> kept = maxima.take();
  CHECK(kept.size() == 3);
  for (int64_t value : {1, 2, 3, 5, 100}) {
    int64_t wanted = 0, found = 0;
    for (const Polynomial &amount : amounts)
      wanted = std::max(wanted, number(amount.substitute({{"n", value}})));
    for (const Maxima::Candidate &candidate : kept)
      found = std::max(found, number(space.amount(candidate.row).substitute({{"n", value}})));
    CHECK(found == wanted);
  }
}

TEST_CASE("a table has a title, shares that add up, and the number of omitted rows") {
  Profile profile = grouped(
      profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}})), Grouping::Module);
  std::string text = asText(firstRows(profile, 2), "tiny.onnx: training step");
  using Catch::Matchers::Contains;
  CHECK_THAT(text, Catch::Matchers::StartsWith("tiny.onnx: training step\n\nmodule "));
  CHECK_THAT(text, Contains("100.0 %") && Contains("rows are not shown)"));
  CHECK_THAT(text, Contains("peak of memory") && !Contains("the largest of"));
  std::string symbolic =
      asText(profileOf(zooModel("gpt2", kTiny), training({})), "tiny.onnx: training step");
  CHECK_THAT(symbolic, Contains("batch*seq") && !Contains(" %"));
}

TEST_CASE("a profile states the sizes for which it holds") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({}));
  CHECK(profile.assumptions.empty());
  profile.assumptions = {Polynomial(16) - Polynomial::symbol("seq")};
  CHECK_THAT(asJson(profile), Catch::Matchers::Contains("\"seq <= 16\""));
  CHECK(profile.substitute({{"seq", 16}}).assumptions.empty());
  CHECK(profile.substitute({{"seq", 17}}).assumptions.size() == 1);
}

TEST_CASE("CSV has a line per row, names and total") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  std::string csv = asCsv(profile);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == static_cast<long>(profile.rows.size()) + 2);
  CHECK(csv.starts_with("module,name,kind,parameters,"));
}

} // namespace
} // namespace cleave::profile
