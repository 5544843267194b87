// Model FLOPs utilization and how it is written.
#include "runtime/artifact/Utilization.h"

#include <catch2/catch.hpp>

using namespace cleave;
using artifact::utilizationOf, artifact::utilizationText;

TEST_CASE("utilization is the seconds at peak by those of all ranks") {
  plan::Plan plan;
  CHECK(utilizationOf(plan, 1) == 0); // peak rates are not known
  plan.mutable_predicted()->set_peak_seconds(0.5);
  plan.add_mesh()->set_size(4);
  CHECK(utilizationOf(plan, 0.25) == 0.5);
  CHECK(utilizationOf(plan, 0) == 0);
}

TEST_CASE("utilization is written with the digits that mean something") {
  CHECK(utilizationText(0.4123) == "MFU 41.2 %");
  CHECK(utilizationText(0.01) == "MFU 1.0 %");
  CHECK(utilizationText(0.0025) == "MFU 0.25 %");
  CHECK(utilizationText(0.001) == "MFU 0.10 %");
  CHECK(utilizationText(0.00099).empty());
  CHECK(utilizationText(0).empty());
}
