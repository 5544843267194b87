// A TorchScript archive made by hand: one class `Net` whose forward is given as text.
#pragma once

#include "test/unit/torch/ZipWriter.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace cleave::torchscript {

struct ArchiveFile {
  std::string forward = "  def forward(self: __torch__.m.Net, x: Tensor) -> Tensor:\n";
  std::string lines;                            // of forward, with four spaces each
  std::vector<std::string> parameters, buffers; // float vectors of 4; both may name attributes
  std::string moreAttributes;                   // pickled names and values
  std::string functions;                        // source text behind the class
  std::string otherCode;                        // source text of a second file, other.py
  std::string begin;                            // of the source text, before the class
  std::string versionEntry = "version", version = "3\n";
  bool listsBuffers = true; // old classes do not
  int storedFloats = 4;     // elements in every storage

  // Writes the file; it is removed with this object.
  const std::string &write() {
    torch::ZipWriter zip;
    auto list = [](const std::vector<std::string> &names) {
      std::string out;
      for (const std::string &name : names)
        out += "\"" + name + "\", ";
      return "[" + out + "]\n";
    };
    std::string attributes = moreAttributes;
    for (const std::vector<std::string> &names : {parameters, buffers})
      for (const std::string &name : names)
        attributes += torch::text(name) + torch::floats("of_" + name, 4, 0, {4}, {1});
    for (const std::vector<std::string> &names : {parameters, buffers})
      for (const std::string &name : names)
        zip.add("m/data/of_" + name, std::string(4 * storedFloats, '\0'));
    zip.add("m/data/tied", std::string(16, '\0'));
    zip.add("m/data.pkl",
            torch::pickled(torch::global("__torch__.m", "Net") + ")\x81}(" + attributes + "ub"));
    zip.add("m/code/__torch__/m.py",
            begin + "class Net(Module):\n  __parameters__ = " + list(parameters) +
                (listsBuffers ? "  __buffers__ = " + list(buffers) : "") + forward + lines +
                functions,
            /*compress=*/true);
    if (!otherCode.empty())
      zip.add("m/code/__torch__/other.py", otherCode);
    zip.add("m/constants.pkl", torch::pickled(")"));
    zip.add("m/" + versionEntry, version);
    bytes = zip.finish();
    return write(bytes);
  }
  const std::string &write(const std::string &content) {
    path = std::filesystem::temp_directory_path() /
           ("cleave-torchscript-" + std::to_string(::getpid()) + ".pt");
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  ~ArchiveFile() { std::filesystem::remove(path); }

  std::string bytes, path;
};

} // namespace cleave::torchscript
