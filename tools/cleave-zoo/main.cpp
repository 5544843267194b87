// cleave-zoo: writes a known architecture, at any size, as an ONNX file without weights.
#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/zoo/Zoo.h"
#include "tools/commandline/CommandLine.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>

using namespace cleave;

static void printList() {
  for (const zoo::Entry &entry : zoo::entries()) {
    std::cout << entry.name;
    for (const auto &[size, value] : entry.sizes)
      std::cout << " --" << size << " " << value;
    std::cout << "\n";
  }
}

static Status write(const std::string &name, const std::map<std::string, int64_t> &sizes,
                    const std::map<std::string, int64_t> &symbols, const std::string &output) {
  Result<onnx::Model> model = zoo::build(name, sizes, symbols);
  CLEAVE_TRY(model.status());
  std::ofstream file(output, std::ios::binary);
  file << onnx::writeModel(*model);
  if (!file.flush())
    return Status::userError("could not write '" + output + "'");
  int64_t parameters = 0;
  for (const onnx::StoredTensor &tensor : model->graph.initializers)
    parameters += tensor.elementCount();
  std::cout << output << ": " << model->graph.nodes.size() << " nodes, " << parameters
            << " parameters and statistics\n";
  return Status::ok();
}

int main(int argc, char **argv) {
  CLI::App app{
      "Writes a known architecture, at any size, as an ONNX file without weights: what they "
      "are initialised with stands in their place.",
      "cleave-zoo"};
  std::string name, output;
  bool list = false;
  std::map<std::string, int64_t> sizes, symbols;
  app.add_option("NAME", name, "the architecture; --list tells which there are");
  app.add_option("-o,--output", output, "the ONNX file to write");
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
           "fixes this dim of the inputs, else a symbol")
        ->group("Sizes")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  if (list) {
    printList();
    return 0;
  }
  Status status = name.empty()     ? Status::userError("which architecture? --list tells")
                  : output.empty() ? Status::userError("-o FILE says where to write the model")
                                   : write(name, sizes, symbols, output);
  if (!status)
    return fail("cleave-zoo", status);
  return status.exitCode();
}
