// A temporary folder for the files of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace cleave::data {

class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cleave-data-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  // Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return *this / name;
  }

private:
  std::filesystem::path path;
};

inline std::string contentOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

} // namespace cleave::data
