// ArchiveText: a torch.export archive written by the test, so that every part of it can be wrong.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cleave::test {

// A program that adds the input `x` [s0, 2] to the parameter `w` [2], as model.json.
std::string smallProgram();

// `text` with the first `from` replaced by `to`, which has to be there.
std::string replaced(std::string text, const std::string &from, const std::string &to);

class ArchiveText {
public:
  // The entries of an archive of smallProgram with its weights.
  ArchiveText();

  std::map<std::string, std::string> entries; // by name, without the common folder

  // The zip file, with stored entries.
  std::string bytes() const;
  // The error that importing the file gives, without its path; empty if there is none.
  std::string problem(const std::map<std::string, int64_t> &symbols = {{"x.0", 4}},
                      const std::map<std::string, std::vector<double>> &values = {}) const;
  // The imported module as text, with x.0 = 4; empty where the import fails.
  std::string imported() const;

private:
  // A temporary file with the archive.
  std::string written() const;
};

} // namespace cleave::test
