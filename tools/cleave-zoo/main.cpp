// cleave-zoo: writes a known architecture, at any size, as an ONNX file without weights.
#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/zoo/Zoo.h"
#include "runtime/base/FileWriter.h"
#include "tools/commandline/CommandLine.h"

#include <CLI/CLI.hpp>

#include <sstream>

using namespace cleave;

static Status printList() {
  std::ostringstream list;
  for (const zoo::Entry &entry : zoo::entries()) {
    list << entry.name;
    for (const auto &[size, value] : entry.sizes)
      list << " --" << size << " " << value;
    list << "\n";
  }
  return writeFile("-", list.str());
}

static Status write(const std::string &name, const std::map<std::string, int64_t> &sizes,
                    const std::map<std::string, int64_t> &symbols, const std::string &output) {
  CLEAVE_TRY_ASSIGN(onnx::Model model, zoo::build(name, sizes, symbols));
  CLEAVE_TRY(writeFile(output, onnx::writeModel(model)));
  int64_t parameters = 0;
  for (const onnx::StoredTensor &tensor : model.graph.initializers)
    parameters += tensor.elementCount();
  return writeFile("-", concat(output, ": ", model.graph.nodes.size(), " nodes, ", parameters,
                               " parameters and statistics\n"));
}

int main(int argc, char **argv) {
  CLI::App app{"Writes a known architecture, at any size, as an ONNX file that holds the initial "
               "distribution of every weight instead of its values.",
               "cleave-zoo"};
  std::string name, output;
  bool list = false;
  std::map<std::string, int64_t> sizes, symbols;
  std::vector<std::string> names;
  for (const zoo::Entry &entry : zoo::entries())
    names.push_back(entry.name);
  app.add_option("NAME", name, "the architecture; see --list")
      ->type_name(valuesType(names))
      ->option_text(" "); // --list has the names
  app.add_option("-o,--output", output, "output file")->type_name("FILE");
  app.add_flag("--list", list, "print all architectures with their sizes");
  for (const zoo::SizeName &size : zoo::sizeNames())
    app.add_option_function<int64_t>(
           std::string("--") + size.name, [&sizes, size](int64_t n) { sizes[size.name] = n; },
           size.meaning)
        ->group("Sizes")
        ->type_name("N");
  for (const char *symbol : {"batch", "seq", "target"})
    app.add_option_function<int64_t>(
           std::string("--") + symbol, [&symbols, symbol](int64_t n) { symbols[symbol] = n; },
           "size of this dim of the inputs; default: symbolic")
        ->group("Sizes")
        ->check(positive())
        ->type_name("N");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  Status status = list             ? printList()
                  : name.empty()   ? Status::userError("no architecture given; --list prints all")
                  : output.empty() ? Status::userError("no output file given; use -o FILE")
                                   : write(name, sizes, symbols, output);
  if (!status)
    return fail("cleave-zoo", status);
  return status.exitCode();
}
