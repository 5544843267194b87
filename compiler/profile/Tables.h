// Tables: profiles grouped, sorted, and printed as text, JSON or CSV.
#pragma once

#include "compiler/profile/Profile.h"
#include "runtime/base/Status.h"

#include <limits>

namespace cleave::profile {

// The meaning of a row: a node of the file, a PyTorch module, or a kind of operator.
enum class Grouping { Operator, Module, Kind };

// The profile with one row per group, in the order of the groups' first rows. `depth`: number of
// levels of module paths to keep; 0: all. Rows without a module are grouped by kind.
Profile grouped(const Profile &profile, Grouping grouping, int depth = 0);

// The symbols that the profile's amounts depend on, sorted.
std::vector<std::string> symbolsOf(const Profile &profile);

// The rows sorted by `key`, largest first; a key is a column of the JSON form (`forward_macs`, …).
// Symbols count as 1024. A user error lists the keys.
Result<Profile> sorted(const Profile &profile, const std::string &key);

// The first `count` rows; the totals remain those of all rows.
Profile firstRows(const Profile &profile, size_t count);

// `title`, then a line per row with any cost and its share of all FLOPs (if those are numbers),
// then the totals. Where a line would have more than `width` columns, some columns of the table are
// left out, and the text says so.
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
std::string asText(const Profile &profile, const std::string &title, size_t width = kUnlimited);
// {"symbols", "holds_for": ["seq <= 1024"], "trains", "total": {…}, "peak_bytes", …,
//  "rows": [{"module", "name", "kind", …}]}. An amount is a number, or a string if it has symbols.
std::string asJson(const Profile &profile);
// A line of column names, one line per row, and a line of totals.
std::string asCsv(const Profile &profile);

} // namespace cleave::profile
