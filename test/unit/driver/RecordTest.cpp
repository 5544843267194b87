// The facts that a module keeps about its compilation.
#include "passes/driver/Record.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;

namespace {

// A compilation of an empty module.
struct Empty : Compilation {
  Empty() : Compilation(CompileOptions()) {
    setModule(mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get())));
  }
};

plan::Plan decided() {
  plan::Plan plan;
  plan.mutable_predicted()->set_planned_seconds(0.012);
  plan.mutable_predicted()->set_bound_seconds(0.01);
  plan.mutable_predicted()->set_gap(0.2);
  plan.mutable_predicted()->set_peak_bytes(uint64_t(1) << 40);
  plan.mutable_predicted()->set_model_flops(1e12);
  plan.mutable_predicted()->set_peak_seconds(0.005);
  plan.mutable_predicted()->set_peak_type("bf16");
  plan.mutable_predicted()->set_budget_bytes(uint64_t(1) << 41);
  plan.mutable_predicted()->set_is_memory_binding(true);
  plan.mutable_predicted()->set_is_calibrated(true);
  plan::Decision &layout = *plan.add_decisions();
  layout.set_name("fc"), layout.set_kind("graph.dot_general"), layout.set_choice("split");
  layout.set_reason("the only choice"), layout.set_seconds(1e-3), layout.set_bytes(64);
  layout.set_place("fc.weight"), layout.set_is_of_parameters(true);
  layout.set_gathering(plan::GATHERED_AGAIN);
  layout.add_alternatives()->set_choice("whole");
  layout.mutable_alternatives(0)->set_seconds(-1e-3);
  plan.add_decisions()->set_name("dp=2");
  return plan;
}

} // namespace

TEST_CASE("a module says which phase left it, and what was remarked") {
  Empty c;
  CHECK(recordedPhase(c.module()).empty());
  c.remarks = {{"frozen", "fc.weight"}, {"warning", "slow"}};
  recordProgress(c, "planned");
  CHECK(recordedPhase(c.module()) == "planned");
  const std::vector<Remark> remarks = recordedRemarks(c.module());
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[1].kind == "warning");
  CHECK(remarks[1].text == "slow");
  dropProgress(c.module());
  CHECK(recordedPhase(c.module()).empty());
  CHECK(recordedRemarks(c.module()).empty());
}

TEST_CASE("decisions and the planner's part of the prediction come back as they were") {
  Empty c;
  plan::Plan read;
  addRecordedDecisions(c.module(), read);
  CHECK(read.SerializeAsString().empty());
  recordDecisions(c.module(), decided());
  addRecordedDecisions(c.module(), read);
  CHECK(read.SerializeAsString() == decided().SerializeAsString());
}

TEST_CASE("malformed entries count as missing") {
  Empty c;
  mlir::Builder b(c.context.get());
  c.module()->setAttr("graph.remarks",
                      b.getArrayAttr({b.getStrArrayAttr({"frozen"}), b.getStringAttr("warning"),
                                      b.getStrArrayAttr({"a", "b"})}));
  REQUIRE(recordedRemarks(c.module()).size() == 1);
  c.module()->setAttr("mesh.plan",
                      b.getDictionaryAttr({b.getNamedAttr("seconds", b.getStringAttr("12 ms")),
                                           b.getNamedAttr("decisions", b.getStringAttr("none"))}));
  plan::Plan read;
  addRecordedDecisions(c.module(), read);
  CHECK(read.predicted().planned_seconds() == 0);
  CHECK(read.decisions().empty());
}
