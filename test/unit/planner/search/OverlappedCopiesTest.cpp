// Seconds of plans whose copies between spaces run beside computation.
#include "compiler/planner/search/OverlappedCopies.h"
#include "compiler/cost/Roofline.h"
#include "compiler/planner/network/PricedDecisions.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a step takes the longer of its computation and its copies") {
  StepModel model = modelOf(deepStep(3, 64, 64));
  PlanReport plan = plannedBy(model, "", 1);
  CHECK_FALSE(hasCopies(model));
  Value &parameter = model.values[model.arguments.back().value];
  parameter.space = Space::Host, parameter.awayCopies = 2;
  CHECK(hasCopies(model));
  cluster::Cluster cluster = h100Node();
  const double computation = plan.seconds;
  for (double ofComputation : {0.5, 3.0}) {
    INFO("copies take " << ofComputation << " times as long as computation");
    cluster.hostLink.latencySeconds = computation * ofComputation / 2;
    cluster.hostLink.bytesPerSecond = 1e30;
    for (double share : {1.0 / 16, 1.0}) {
      const cluster::Cluster faster = withExposedCopies(cluster, share);
      Costs costs(model, faster, plan.mesh);
      plan.seconds = secondsOf(costs, plan);
      CHECK(plan.seconds == Approx(computation * (1 + share * ofComputation)));
      plan.boundSeconds = computation / 2;
      CHECK(overlapCopies(plan, model, cluster, share) == (ofComputation < 1));
      CHECK(plan.seconds == Approx(computation * std::max(1.0, ofComputation)));
      CHECK(plan.gap == Approx(1 - plan.boundSeconds / plan.seconds));
    }
  }
}
