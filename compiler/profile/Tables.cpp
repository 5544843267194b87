// See Tables.h.
#include "compiler/profile/Tables.h"

#include "runtime/base/Units.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace cleave::profile {
namespace {

using Json = nlohmann::ordered_json;

// The columns by their names for programs and for people.
struct Column {
  const char *key;
  const char *title;
  Polynomial Costs::*amount;
  const char *unit; // `B`: in powers of 1024
};
constexpr Column kColumns[] = {
    {"parameters", "parameters", &Costs::parameters, ""},
    {"parameter_bytes", nullptr, &Costs::parameterBytes, "B"},
    {"forward_macs", "MACs", &Costs::forwardMacs, ""},
    {"backward_macs", "backward", &Costs::backwardMacs, ""},
    {"forward_flops", "FLOPs", &Costs::forwardFlops, ""},
    {"backward_flops", "backward", &Costs::backwardFlops, ""},
    {"update_flops", nullptr, &Costs::updateFlops, ""},
    {"output_bytes", "output", &Costs::outputBytes, "B"},
    {"saved_bytes", "saved", &Costs::savedBytes, "B"},
};

bool isOfTraining(const Column &column) {
  std::string key = column.key;
  return key.starts_with("backward") || key.starts_with("update") || key.starts_with("saved");
}

std::string shown(const Polynomial &amount, const char *unit) {
  std::optional<int64_t> number = amount.constant();
  if (!number)
    return amount.str();
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

// Cells of a table, columns padded; numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>> &lines, size_t names) {
  std::vector<size_t> widths;
  for (const auto &line : lines)
    for (size_t i = 0; i < line.size(); ++i) {
      widths.resize(std::max(widths.size(), line.size()));
      widths[i] = std::max(widths[i], line[i].size());
    }
  std::string out;
  for (const auto &line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      std::string pad(widths[i] - line[i].size(), ' ');
      text += (i ? "  " : "") + (i < names ? line[i] + pad : pad + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
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
    std::string known;
    for (const Column &other : kColumns)
      known += (known.empty() ? "" : ", ") + std::string(other.key);
    return Status::userError("found '" + key + "', expected one of " + known);
  }
  Polynomial::Binding binding;
  for (const std::string &symbol : symbolsOf(profile))
    binding[symbol] = 1024;
  Profile out = profile;
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](const Row &a, const Row &b) {
    auto number = [&](const Row &row) {
      return (row.costs.*column->amount).substitute(binding).constant().value_or(0);
    };
    return number(a) > number(b);
  });
  return out;
}

static std::string totalsText(const Profile &profile) {
  std::string out;
  auto line = [&](const char *title, const std::string &text) {
    if (!text.empty())
      out += std::string(title) + ": " + text + "\n";
  };
  line("parameters", shown(profile.total.parameters, "") +
                         (profile.total.parameters == Polynomial(0)
                              ? ""
                              : " (" + shown(profile.total.parameterBytes, "B") + ")"));
  line("inputs and constants", shown(profile.inputBytes, "B"));
  line("gradients", shown(profile.gradientBytes, "B"));
  line("optimizer states and statistics", shown(profile.stateBytes, "B"));
  line("activations saved for the backward pass", shown(profile.total.savedBytes, "B"));
  line("update FLOPs", shown(profile.total.updateFlops, ""));
  std::string peak;
  for (const Peak &candidate : profile.peaks)
    peak += (peak.empty() ? "" : ", ") + shown(candidate.bytes, "B");
  bool isKnown = profile.peaks.size() == 1;
  line("peak of memory",
       isKnown ? peak + (profile.peaks[0].at.empty() ? "" : " at " + profile.peaks[0].at)
               : "the largest of " + peak);
  return out;
}

std::string asText(const Profile &profile, size_t top) {
  std::vector<std::vector<std::string>> lines;
  std::vector<const Column *> columns;
  std::vector<std::string> titles = {"module", "name", "kind"};
  for (const Column &column : kColumns)
    if (column.title && (profile.trains || !isOfTraining(column))) {
      columns.push_back(&column);
      titles.push_back(column.title);
    }
  lines.push_back(titles);
  auto add = [&](const Row &row) {
    std::vector<std::string> cells = {row.module, row.name, row.kind};
    for (const Column *column : columns)
      cells.push_back(shown(row.costs.*column->amount, column->unit));
    lines.push_back(cells);
  };
  for (size_t i = 0; i < profile.rows.size() && (!top || i < top); ++i)
    add(profile.rows[i]);
  if (top && profile.rows.size() > top)
    lines.push_back({"(" + std::to_string(profile.rows.size() - top) + " more)"});
  add({"total", "", "", profile.total});
  return aligned(lines, 3) + "\n" + totalsText(profile);
}

std::string asJson(const Profile &profile) {
  auto costs = [&](Json &out, const Costs &from) {
    for (const Column &column : kColumns)
      if (profile.trains || !isOfTraining(column))
        out[column.key] = value(from.*column.amount);
  };
  Json out;
  out["symbols"] = symbolsOf(profile);
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
  return out.dump(1) + "\n";
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
