// Plans whose values may be in other spaces than device memory.
#include "compiler/planner/search/SpaceSearch.h"
#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/search/OverlappedCopies.h"
#include "test/unit/planner/TrainingStep.h"
#include "test/unit/planner/search/FakeStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

cluster::Cluster withHostLink(double bytesPerSecond) {
  cluster::Cluster cluster = h100Node();
  cluster.hostLink = {.bytesPerSecond = bytesPerSecond};
  return cluster;
}

// Plans of nine layers in less memory than they need, with host memory.
struct SpaceCase {
  SpaceCase(int64_t missing, int64_t host, double bytesPerSecond = 1e15)
      : cluster(withHostLink(bytesPerSecond)), options(onOneRank(peakOf(step.model()) - missing)) {
    options.spaces.host = host;
  }

  Result<PlannedStep> offloaded() {
    return SpaceSearch(step, cluster, options, Goal(), pinned, seen).offloaded();
  }

  FakePrograms programs;
  FakeStep step{nineLayers(), programs};
  cluster::Cluster cluster;
  PlannerOptions options;
  PinnedRemat pinned{step.model().ops.size()};
  Seen seen;
};

} // namespace

TEST_CASE("values that do not fit are kept in host memory where copies are fast") {
  SpaceCase search(6 * kActivation, 100 * kActivation);
  const Result<PlannedStep> found = search.offloaded();
  INFO(found.status().message());
  REQUIRE(found);
  CHECK(search.options.budget.holds(found->plan.arenaBytes));
  CHECK(found->plan.hostBytes > 0);
  CHECK(found->plan.hostBytes <= search.options.spaces.host);
  CHECK(found->plan.recomputed.empty());
  CHECK(found->plan.boundSeconds <= found->plan.seconds);
}

TEST_CASE("where copies are slow, values are recomputed instead") {
  SpaceCase search(6 * kActivation, 100 * kActivation, /*bytesPerSecond=*/1);
  const Result<PlannedStep> found = search.offloaded();
  REQUIRE(found);
  CHECK(found->plan.hostBytes == 0);
  CHECK_FALSE(found->plan.recomputed.empty());
}

TEST_CASE("where nothing fits, the message names all spaces") {
  SpaceCase search(peakOf(nineLayers()) - kActivation, kActivation);
  const Status status = search.offloaded().status();
  CHECK(status.kind() == StatusKind::Infeasible);
  CHECK_THAT(status.message(),
             Catch::EndsWith("fits into 4.00 KiB with 4.00 KiB of host memory and 0 B of a file"));
}

TEST_CASE("what pins keep elsewhere is realised before the search, and rules on ops stay rules") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  PinnedRemat pinned(step.model().ops.size());
  pinned.arguments[1] = Space::Host; // a parameter
  pinned.recomputed[2] = true;
  const Result<std::unique_ptr<Step>> realised = realisePinned(step, pinned);
  REQUIRE(realised);
  CHECK(hasCopies((*realised)->model()));
  CHECK((*realised)->model().ops.size() == step.model().ops.size());
  CHECK(pinned.recomputed[2] == true);
}

TEST_CASE("a recipe is realised, and nothing else is recomputed then") {
  FakePrograms programs;
  const FakeStep step(nineLayers(), programs);
  PinnedRemat pinned(step.model().ops.size());
  const RematPolicy full = fullRecompute(step.model());
  for (size_t i = 0; i < full.recomputed.size(); ++i)
    pinned.recomputed[i] = full.recomputed[i];
  const Result<std::unique_ptr<Step>> realised = realisePinned(step, pinned);
  REQUIRE(realised);
  CHECK((*realised)->model().ops.size() > step.model().ops.size());
  CHECK(pinned.recomputed ==
        std::vector<std::optional<bool>>((*realised)->model().ops.size(), false));
}

TEST_CASE("copies that pins demand lengthen a step if they take longer than computation") {
  double seconds = 0;
  for (double bytesPerSecond : {1e15, 1.0}) {
    SpaceCase search(0, 1 << 20, bytesPerSecond);
    search.pinned.arguments[1] = Space::Host;
    const Result<std::unique_ptr<Step>> realised = realisePinned(search.step, search.pinned);
    REQUIRE(realised);
    const SpaceSearch spaces(**realised, search.cluster, search.options, Goal(), search.pinned,
                             search.seen);
    const Result<PlannedStep> found =
        spaces.pinned(policyOf((*realised)->model(), search.pinned), search.options);
    INFO(found.status().message());
    REQUIRE(found);
    CHECK(found->plan.boundSeconds <= found->plan.seconds);
    CHECK(found->plan.seconds > 100 * seconds);
    seconds = found->plan.seconds;
  }
}

TEST_CASE("where copies take no time, bounds lose a thousandth at most") {
  SpaceCase search(0, 1 << 20, /*bytesPerSecond=*/1e30);
  search.pinned.arguments[1] = Space::Host;
  const Result<std::unique_ptr<Step>> realised = realisePinned(search.step, search.pinned);
  REQUIRE(realised);
  const SpaceSearch spaces(**realised, search.cluster, search.options, Goal(), search.pinned,
                           search.seen);
  const Result<PlannedStep> found =
      spaces.pinned(policyOf((*realised)->model(), search.pinned), search.options);
  REQUIRE(found);
  CHECK(found->plan.boundSeconds >= 0.999 * found->plan.seconds);
}
