#include "runtime/checkpoint/NameList.h"

#include "runtime/base/Concat.h"

namespace cleave::checkpoint {

std::string nameList(const std::vector<std::string> &names, const char *quote) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListedNames; ++i)
    text += concat(i ? ", " : "", quote, names[i], quote);
  return names.size() > kListedNames ? concat(text, " and ", names.size() - kListedNames, " more")
                                     : text;
}

} // namespace cleave::checkpoint
