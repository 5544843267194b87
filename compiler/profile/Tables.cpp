// The columns, and the three formats.
#include "compiler/profile/Tables.h"

#include "dialects/graph/Symbols.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace cleave::profile {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kPeaks = 6; // candidates shown as text

// A column of all formats.
struct Column {
  const char *key;
  const char *title; // in text tables; null: omitted there
  Polynomial Amounts::*amount;
  const char *unit; // `B`: in powers of 1024
};
constexpr Column kColumns[] = {
    {"parameters", ">parameters", &Amounts::parameters, ""},
    {"parameter_bytes", nullptr, &Amounts::parameterBytes, "B"},
    {"forward_macs", ">MACs", &Amounts::forwardMacs, ""},
    {"backward_macs", ">backward", &Amounts::backwardMacs, ""},
    {"forward_flops", ">FLOPs", &Amounts::forwardFlops, ""},
    {"backward_flops", ">backward", &Amounts::backwardFlops, ""},
    {"update_flops", nullptr, &Amounts::updateFlops, ""},
    {"output_bytes", ">output", &Amounts::outputBytes, "B"},
    {"saved_bytes", ">saved", &Amounts::savedBytes, "B"},
};

bool isOfTraining(const Column &column) {
  std::string key = column.key;
  return key.starts_with("backward") || key.starts_with("update") || key.starts_with("saved");
}

std::string shown(const Polynomial &amount, const char *unit) {
  std::optional<int64_t> number = amount.constant();
  if (!number)
    return amount.str() + (*unit ? " B" : "");
  if (*number == 0)
    return "";
  return *unit ? bytesText(static_cast<uint64_t>(*number))
               : countText(static_cast<double>(*number), unit);
}

Json value(const Polynomial &amount) {
  if (std::optional<int64_t> number = amount.constant())
    return *number;
  return amount.str();
}

std::string firstLevels(const std::string &path, int depth) {
  size_t end = 0;
  for (int level = 0; depth > 0 && level < depth && end != std::string::npos; ++level)
    end = path.find('.', level ? end + 1 : 0);
  return depth > 0 && end != std::string::npos ? path.substr(0, end) : path;
}

std::string quoted(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

} // namespace

std::vector<std::string> symbolsOf(const Profile &profile) {
  std::set<std::string> all;
  auto add = [&](const Polynomial &amount) {
    for (const std::string &symbol : amount.symbols())
      all.insert(symbol);
  };
  for (const Column &column : kColumns)
    add(profile.total.*column.amount);
  add(profile.inputBytes);
  for (const Peak &peak : profile.peaks)
    add(peak.bytes);
  return {all.begin(), all.end()};
}

Profile grouped(const Profile &profile, Grouping grouping, int depth) {
  if (grouping == Grouping::Operator)
    return profile;
  Profile out = profile;
  out.rows.clear();
  std::map<std::string, size_t> index;
  std::vector<std::set<std::string>> kinds;
  for (const Row &row : profile.rows) {
    bool byModule = grouping == Grouping::Module && !row.module.empty();
    Row group;
    (byModule ? group.module : group.kind) = byModule ? firstLevels(row.module, depth) : row.kind;
    auto [entry, isNew] =
        index.try_emplace((byModule ? "m " + group.module : "k " + group.kind), out.rows.size());
    if (isNew) {
      out.rows.push_back(group);
      kinds.emplace_back();
    }
    Row &into = out.rows[entry->second];
    into.costs += row.costs;
    if (byModule && !row.kind.empty() && kinds[entry->second].insert(row.kind).second)
      into.kind += (into.kind.empty() ? "" : " ") + row.kind;
  }
  return out;
}

Result<Profile> sorted(const Profile &profile, const std::string &key) {
  auto column = std::find_if(std::begin(kColumns), std::end(kColumns),
                             [&](const Column &column) { return key == column.key; });
  if (column == std::end(kColumns)) {
    std::vector<std::string> known;
    for (const Column &other : kColumns)
      known.push_back(other.key);
    return Status::userError("unknown column '", key, "'", suggestion(key, known));
  }
  Polynomial::Binding binding;
  for (const std::string &symbol : symbolsOf(profile))
    binding[symbol] = 1024;
  Profile out = profile;
  std::vector<std::pair<int64_t, size_t>> order; // by size, then by position
  for (const Row &row : profile.rows)
    order.emplace_back(-(row.costs.*column->amount).substitute(binding).constant().value_or(0),
                       order.size());
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    out.rows[i] = profile.rows[order[i].second];
  return out;
}

Profile firstRows(const Profile &profile, size_t count) {
  Profile out = profile;
  if (count < out.rows.size()) {
    out.rowsLeftOut += out.rows.size() - count;
    out.rows.resize(count);
  }
  return out;
}

static std::string totalsText(const Profile &profile) {
  Table table({"", ""});
  auto line = [&](const char *title, const std::string &text) {
    if (!text.empty())
      table.add({title, text});
  };
  line("parameters", shown(profile.total.parameterBytes, "B"));
  line("gradients", shown(profile.gradientBytes, "B"));
  line("optimizer states and statistics", shown(profile.stateBytes, "B"));
  line("inputs and constants", shown(profile.inputBytes, "B"));
  line("saved for the backward pass", shown(profile.total.savedBytes, "B"));
  line("FLOPs of the update", shown(profile.total.updateFlops, ""));
  bool isKnown = profile.peaks.size() == 1;
  size_t shownPeaks = std::min(profile.peaks.size(), kPeaks);
  for (size_t i = 0; i < shownPeaks; ++i)
    line(i         ? ""
         : isKnown ? "peak of memory"
                   : "peak of memory: the largest of",
         shown(profile.peaks[i].bytes, "B") +
             (profile.peaks[i].at.empty() ? "" : " at " + profile.peaks[i].at));
  if (shownPeaks < profile.peaks.size())
    line("", concat("and ", profile.peaks.size() - shownPeaks, " more: --format json has all"));
  return table.str(0, kUnlimited);
}

