// Pages for browsers, each one text that loads nothing: what the pages share (page.html, page.css,
// base.js) and the scripts of one folder.
#pragma once

#include <string>

namespace cleave::page {

// The scripts that draw the data.
enum class Kind { Plan, Run };

// A page with a title. `json` is the data, as the scripts of the kind read it.
std::string page(Kind kind, const std::string &title, const std::string &json);

} // namespace cleave::page
