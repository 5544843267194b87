// Text of the ops, and tolerances by type. See GroupedForm.h.
#include "test/unit/codegen_gpu/GroupedForm.h"

#include <catch2/catch.hpp>

namespace cleave::test {

KernelCase caseOf(const GroupedForm &f, bool isGradient) {
  const bool isPart = f.groups > 0;
  const int whole = static_cast<int>(f.ends.size()), groups = isPart ? f.groups : whole;
  const std::string result = f.result.empty() ? f.type : f.result,
                    x = tensorText({f.rows, f.inputs}, f.type), ends = tensorText({whole}, "i32"),
                    second = isGradient ? tensorText({f.rows, f.outputs}, f.type)
                                        : tensorText({groups, f.inputs, f.outputs}, f.type),
                    to = isGradient ? tensorText({groups, f.inputs, f.outputs}, result)
                                    : tensorText({f.rows, f.outputs}, result);
  const std::string part = isPart ? " row %r group %g {whole_rows = 1000 : i64}" : "",
                    offsets = isPart ? ", %r: tensor<i64>, %g: tensor<i64>" : "",
                    op = isGradient ? "grouped_weight_grad" : "grouped_matmul";
  KernelCase made{.text = "func.func @f(%x: " + x + ", %w: " + second + ", %e: " + ends + offsets +
                          ") -> " + to + " { %y = graph." + op + " %x, %w, %e" + part + " : " + x +
                          ", " + second + ", " + ends + " -> " + to + " return %y : " + to + " }",
                  .transposed = f.transposed};
  made.given = {{2, f.ends}};
  if (isPart)
    made.given.insert({{3, {f.firstRow}}, {4, {f.firstGroup}}});
  for (int &number : made.transposed)
    if (number == 3) // the result follows the operands
      number = isPart ? 5 : 3;
  return made;
}

void checkGrouped(const GroupedForm &f) {
  const std::string result = f.result.empty() ? f.type : f.result;
  const double tolerance = result == "f32" ? 2e-5 : result == "f16" ? 2e-3 : 1e-2;
  for (bool isGradient : {false, true}) {
    INFO(caseOf(f, isGradient).text);
    CHECK(worstDifference(caseOf(f, isGradient)) <= tolerance);
  }
}

} // namespace cleave::test
