// Kernels of grouped products: the rows of their groups.
#include "test/unit/codegen_gpu/GroupedForm.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace cleave::test;

TEST_CASE("groups are uneven, empty, one has all rows, and rows behind the last end become 0") {
  for (const std::vector<double> &ends :
       {std::vector<double>{1, 1, 140, 150}, {0, 150, 150}, {150}, {0, 0, 0}, {3, 70}}) {
    checkGrouped({.rows = 150, .inputs = 16, .outputs = 24, .ends = ends, .type = "bf16"});
    checkGrouped({.rows = 150, .inputs = 8, .outputs = 12, .ends = ends});
  }
}

TEST_CASE("a rank has some of the rows and some of the groups") {
  GroupedForm form{.rows = 60,
                   .inputs = 16,
                   .outputs = 8,
                   .ends = {10, 30, 75, 90, 130},
                   .type = "bf16",
                   .groups = 2};
  for (double firstRow : {0.0, 40.0, 100.0})
    for (double firstGroup : {0.0, 1.0, 3.0, 4.0}) { // from 4 on, one of the two groups has no end
      form.firstRow = firstRow, form.firstGroup = firstGroup;
      checkGrouped(form);
    }
}

TEST_CASE("all results are NaN if the ends are not ascending or not rows") {
  for (const std::vector<double> &ends :
       {std::vector<double>{-5, 20, 40}, {0, 61, 61}, {40, 10, 60}, {2e9, 30, 0}})
    for (bool isGradient : {false, true}) {
      const GroupedForm form{.rows = 60, .inputs = 16, .outputs = 8, .ends = ends, .type = "bf16"};
      INFO(caseOf(form, isGradient).text);
      const std::vector<double> results = resultsOf(caseOf(form, isGradient));
      CHECK(!results.empty());
      CHECK(std::ranges::all_of(results, [](double x) { return std::isnan(x); }));
    }
}
