#include "test/unit/pt2/ArchiveText.h"

#include "compiler/frontend/pt2/Import.h"
#include "test/unit/torch/ZipWriter.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace cleave::test {

std::string smallProgram() {
  return R"json({"schema_version": {"major": 8, "minor": 20}, "torch_version": "2.15.0",
  "opset_version": {"aten": 10}, "range_constraints": {"s0": {"min_val": 2, "max_val": 64}},
  "graph_module": {
    "graph": {
      "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
      "outputs": [{"as_tensor": {"name": "add"}}],
      "nodes": [{"target": "torch.ops.aten.add.Tensor", "name": "add",
                 "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                            {"name": "other", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}],
                 "outputs": [{"as_tensor": {"name": "add"}}],
                 "metadata": {"nn_module_stack": "L__self__,,Net;L__self__fc,fc,Linear"}}],
      "tensor_values": {
        "p_w": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}],
                "storage_offset": {"as_int": 0}},
        "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', integer=True)"}}, {"as_int": 2}],
              "strides": [{"as_int": 2}, {"as_int": 1}], "storage_offset": {"as_int": 0}}},
      "sym_int_values": {}, "sym_bool_values": {}},
    "signature": {
      "input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.w"}},
                      {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}]},
    "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "",
      "out_spec": "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"sum\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}]"}}]}})json";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  if (at == std::string::npos)
    throw std::logic_error("the test's text has no " + from);
  return text.replace(at, from.size(), to);
}

ArchiveText::ArchiveText() {
  entries["models/model.json"] = smallProgram();
  entries["data/weights/model_weights_config.json"] =
      R"({"config": {"fc.w": {"path_name": "weight_0", "is_param": true, "use_pickle": false,
      "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}],
                      "storage_offset": {"as_int": 0}}}}})";
  entries["data/weights/weight_0"] = std::string("\0\0\x80\x3f\0\0\0\x40", 8); // 1, 2
  entries["archive_format"] = "pt2";
}

std::string ArchiveText::bytes() const {
  torch::ZipWriter zip;
  for (const auto &[name, content] : entries)
    zip.add("model/" + name, content);
  return zip.finish();
}

std::string ArchiveText::written() const {
  char path[] = "/tmp/cleave-pt2-XXXXXX";
  int file = mkstemp(path);
  close(file);
  std::string content = bytes();
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

std::string ArchiveText::imported() const {
  std::string path = written(), text;
  mlir::MLIRContext context;
  frontend::ImportOptions options;
  options.symbols = {{"x.0", 4}};
  auto result = pt2::importExported(context, path, options);
  unlink(path.c_str());
  if (!result)
    return "";
  llvm::raw_string_ostream stream(text);
  result->module->print(stream);
  return text;
}

std::string ArchiveText::problem(const std::map<std::string, int64_t> &symbols,
                                 const std::map<std::string, std::vector<double>> &values) const {
  std::string path = written();
  mlir::MLIRContext context;
  frontend::ImportOptions options;
  options.symbols = symbols;
  options.values = values;
  std::string message = pt2::importExported(context, path, options).status().message();
  unlink(path.c_str());
  size_t skip = path.size() + 2;
  return message.size() < skip ? message : message.substr(skip);
}

} // namespace cleave::test
