// The frontier of memory and time, and its files.
#include "passes/driver/Pareto.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

TEST_CASE("points that others beat in memory and time are left out") {
  const std::vector<ParetoPoint> kept =
      notDominated({{0, 30, 1.0}, {0, 10, 3.0}, {0, 20, 3.5}, {0, 20, 2.0}, {0, 40, 1.0}});
  REQUIRE(kept.size() == 3);
  for (size_t i = 0; i < 3; ++i)
    CHECK(kept[i].bytes == static_cast<int64_t>(10 * (i + 1)));
}

TEST_CASE("less memory takes more time, from everything kept to the smallest plan") {
  CompileOptions options = gptOptions(1);
  AtPrimitive at(options);
  std::vector<ParetoPoint> seen;
  Result<std::vector<ParetoPoint>> points =
      paretoPoints(at.variants, options, [&](const std::vector<ParetoPoint> &found) {
        CHECK(found.size() + 1 >= seen.size()); // a point may be beaten by a new one
        seen = found;
        return Status::ok();
      });
  REQUIRE(points.isOk());
  CHECK(paretoCsv(seen) == paretoCsv(*points));
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << paretoCsv(*points);
  REQUIRE(points->size() >= 4);
  const Fitting whole(options);
  CHECK(points->back().seconds == Approx(whole.c.report.seconds));
  CHECK(points->back().recomputed == 0);
  const int64_t most = points->back().bytes;
  CHECK((*points)[points->size() - 2].budget == most - most / 7);
  const Fitting least(changed(options, "--pin full-recompute"));
  CHECK(points->front().bytes <= least.c.report.arenaBytes);
  CompileOptions less = options;
  less.memory = points->front().bytes * 49 / 50;
  CHECK(Planned(less).status.kind() == StatusKind::Infeasible);
  for (size_t i = 0; i + 1 < points->size(); ++i) {
    CHECK((*points)[i].bytes < (*points)[i + 1].bytes);
    CHECK((*points)[i].seconds > (*points)[i + 1].seconds);
  }
  // A point is what its budget gives.
  options.memory = (*points)[1].budget;
  CHECK(Fitting(options).c.report.seconds == Approx((*points)[1].seconds));
}

TEST_CASE("a frontier is written as lines and as a picture with a circle per point") {
  const std::vector<ParetoPoint> points = {{1 << 30, 1 << 30, 2e-3, 1e-3, "dp=2,tp=2", 7},
                                           {3 << 29, 3 << 29, 1e-3, 1e-3, "dp=4", 0}};
  CHECK(paretoCsv(points) == "budget_bytes,bytes,planned_seconds,bound_seconds,mesh,recomputed\n"
                             "1073741824,1073741824,0.002,0.001,\"dp=2,tp=2\",7\n"
                             "1610612736,1610612736,0.001,0.001,\"dp=4\",0\n");
  const std::string svg = paretoSvg(points, int64_t(2) << 30, "a < b");
  size_t circles = 0;
  for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
    ++circles;
  CHECK(circles == 2);
  CHECK_THAT(svg, Contains("a &lt; b") && Contains(">budget<") && Contains("1.00 GiB") &&
                      Contains("2.00 ms") && !Contains("nan") && !Contains("inf"));
  CHECK_THAT(paretoSvg({points[0]}, planner::Budget::unlimited(), ""),
             !Contains("nan") && !Contains("inf"));
}
