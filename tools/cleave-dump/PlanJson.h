// The plan as a JSON value, for --json and for the page of --html.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <nlohmann/json.hpp>

namespace cleave::dump {

using Json = nlohmann::ordered_json;

// The fields of --json (docs/interface.md).
Json planJson(const plan::Plan &plan);

} // namespace cleave::dump
