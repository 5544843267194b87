// Reshard paths: they move the right elements, and are the cheapest.
#include "compiler/cluster/Presets.h"
#include "compiler/cost/Roofline.h"
#include "test/unit/cost/Ranks.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::cost;

static cluster::Cluster testCluster() { return *cluster::findCluster("a100-80-node"); }

static std::string describe(const std::vector<ReshardStep> &path) {
  std::string text;
  for (const ReshardStep &step : path) {
    text += text.empty() ? "" : ", ";
    text += step.name();
    for (int axis : step.axes)
      text += " " + std::to_string(axis);
    if (std::optional<int> dim = step.toDim ? step.toDim : step.fromDim)
      text += " dim " + std::to_string(*dim);
  }
  return text;
}

static Mesh mesh(std::vector<int64_t> sizes) {
  Mesh result;
  for (size_t k = 0; k < sizes.size(); ++k)
    result.axes.push_back({std::string(1, static_cast<char>('a' + k)), sizes[k]});
  return result;
}

static std::string pathOf(const Mesh &mesh, const Sharding &from, const Sharding &to,
                          const std::vector<int64_t> &shape) {
  Resharder resharder(testCluster(), mesh);
  auto path = resharder.path(from, to, shape, 4);
  return path ? describe(*path) : "none";
}

// A layout with random axes in dims and partial.
static Sharding randomSharding(const Mesh &mesh, size_t dims, bool mayBePartial,
                               std::mt19937 &random) {
  Sharding sharding = Sharding::replicated(dims);
  std::vector<int> axes;
  for (size_t k = 0; k < mesh.axes.size(); ++k)
    axes.push_back(static_cast<int>(k));
  std::shuffle(axes.begin(), axes.end(), random);
  for (int axis : axes) {
    size_t place = random() % (dims + 2);
    if (place < dims)
      sharding.dims[place].push_back(axis);
    else if (place == dims && mayBePartial)
      sharding.partial.push_back(axis);
  }
  std::sort(sharding.partial.begin(), sharding.partial.end());
  if (!sharding.partial.empty())
    sharding.reduce = static_cast<ReduceKind>(random() % 3);
  return sharding;
}

TEST_CASE("every path moves every element to where the layout wants it") {
  std::mt19937 random(1);
  const std::vector<Mesh> meshes = {mesh({2}),       mesh({2, 2}),    mesh({2, 3}),
                                    mesh({2, 2, 2}), mesh({3, 2, 2}), mesh({4, 1, 2})};
  int found = 0;
  for (int k = 0; k < 1500; ++k) {
    const Mesh &on = meshes[random() % meshes.size()];
    std::vector<int64_t> shape;
    for (size_t d = 0; d < 1 + random() % 3; ++d)
      shape.push_back(static_cast<int64_t>(1 + random() % 13));
    Sharding from = randomSharding(on, shape.size(), true, random);
    Sharding to = randomSharding(on, shape.size(), false, random);
    Resharder resharder(testCluster(), on);
    auto path = resharder.path(from, to, shape, 4);
    INFO(from.str(on) << " to " << to.str(on));
    REQUIRE(path); // always reachable by gathering everything and slicing
    Block whole = randomBlock(shape, random);
    Ranks ranks = Ranks::lay(on, whole, from, random);
    REQUIRE(ranks.difference(whole) < 1e-9);
    double seconds = 0;
    for (const ReshardStep &step : *path) {
      ranks.apply(step);
      INFO("after " << step.name() << " to " << step.result.str(on));
      REQUIRE(ranks.difference(whole) < 1e-9);
      seconds += step.seconds;
    }
    CHECK(ranks.difference(whole) < 1e-9);
    CHECK(resharder.seconds(from, to, shape, 4) == Approx(seconds).margin(1e-15));
    // The layout reached may differ in axes of one rank.
    ranks.sharding = to;
    CHECK(ranks.difference(whole) < 1e-9);
    found += !path->empty();
  }
  CHECK(found > 1000);
}

