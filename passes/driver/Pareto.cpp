#include "passes/driver/Pareto.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace cleave::driver {

// -- points ---------------------------------------------------------------------------------------

std::vector<ParetoPoint> notDominated(std::vector<ParetoPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const ParetoPoint &a, const ParetoPoint &b) {
    return std::pair(a.bytes, a.seconds) < std::pair(b.bytes, b.seconds);
  });
  std::vector<ParetoPoint> kept;
  for (ParetoPoint &point : points)
    if (kept.empty() || point.seconds < kept.back().seconds)
      kept.push_back(std::move(point));
  return kept;
}

Result<std::vector<ParetoPoint>> paretoPoints(Variants &variants, CompileOptions options,
                                              const OnPoint &onPoint) {
  constexpr int kMostPlans = 24;
  constexpr int64_t kLess = 7, kNear = 50;
  std::vector<ParetoPoint> points;
  int64_t tooSmall = 0;
  planner::Budget budget = planner::Budget::unlimited();
  for (int plans = 0; plans < kMostPlans; ++plans) {
    options.memory = budget;
    const Result<planner::PlanReport> plan = variants.plan(options);
    if (plan) {
      points.push_back({budget.isLimited() ? budget.bytes() : plan->arenaBytes, plan->arenaBytes,
                        plan->seconds, plan->boundSeconds, plan->mesh.str(),
                        plan->recomputed.size()});
      variants.tell(concat("--pareto: ", bytesText(static_cast<uint64_t>(plan->arenaBytes)), ": ",
                           secondsText(plan->seconds), " per step"));
      if (onPoint)
        CLEAVE_TRY(onPoint(notDominated(points)));
    } else if (points.empty() || plan.status().kind() != StatusKind::Infeasible) {
      return plan.status();
    } else {
      tooSmall = budget.bytes();
      variants.tell(
          concat("--pareto: ", bytesText(static_cast<uint64_t>(tooSmall)), ": no plan found"));
    }
    const int64_t least = points.back().bytes;
    if (least - tooSmall <= least / kNear)
      break;
    budget = tooSmall > 0 ? tooSmall + (least - tooSmall) / 2 : least - least / kLess;
  }
  return notDominated(std::move(points));
}

std::string paretoCsv(const std::vector<ParetoPoint> &points) {
  std::ostringstream out;
  out << "budget_bytes,bytes,planned_seconds,bound_seconds,mesh,recomputed\n"
      << std::setprecision(9);
  for (const ParetoPoint &point : points)
    out << point.budget << ',' << point.bytes << ',' << point.seconds << ',' << point.bound << ",\""
        << point.mesh << "\"," << point.recomputed << '\n';
  return out.str();
}

// -- the picture ----------------------------------------------------------------------------------

namespace {

// A linear axis of the picture, with marks at round numbers.
class Axis {
public:
  Axis(double first, double last, double from, double to) : from_(from), to_(to) {
    const double span = last > first ? last - first : std::max(last, 1e-12) * 0.1;
    first_ = std::max(0.0, first - span * 0.06);
    last_ = last + span * 0.06;
  }

  double at(double value) const {
    return from_ + (value - first_) / (last_ - first_) * (to_ - from_);
  }

  // About five values; multiples of 1, 2 or 5 times a power of `base` times `unit`.
  std::vector<double> marks(double unit) const {
    const double wanted = (last_ - first_) / 5 / unit;
    double step = std::pow(10, std::floor(std::log10(wanted)));
    for (double factor : {2.0, 2.5, 2.0})
      step *= step < wanted ? factor : 1;
    std::vector<double> values;
    for (double value = std::ceil(first_ / (step * unit)) * step * unit; value <= last_;
         value += step * unit)
      values.push_back(value);
    return values;
  }

