// Profiles as people and programs read them.
#pragma once

#include "compiler/profile/Profile.h"
#include "runtime/base/Status.h"

namespace cleave::profile {

// What one line is about: a node, a PyTorch module, or a kind of operator.
enum class Grouping { Operator, Module, Kind };

// The profile with one row per group, in the order of their first rows. `depth` keeps so many levels
// of module paths; 0: all. Rows without a module go by their kind.
Profile grouped(const Profile &profile, Grouping grouping, int depth = 0);

// The symbols that the profile's amounts depend on, sorted.
std::vector<std::string> symbolsOf(const Profile &profile);

// Sorted by `key`, largest first: a column's name in the JSON form (`forward_macs`, …). With symbols
// by the value when all are 1024. A user error names the keys.
Result<Profile> sorted(const Profile &profile, const std::string &key);

// The first `count` rows; the totals stay those of all.
Profile firstRows(const Profile &profile, size_t count);

// Under `title` a line per row that costs anything, with its share of all FLOPs where those are
// numbers; then the totals.
std::string asText(const Profile &profile, const std::string &title);
// {"symbols", "holds_for": ["seq <= 1024"], "trains", "total": {…}, "peak_bytes", …, "rows": [{"module", "name", "kind", …}]}. An
// amount is a number, or with symbols a text.
std::string asJson(const Profile &profile);
// One line per row under a line of column names, the last one is the total.
std::string asCsv(const Profile &profile);

} // namespace cleave::profile