TEST_CASE("common layout changes take the collective one expects") {
  const Mesh two = mesh({4, 2});
  const std::vector<int64_t> shape = {1 << 12, 1 << 12};
  const Sharding whole{{{}, {}}, {}, {}}, rows{{{0}, {}}, {}, {}}, columns{{{}, {0}}, {}, {}};
  const Sharding sum{{{}, {}}, {0}, {}};
  CHECK(pathOf(two, whole, rows, shape) == "slice 0 dim 0");
  CHECK(pathOf(two, rows, whole, shape) == "all_gather 0 dim 0");
  CHECK(pathOf(two, rows, columns, shape) == "all_to_all 0 dim 1");
  CHECK(pathOf(two, sum, whole, shape) == "all_reduce 0");
  CHECK(pathOf(two, sum, columns, shape) == "reduce_scatter 0 dim 1");
  CHECK(pathOf(two, {{{0, 1}, {}}, {}, {}}, {{{1, 0}, {}}, {}, {}}, shape) == "permute 0 1");
  CHECK(pathOf(two, {{{0, 1}, {}}, {}, {}}, rows, shape) == "all_gather 1 dim 0");
  CHECK(pathOf(two, rows, rows, shape) == "");
  CHECK(pathOf(two, whole, sum, shape) == "none");
  CHECK(pathOf(two, {{{}, {}}, {0, 1}, {}}, {{{}, {}}, {1}, {}}, shape) == "all_reduce 0");
  CHECK(pathOf(mesh({2, 2}), {{{0}, {}}, {}, {}}, {{{1}, {}}, {}, {}}, shape) == "permute 1 0");
}

TEST_CASE("uneven blocks that do not nest are gathered over all axes at once") {
  // 5 over 2 * 2: blocks of 2, over 2: blocks of 3.
  const Sharding both{{{0, 1}}, {}, {}}, one{{{0}}, {}, {}};
  CHECK(pathOf(mesh({2, 2}), both, one, {5}) == "all_gather 0 1 dim 0, slice 0 dim 0");
  CHECK(pathOf(mesh({2, 2}), one, both, {5}) == "all_gather 0 dim 0, slice 0 1 dim 0");
  // 7 over 2 * 2: blocks of 2, over 2: blocks of 4.
  CHECK(pathOf(mesh({2, 2}), both, one, {7}) == "all_gather 1 dim 0");
}

TEST_CASE("a reshard of a tensor of zero bytes or of trivial axes costs nothing") {
  Resharder resharder(testCluster(), mesh({1, 2}));
  auto path = resharder.path({{{0}}, {}, {}}, {{{}}, {}, {}}, {8}, 4);
  REQUIRE(path);
  CHECK(path->empty());
  CHECK(resharder.seconds({{{}}, {0}, ReduceKind::Max}, {{{}}, {}, {}}, {8}, 4) == 0);
}

