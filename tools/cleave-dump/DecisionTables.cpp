// Groups decisions of one shape, and keeps the costliest of many.
#include "tools/cleave-dump/DecisionTables.h"

#include "runtime/base/Fold.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/RematTables.h"

#include <algorithm>
#include <limits>
#include <map>

namespace cleave::dump {

namespace {

// Decisions whose names differ only in numbers.
struct Group {
  const plan::Decision *first; // of those whose next best choice costs least
  std::vector<std::string> names;
  bool isOneReason = true; // whether all reasons are equal
  double seconds = 0;

  // Whether the next best choice costs nothing.
  bool isFree() const { return first->reason().starts_with("equally fast"); }
};

} // namespace

// The least seconds that an alternative would add.
static double leastOf(const plan::Decision &decision) {
  double least = std::numeric_limits<double>::infinity();
  for (const plan::Alternative &alternative : decision.alternatives())
    least = std::min(least, alternative.seconds());
  return least;
}

// Decisions of one place, or else of one name, and of one choice share a row, with the sum of their
// seconds. Answers to what-if are whole steps, whose seconds do not add up: each has a row.
static std::vector<Group> groups(const plan::Plan &plan, const std::string &kind) {
  const bool addUp = kind != "what-if";
  std::vector<Group> result;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.kind() != kind)
      continue;
    auto [entry, isNew] = index.try_emplace(
        {addUp ? nameShape(rowName(decision)) : decision.name(), decision.choice()}, result.size());
    if (isNew)
      result.push_back({&decision, {}});
    Group &group = result[entry->second];
    group.names.push_back(rowName(decision));
    group.seconds += decision.seconds();
    group.isOneReason &= decision.reason() == group.first->reason();
    if (leastOf(decision) < leastOf(*group.first))
      group.first = &decision;
  }
  return result;
}

// Drops the cheapest groups of more than a screen and keeps the order of the rest.
static std::vector<Group> costliest(std::vector<Group> all) {
  constexpr size_t kRows = 20;
  if (all.size() <= kRows)
    return all;
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].seconds > all[b].seconds; });
  order.resize(kRows);
  std::sort(order.begin(), order.end());
  std::vector<Group> kept;
  for (size_t i : order)
    kept.push_back(std::move(all[i]));
  return kept;
}

// Whether a reason compares the choice with the next best one: `+12.3 us: …`, `equally fast: …`.
static bool isComparison(const std::string &reason) {
  return reason.starts_with('+') || reason.starts_with('-') || reason.starts_with("equally fast");
}

// Layouts give what the next best one would add (`+12.3 us: …`), of several in a row `each` or
// `from` the least.
static std::string whyText(const Group &group) {
  const std::string &reason = group.first->reason();
  const size_t end = reason.find(": ");
  if (group.names.size() == 1 || !isComparison(reason) || end == std::string::npos)
    return reason;
  if (!group.isOneReason)
    return "from " + (group.isFree() ? "+0 s" + reason.substr(end) : reason);
  return group.isFree() ? reason : reason.substr(0, end) + " each" + reason.substr(end);
}

static std::string decisionTable(const plan::Plan &plan, const std::string &kind, Rows rows) {
  std::vector<Group> all = groups(plan, kind);
  std::vector<Group> shown = rows == Rows::All ? all : costliest(all);
  const bool compares = std::ranges::any_of(
      shown, [](const Group &group) { return isComparison(group.first->reason()); });
  Table table({kind, "choice", ">cost", compares ? "next best, all else equal" : "why"});
  for (const Group &group : shown) {
    std::string count = group.names.size() > 1 ? concat(" x", group.names.size()) : "";
    table.add({foldedName(group.names) + count, group.first->choice(),
               group.seconds != 0 ? secondsText(group.seconds) : "", whyText(group)});
  }
  std::string rest;
  if (shown.size() < all.size())
    rest = concat("  … and ", all.size() - shown.size(), " cheaper rows: see -v\n");
  return "\n" + tableText(table) + rest;
}

std::string decisionTables(const plan::Plan &plan, Rows rows) {
  // Shown elsewhere: meshes and axes, what is recomputed, and by --recompute what is kept.
  std::vector<std::string> done = {"remark", "kept", "recompute", "mesh", "axis", "strategy"};
  std::string result;
  for (const plan::Decision &decision : plan.decisions())
    if (std::ranges::find(done, decision.kind()) == done.end()) {
      done.push_back(decision.kind());
      result += decisionTable(plan, decision.kind(), rows);
    }
  if (const std::string recomputed = rematTable(plan, "recompute"); !recomputed.empty())
    result += "\n" + recomputed;
  if (result.empty())
    return "";
  return "\n" + titled("Decisions") + "\n" + result.substr(1) +
         "  (--explain NAME lists the alternatives)\n";
}

std::string meshVerdict(const plan::Plan &plan, const plan::Decision &mesh) {
  if (!mesh.reason().empty() || mesh.choice() != "at least")
    return mesh.reason().empty() ? mesh.choice() : mesh.reason();
  const double chosen = plan.predicted().planned_seconds();
  return mesh.seconds() < chosen
             ? concat("not planned: at most ", percentText(1 - mesh.seconds() / chosen),
                      " faster than the chosen one")
             : "ruled out by its bound";
}

std::string meshTable(const plan::Plan &plan) {
  std::vector<const plan::Decision *> tried;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "mesh")
      tried.push_back(&decision);
  if (tried.size() < 2)
    return "";
  auto key = [](const plan::Decision *mesh) {
    return std::pair(mesh->choice() != "chosen", mesh->seconds() > 0 ? mesh->seconds() : 1e300);
  };
  std::ranges::stable_sort(tried, {}, key);
  Table table({"mesh", ">step", ">one rank", ""});
  for (const plan::Decision *mesh : tried)
    table.add({mesh->name(),
               mesh->seconds() > 0
                   ? (mesh->choice() == "at least" ? ">= " : "") + secondsText(mesh->seconds())
                   : "",
               mesh->bytes() ? bytesText(mesh->bytes()) : "", meshVerdict(plan, *mesh)});
  return "\n" + titled("Meshes tried") + "\n" + tableText(table);
}

std::string remarkList(const plan::Plan &plan, Rows rows) {
  constexpr int shownPerKind = 4;
  std::map<std::string, int> count;
  std::string out;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.kind() != "remark" ||
        (++count[decision.name()] > shownPerKind && rows == Rows::Costliest))
      continue;
    const std::string text = paragraph(
        (decision.name().empty() ? "" : decision.name() + ": ") +
            (decision.choice().empty() ? "" : decision.choice() + " ") + decision.reason(),
        4);
    out += "  * " + text.substr(4);
  }
  for (const auto &[kind, number] : count)
    if (number > shownPerKind && rows == Rows::Costliest)
      out += concat("  * ", kind, ": ", number - shownPerKind, " more: see -v\n");
  return out.empty() ? "" : "\n" + titled("Remarks") + "\n" + out;
}

} // namespace cleave::dump
