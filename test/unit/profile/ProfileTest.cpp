// What a profile counts, on networks small enough to count by hand.
#include "test/unit/profile/ZooProfile.h"

#include "compiler/profile/Tables.h"

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
  const Costs &costs = rowNamed(profile, "transformer.h.0.mlp.c_fc").costs;
  int64_t products = 3 * 5 * 8 * 32;
  CHECK(number(costs.parameters) == 8 * 32 + 32);
  CHECK(number(costs.parameterBytes) == 4 * (8 * 32 + 32));
  // The bias counts nothing forward; backward there are sums besides.
  CHECK(number(costs.forwardMacs) == products);
  CHECK(number(costs.forwardFlops) == 2 * products + 3 * 5 * 32);
  CHECK(number(costs.backwardMacs) >= 2 * products);
  CHECK(number(costs.backwardMacs) < 2 * products + products / 8);
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

TEST_CASE("what the backward pass reads is alive at the peak") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  int64_t resident = number(profile.total.parameterBytes) + number(profile.stateBytes) +
                     number(profile.inputBytes);
  CHECK(number(profile.total.savedBytes) > 0);
  CHECK(number(profile.total.savedBytes) <= number(profile.total.outputBytes));
  CHECK(number(profile.peaks[0].bytes) >= resident + number(profile.total.savedBytes));
}

TEST_CASE("symbolic totals are those of profiles with numbers") {
  onnx::Model model = zooModel("gpt2", kTiny);
  Profile symbolic = profileOf(model, training({}));
  for (int64_t batch : {1, 4, 32}) {
    std::map<std::string, int64_t> sizes = {{"batch", batch}, {"seq", 5}};
    Costs found = symbolic.substitute(sizes).total;
    Profile wanted = profileOf(model, training(sizes));
    INFO(batch);
    CHECK(found.parameters == wanted.total.parameters);
    CHECK(found.forwardMacs == wanted.total.forwardMacs);
    CHECK(found.backwardMacs == wanted.total.backwardMacs);
    CHECK(found.forwardFlops == wanted.total.forwardFlops);
    CHECK(found.backwardFlops == wanted.total.backwardFlops);
    CHECK(found.updateFlops == wanted.total.updateFlops);
    CHECK(found.savedBytes == wanted.total.savedBytes);
    int64_t peak = 0;
    for (const Peak &candidate : symbolic.substitute(sizes).peaks)
      peak = std::max(peak, number(candidate.bytes));
    CHECK(peak == number(wanted.peaks[0].bytes));
  }
}

TEST_CASE("groups add up to the total, in every grouping") {
  Profile profile = profileOf(zooModel("resnet18", {{"image", 32}}), training({{"batch", 2}}));
  for (Grouping grouping : {Grouping::Operator, Grouping::Module, Grouping::Kind}) {
    Costs sum;
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
             Catch::Matchers::Contains("found 'size', expected one of parameters"));
}

TEST_CASE("CSV has a line per row, names and total") {
  Profile profile = profileOf(zooModel("gpt2", kTiny), training({{"batch", 3}, {"seq", 5}}));
  std::string csv = asCsv(profile);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == static_cast<long>(profile.rows.size()) + 2);
  CHECK(csv.starts_with("module,name,kind,parameters,"));
}

} // namespace
} // namespace cleave::profile
