// A file with a text, removed at the end.
#pragma once

#include "runtime/base/Concat.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>

namespace cleave::test {

class TextFile {
public:
  explicit TextFile(const std::string &text) {
    static int number = 0;
    path_ = concat("driver-", ::getpid(), "-", number++, ".mlir");
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::remove(path_.c_str()); }
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

} // namespace cleave::test
