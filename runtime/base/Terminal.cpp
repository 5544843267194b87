// Widths from the terminal driver, styles as escape sequences of ECMA-48.
#include "runtime/base/Terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cleave {

static int descriptorOf(Stream stream) {
  return stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO;
}

size_t terminalWidth() {
  constexpr size_t kDefault = 120, kLeast = 40;
  winsize size = {};
  if (::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<size_t>(kLeast, size.ws_col);
  const char *columns = std::getenv("COLUMNS");
  const long given = columns ? std::strtol(columns, nullptr, 10) : 0;
  return given > 0 ? std::max(kLeast, static_cast<size_t>(given)) : kDefault;
}

bool hasColour(Stream stream) {
  const char *off = std::getenv("NO_COLOR"), *type = std::getenv("TERM");
  if ((off && *off) || !type || std::string_view(type) == "dumb")
    return false;
  return ::isatty(descriptorOf(stream));
}

std::string styled(const std::string &text, Style style, Stream stream) {
  static const char *const codes[] = {"1", "1;36", "2", "32", "1;33", "1;31"}; // by Style
  if (text.empty() || !hasColour(stream))
    return text;
  return std::string("\x1b[") + codes[static_cast<int>(style)] + "m" + text + "\x1b[0m";
}

} // namespace cleave
