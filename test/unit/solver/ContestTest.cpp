// The contest's instances: from text, and from files that are compressed or damaged.
#include "compiler/solver/Contest.h"
#include "compiler/solver/Solver.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace cleave;
using namespace cleave::solver;

TEST_CASE("an instance of the contest is read with its forbidden costs") {
  Result<Problem> problem = contestFromJson(R"({"problem": {"name": "tiny", "nodes": {
      "intervals": [[0, 2], [1, 1]], "costs": [[5, 1], [2, 1000000000000000000]],
      "usages": [[1, 9], [7, 7]]}, "edges": {"nodes": [[0, 1]], "costs": [[0, 1, 2, 3]]},
      "usage_limit": 8}})");
  REQUIRE(problem);
  CHECK(problem->nodes[1].choices[1].cost == kForbidden);
  Result<Solution> solution = solve(*problem);
  REQUIRE(solution);
  CHECK(solution->choices == std::vector<int>{0, 0});
  CHECK(solution->cost == 7);
  CHECK(solution->status == SolveStatus::Optimal);
}

TEST_CASE("files of the contest that cannot be read are refused") {
  CHECK(readContestFile("/nowhere/x.json.gz").status().message() ==
        "cannot open '/nowhere/x.json.gz'");
  std::string path = (std::filesystem::temp_directory_path() /
                      ("cleave-contest-" + std::to_string(getpid()) + ".gz"))
                         .string();
  std::ofstream(path, std::ios::binary)
      << std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x07zzzzzzzz", 19);
  CHECK(readContestFile(path).status().message() ==
        "'" + path + "' is damaged: it cannot be decompressed");
  std::filesystem::remove(path);
}

TEST_CASE("compressed and plain files give the same problem") {
  const std::string text =
      R"({"problem": {"name": "one", "nodes": {"intervals": [[3, 7]], "costs": [[5, 900000000000000000]],
          "usages": [[1, 9]]}, "edges": {"nodes": [], "costs": []}, "usage_limit": 8}})";
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("cleave-contest-whole-" + std::to_string(getpid()) + ".gz"))
                               .string();
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0);
  gzclose(file);
  Result<Problem> compressed = readContestFile(path);
  std::ofstream(path) << text;
  Result<Problem> plain = readContestFile(path), direct = contestFromJson(text);
  std::filesystem::remove(path);
  REQUIRE((compressed && plain && direct));
  CHECK(*compressed == *direct);
  CHECK(*plain == *direct);
  CHECK(direct->nodes[0].usages == std::vector<Usage>{{3, 7, 0}});
  CHECK(direct->nodes[0].choices[1].cost == 9e17); // not yet forbidden
  CHECK(contestFromJson("{}").status().message().find("not an instance of the contest: ") == 0);
}