TEST_CASE("a step needs memory and time for blocks that do not lie one behind the other") {
  const Mesh four = mesh({4});
  Resharder resharder(testCluster(), four);
  auto stepOf = [&](const Sharding &from, const Sharding &to, std::vector<int64_t> shape) {
    auto path = resharder.path(from, to, shape, 4);
    REQUIRE((path && path->size() == 1));
    return (*path)[0];
  };
  const Sharding whole{{{}, {}}, {}, {}}, rows{{{0}, {}}, {}, {}}, columns{{{}, {0}}, {}, {}};
  const Sharding sum{{{}, {}}, {0}, {}};
  const std::vector<int64_t> shape = {1 << 8, 1 << 6}; // so small that detours do not pay
  const double bytes = 4 << 14, launch = testCluster().launchSeconds;
  auto copies = [&](const ReshardStep &step) {
    return step.seconds - resharder.collectives().seconds(*step.collective, step.axes, step.bytes);
  };
  // The bytes of packed and of received blocks.
  using Bytes = std::pair<double, double>;
  auto stagingOf = [&](const ReshardStep &step) {
    return Bytes(step.packedBytes, step.receivedBytes);
  };
  CHECK(stagingOf(stepOf(rows, whole, shape)) == Bytes(0, 0));
  CHECK(copies(stepOf(rows, whole, shape)) == Approx(0).margin(1e-15));
  CHECK(stagingOf(stepOf(columns, whole, shape)) == Bytes(0, bytes));
  CHECK(copies(stepOf(columns, whole, shape)) == Approx(copySeconds(testCluster(), bytes)));
  CHECK(stagingOf(stepOf(sum, rows, shape)) == Bytes(0, 0));
  CHECK(stagingOf(stepOf(sum, columns, shape)) == Bytes(bytes, 0));
  CHECK(stagingOf(stepOf(rows, columns, shape)) == Bytes(bytes / 4, 0)); // received in place
  CHECK(stagingOf(stepOf(columns, rows, shape)) == Bytes(0, bytes / 4));
  // 4 k + 1 rows over 4 ranks: a fill, three full blocks, and the rest of the last one.
  const ReshardStep uneven = stepOf(sum, rows, {(1 << 14) + 1, 1 << 10});
  CHECK(stagingOf(uneven) == Bytes(4.0 * ((1 << 12) + 1) * (1 << 10) * 4, 0));
  CHECK(copies(uneven) > 3 * launch);
}

// The axes of `parts` that stand for an axis of a coarser mesh.
using Parts = std::vector<std::vector<int>>;

static Sharding inParts(const Sharding &sharding, const Parts &parts) {
  Sharding result = Sharding::replicated(sharding.dims.size());
  for (size_t d = 0; d < sharding.dims.size(); ++d)
    for (int axis : sharding.dims[d])
      result.dims[d].insert(result.dims[d].end(), parts[axis].begin(), parts[axis].end());
  for (int axis : sharding.partial)
    result.partial.insert(result.partial.end(), parts[axis].begin(), parts[axis].end());
  std::sort(result.partial.begin(), result.partial.end());
  return result;
}

// All layouts of two dims, with partial axes last.
static std::vector<Sharding> layoutsOn(const Mesh &mesh) {
  std::vector<Sharding> all = {Sharding::replicated(2)};
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis)
    for (size_t k = 0, count = all.size(); k < count; ++k)
      for (int use = 0; use < 3; ++use) {
        Sharding next = all[k];
        if (use < 2)
          next.dims[use].insert(next.dims[use].begin(), axis); // minor to major
        else
          next.partial.push_back(axis);
        all.push_back(next);
        if (use < 2 && next.dims[use].size() > 1) {
          std::reverse(next.dims[use].begin(), next.dims[use].end());
          all.push_back(next);
        }
      }
  return all;
}

TEST_CASE("axes in parts change layouts in no more time than whole axes") {
  struct Case {
    std::vector<int64_t> whole, parts;
    Parts partsOf;
  };
  for (const Case &c :
       {Case{{4, 4}, {2, 2, 2, 2}, {{0, 1}, {2, 3}}}, Case{{2, 4}, {2, 2, 2}, {{0}, {1, 2}}},
        Case{{4, 2}, {2, 2, 2}, {{0, 1}, {2}}}, Case{{16, 2}, {4, 4, 2}, {{0, 1}, {2}}}}) {
    Resharder whole(testCluster(), mesh(c.whole)), parts(testCluster(), mesh(c.parts));
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{512, 512}, {48, 512}})
      for (const Sharding &from : layoutsOn(mesh(c.whole)))
        for (const Sharding &to : layoutsOn(mesh(c.whole))) {
          if (!to.partial.empty())
            continue;
          const double seconds = whole.seconds(from, to, shape, 4);
          const double inSteps =
              parts.seconds(inParts(from, c.partsOf), inParts(to, c.partsOf), shape, 4);
          CHECK(inSteps <= seconds * (1 + 1e-9));
        }
  }
}