  bool contains(double value) const { return first_ <= value && value <= last_; }

private:
  double first_, last_, from_, to_;
};

class Picture {
public:
  Picture(const std::vector<ParetoPoint> &points, const planner::Budget &budget)
      : points_(points), budget_(static_cast<double>(budget.ofSpace())),
        bytes_(static_cast<double>(points.front().bytes), lastBytes(), kLeft, kWidth - kRight),
        seconds_(points.back().seconds, points.front().seconds, kHeight - kBottom, kTop) {}

  std::string draw(const std::string &title) {
    out_ << std::fixed << std::setprecision(1);
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth << "\" height=\""
         << kHeight << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
         << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    text(kLeft, kTop - 22, "start", title);
    text(kWidth - kRight, kHeight - 8, "end", "memory of one rank");
    text(kLeft, kTop - 6, "start", "time of a step");
    addMarks();
    addBudget();
    addPoints();
    return out_.str() + "</svg>\n";
  }

private:
  static constexpr double kWidth = 760, kHeight = 440, kLeft = 80, kRight = 30, kTop = 50,
                          kBottom = 50;

  // The budget is in the picture unless that leaves the points little room.
  double lastBytes() const {
    const double last = static_cast<double>(points_.back().bytes);
    return budget_ > last && budget_ < 1.5 * last ? budget_ : last;
  }

  static std::string escaped(const std::string &text) {
    std::string result;
    for (char c : text)
      result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return result;
  }

  void text(double x, double y, const char *anchor, const std::string &what) {
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">"
         << escaped(what) << "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const char *style) {
    out_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\" "
         << style << "/>\n";
  }

  void addMarks() {
    constexpr const char *kGrid = "stroke=\"#dddddd\"";
    const double last = static_cast<double>(points_.back().bytes);
    const double unit = std::pow(1024, std::floor(std::log2(std::max(last, 1.0)) / 10));
    for (double value : bytes_.marks(unit)) {
      line(bytes_.at(value), kTop, bytes_.at(value), kHeight - kBottom, kGrid);
      text(bytes_.at(value), kHeight - kBottom + 16, "middle",
           bytesText(static_cast<uint64_t>(value)));
    }
    for (double value : seconds_.marks(1)) {
      line(kLeft, seconds_.at(value), kWidth - kRight, seconds_.at(value), kGrid);
      text(kLeft - 6, seconds_.at(value) + 4, "end", secondsText(value));
    }
  }

  void addBudget() {
    if (!bytes_.contains(budget_))
      return;
    line(bytes_.at(budget_), kTop, bytes_.at(budget_), kHeight - kBottom,
         "stroke=\"#cc3333\" stroke-dasharray=\"5 4\"");
    text(bytes_.at(budget_) - 4, kTop + 12, "end", "budget");
  }

  // Between two points the plan of the smaller one is the best that is known.
  void addPoints() {
    out_ << "<polyline fill=\"none\" stroke=\"#336699\" stroke-width=\"1.5\" points=\"";
    double before = 0;
    for (const ParetoPoint &point : points_) {
      const double x = bytes_.at(static_cast<double>(point.bytes)), y = seconds_.at(point.seconds);
      if (before > 0)
        out_ << x << ',' << before << ' ';
      out_ << x << ',' << y << ' ';
      before = y;
    }
    out_ << "\"/>\n";
    for (const ParetoPoint &point : points_)
      out_ << "<circle cx=\"" << bytes_.at(static_cast<double>(point.bytes)) << "\" cy=\""
           << seconds_.at(point.seconds) << "\" r=\"4\" fill=\"#336699\"><title>"
           << escaped(concat(bytesText(static_cast<uint64_t>(point.bytes)), ", ",
                             secondsText(point.seconds), ", mesh ", point.mesh, ", ",
                             point.recomputed, " ops recomputed"))
           << "</title></circle>\n";
  }

  const std::vector<ParetoPoint> &points_;
  double budget_;
  Axis bytes_, seconds_;
  std::ostringstream out_;
};

} // namespace

std::string paretoSvg(const std::vector<ParetoPoint> &points, const planner::Budget &budget,
                      const std::string &title) {
  return Picture(points, budget).draw(title);
}

} // namespace cleave::driver
