// The files of the folder `page`, as text: the page of --html without its plan.
#pragma once

#include <string>

namespace cleave::dump {

// With the marks @TITLE@, @STYLE@, @SCRIPT@ and @PLAN@, each once.
std::string pageTemplate();
std::string pageStyle();
std::string pageScript();

} // namespace cleave::dump