// The share of all FLOPs of the forward and backward pass; empty if they have symbols.
static std::string shareText(const Amounts &costs, const Amounts &total) {
  std::optional<int64_t> own = (costs.forwardFlops + costs.backwardFlops).constant();
  std::optional<int64_t> all = (total.forwardFlops + total.backwardFlops).constant();
  return own && *own && all ? percentText(double(*own) / double(*all)) : "";
}

static bool isFree(const Amounts &costs) {
  return std::all_of(std::begin(kColumns), std::end(kColumns),
                     [&](const Column &column) { return costs.*column.amount == Polynomial(0); });
}

// The lines of the rows, without the columns of these keys (`kind` is one).
static std::string rowsText(const Profile &profile, const std::set<std::string> &leftOut) {
  bool hasModules = false, hasNames = false;
  for (const Row &row : profile.rows) {
    hasModules |= !row.module.empty();
    hasNames |= !row.name.empty();
  }
  std::vector<std::string> titles;
  if (hasModules)
    titles.push_back("module");
  if (hasNames)
    titles.push_back("name");
  size_t names = titles.size();
  std::vector<const Column *> columns;
  for (const Column &column : kColumns)
    if (column.title && !leftOut.contains(column.key) &&
        (profile.trains || !isOfTraining(column))) {
      columns.push_back(&column);
      titles.push_back(column.title);
    }
  titles.push_back(">of all");
  titles.push_back("kind");
  Table table(titles);
  const bool hasKinds = names == 0 || !leftOut.contains("kind");
  auto add = [&](std::vector<std::string> cells, const Amounts &costs, const std::string &kind) {
    cells.resize(names);
    for (const Column *column : columns)
      cells.push_back(shown(costs.*column->amount, column->unit));
    if (std::all_of(cells.begin() + std::ptrdiff_t(names), cells.end(),
                    std::mem_fn(&std::string::empty)))
      return;
    cells.push_back(shareText(costs, profile.total));
    cells.push_back(hasKinds ? clipped(kind, 60) : "");
    table.add(cells);
  };
  for (const Row &row : profile.rows) {
    std::vector<std::string> cells;
    if (hasModules)
      cells.push_back(row.module);
    if (hasNames)
      cells.push_back(row.name);
    if (!isFree(row.costs))
      add(cells, row.costs, row.kind);
  }
  add({"total"}, profile.total, names ? "" : "total");
  if (profile.rowsLeftOut)
    table.add({concat("(", profile.rowsLeftOut, " rows are not shown)")});
  return table.str(0, kUnlimited);
}

static bool fits(const std::string &lines, size_t width) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    if (displayWidth(line) > width)
      return false;
  return true;
}

std::string asText(const Profile &profile, const std::string &title, size_t width) {
  // What is left out where lines are short, in this order.
  std::vector<std::string> needless = {"kind", "backward_macs", "forward_macs", "output_bytes",
                                       "backward_flops"};
  std::set<std::string> leftOut;
  std::string rows = rowsText(profile, leftOut);
  for (const std::string &key : needless)
    if (!fits(rows, width)) {
      leftOut.insert(key);
      rows = rowsText(profile, leftOut);
    }
  std::string text;
  for (const std::string &line : wrapped(title, width))
    text += line + "\n";
  if (!leftOut.empty())
    for (const std::string &line :
         wrapped(concat("(", leftOut.size(),
                        " columns are left out, for want of room; --format csv "
                        "has all)"),
                 width))
      text += line + "\n";
  return text + "\n" + rows + "\n" + totalsText(profile);
}

std::string asJson(const Profile &profile) {
  auto costs = [&](Json &out, const Amounts &from) {
    for (const Column &column : kColumns)
      if (profile.trains || !isOfTraining(column))
        out[column.key] = value(from.*column.amount);
  };
  Json out;
  out["symbols"] = symbolsOf(profile);
  for (const Polynomial &notNegative : profile.assumptions)
    out["holds_for"].push_back(graph::asInequality(notNegative));
  out["trains"] = profile.trains;
  costs(out["total"], profile.total);
  out["input_bytes"] = value(profile.inputBytes);
  out["gradient_bytes"] = value(profile.gradientBytes);
  out["state_bytes"] = value(profile.stateBytes);
  if (profile.peaks.size() == 1)
    out["peak_bytes"] = value(profile.peaks[0].bytes);
  else
    for (const Peak &peak : profile.peaks)
      out["peak_bytes"]["max"].push_back(value(peak.bytes));
  for (const Row &row : profile.rows) {
    Json entry = {{"module", row.module}, {"name", row.name}, {"kind", row.kind}};
    costs(entry, row.costs);
    out["rows"].push_back(entry);
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string asCsv(const Profile &profile) {
  std::string out = "module,name,kind";
  for (const Column &column : kColumns)
    out += std::string(",") + column.key;
  out += "\n";
  auto add = [&](const Row &row) {
    out += quoted(row.module) + "," + quoted(row.name) + "," + quoted(row.kind);
    for (const Column &column : kColumns)
      out += "," + quoted((row.costs.*column.amount).str());
    out += "\n";
  };
  for (const Row &row : profile.rows)
    add(row);
  add({"total", "", "", profile.total});
  return out;
}

} // namespace cleave::profile
