// Pages for browsers, each one text that loads nothing: what the pages share (page.html, page.css,
// base.js) and the scripts of one folder.
#pragma once

#include <optional>
#include <string>

namespace cleave::page {

// The scripts that draw the data.
enum class Kind { Plan, Run };

// A page with a title. `json` is the data, as the scripts of the kind read it.
std::string page(Kind kind, const std::string &title, const std::string &json);

// The data of a page; none if the text is not one.
std::optional<std::string> dataOf(const std::string &page);

} // namespace cleave::page
