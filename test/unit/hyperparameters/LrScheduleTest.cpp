// Learning-rate schedules beside those of PyTorch and transformers (make-reference.py), and their
// text forms.
#include "runtime/hyperparameters/LrSchedule.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace cleave;
using hyperparameters::LrSchedule;

static LrSchedule schedule(const std::string &text) {
  auto schedule = LrSchedule::parse(text);
  INFO(schedule.status().message());
  REQUIRE(schedule.isOk());
  return *schedule;
}

static std::string refusal(const std::string &text) {
  Status status = LrSchedule::parse(text).status();
  CHECK(status.kind() == StatusKind::UserError);
  return status.message();
}

TEST_CASE("every schedule gives the rates of PyTorch's or transformers'") {
  auto reference = nlohmann::json::parse(std::ifstream(CLEAVE_REFERENCE));
  int64_t steps = reference.at("steps");
  std::vector<double> bases = reference.at("bases");
  REQUIRE(reference.at("entries").size() > 20);
  for (const auto &entry : reference.at("entries")) {
    std::string text = entry.at("schedule");
    LrSchedule found = schedule(text);
    for (size_t group = 0; group < bases.size(); ++group)
      for (int64_t step = 0; step < steps; ++step) {
        INFO(text << ", group " << group << ", step " << step);
        double wanted = entry.at("rates").at(group).at(size_t(step));
        CHECK(found.at(step, {steps}, bases[group], bases[0]) ==
              Approx(wanted).epsilon(1e-12).margin(1e-15));
      }
  }
}

TEST_CASE("a rate depends on the step alone, also behind the end of the schedule") {
  for (const char *text : {"linear", "cosine", "polynomial:power=2", "one-cycle", "wsd"}) {
    INFO(text);
    LrSchedule found = schedule(text);
    double end = found.at(100, {100}, 0.5, 0.5);
    CHECK(end == Approx(0).margin(1e-5));
    CHECK(found.at(1000, {100}, 0.5, 0.5) == end);
  }
  CHECK(schedule("linear:steps=50").at(25, {1000}, 1, 1) == 0.5);
  CHECK(schedule("linear").at(0, {0}, 1, 1) == 1);
}

TEST_CASE("a share of the steps is rounded up, but not by rounding errors") {
  CHECK(schedule("constant:warmup=7%").text({100}) == "constant:warmup=7,warmup-start=0");
  CHECK(schedule("constant:warmup=7%").text({101}) == "constant:warmup=8,warmup-start=0");
}

TEST_CASE("a share is that of the schedule's steps, so that a run in parts has one warm-up") {
  CHECK(schedule("cosine:warmup=10%,steps=240").text({120}) ==
        schedule("cosine:warmup=24,steps=240").text({240}));
  CHECK(schedule("linear:warmup=10%,steps=50%").text({100}) ==
        schedule("linear:warmup=5,steps=50").text({100}));
}

TEST_CASE("epochs are counted in steps, which are whole") {
  LrSchedule found = schedule("step:every=30epochs,warmup=1epoch");
  CHECK(found.countsEpochs());
  CHECK_FALSE(schedule("step:every=30,warmup=5%").countsEpochs());
  CHECK(found.text({1000, 4.5}) == "step:warmup=5,warmup-start=0,every=135,gamma=0.1");
  CHECK(found.at(139, {1000, 4.5}, 1, 1) == 1);
  CHECK(found.at(140, {1000, 4.5}, 1, 1) == 0.1);
  CHECK(schedule("linear:steps=0.5epochs").at(1, {1000, 4}, 1, 1) == 0.5);
}

TEST_CASE("the text of a schedule has all options") {
  CHECK(schedule("cosine:warmup=10").text({200}) ==
        "cosine:warmup=10,warmup-start=0,steps=200,min=0,min-ratio=0,cycles=0.5");
  CHECK(schedule("one-cycle:three-phase").text({8}) ==
        "one-cycle:steps=8,pct-start=0.3,anneal=cosine,div-factor=25,final-div-factor=10000,"
        "three-phase=1");
  CHECK(LrSchedule().text({5}) == schedule("constant").text({9}));
}

TEST_CASE("a schedule that cannot be read says what was expected") {
  CHECK(refusal("cosin:warmup=1") == "unknown schedule `cosin`; did you mean cosine?");
  CHECK(refusal("rates.txt") == "unknown schedule `rates.txt`: expected constant, linear, cosine, "
                                "polynomial, step, one-cycle, wsd or a file of learning rates");
  CHECK(refusal("cosine:warm=1") == "the schedule cosine has no `warm`; did you mean warmup?");
  CHECK(refusal("cosine:power=1") == "the schedule cosine has no `power`: expected warmup, "
                                     "warmup-start, steps, min, min-ratio or cycles");
  CHECK(
      refusal("cosine:warmup=1.5") ==
      "`warmup` of the schedule cosine must be a number of steps, or of epochs such as 3epochs, or "
      "a share of all steps such as 5%, found `1.5`");
  for (const char *warmup : {"", "%", "epochs", "101%", "5days", "5 %", "-1epoch", "1e400epochs"}) {
    INFO(warmup);
    CHECK_THAT(refusal(std::string("cosine:warmup=") + warmup), Catch::StartsWith("`warmup` of"));
  }
  CHECK(refusal("linear:min=-1") ==
        "`min` of the schedule linear must be a number of at least 0, found `-1`");
  CHECK(refusal("wsd:shape=round") ==
        "`shape` of the schedule wsd must be linear, cosine or 1-sqrt, found `round`");
  CHECK(refusal("one-cycle:three-phase=2") ==
        "`three-phase` of the schedule one-cycle must be true or false, found `2`");
  CHECK(refusal("step") == "the schedule step needs `every`, for example step:every=30");
  CHECK(refusal("cosine:") == "the schedule cosine has no ``: expected warmup, warmup-start, "
                              "steps, min, min-ratio or cycles");
}
