// conformance: runs ONNX's conformance tests and compares the failed ones with a list.
#include "test/conformance/Expectations.h"
#include "test/conformance/Isolated.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

using namespace cleave;
using namespace cleave::conformance;

namespace {

struct Options {
  std::vector<std::string> sets; // PREFIX=FOLDER, one per set
  std::string expected, filter, path, failures;
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  bool list = false;
};

// Numbers of passed tests and of all tests, in total and for numeric tests.
struct Total {
  int passed = 0, all = 0, numericPassed = 0, numericAll = 0;
};

} // namespace

static std::vector<Case> casesOf(const Options &options) {
  std::vector<Case> cases;
  for (const std::string &set : options.sets) {
    size_t equals = set.find('=');
    for (Case &test : findCases(set.substr(equals + 1), set.substr(0, equals) + "/"))
      if (test.name.find(options.filter) != std::string::npos)
        cases.push_back(std::move(test));
  }
  return cases;
}

// The failure of the test on this path; empty if it passes.
static std::string problemOf(const Case &test, Path path, const std::string &scratch) {
  int count = exampleCount(test);
  if (count == 0)
    return "has no examples";
  for (int number = 0; number < count; ++number) {
    Result<Example> example = readExample(test, number);
    if (!example)
      return example.status().message();
    Result<Outcome> outcome = compute(path, test, *example, scratch);
    if (!outcome)
      return outcome.status().message();
    if (std::string text = difference(*outcome, example->outputs); !text.empty())
      return text;
  }
  return "";
}

// The name of the test's set: its name without the last part.
static std::string setOf(const Case &test) { return test.name.substr(0, test.name.rfind('/')); }

static void printTotals(const std::vector<Case> &cases, const std::vector<std::string> &problems,
                        Path path) {
  std::map<std::string, Total> totals;
  for (size_t i = 0; i < cases.size(); ++i) {
    Total &total = totals[setOf(cases[i])];
    bool passed = problems[i].empty(), numeric = isNumeric(cases[i]);
    total.passed += passed, ++total.all;
    total.numericPassed += passed && numeric, total.numericAll += numeric;
  }
  for (const auto &[set, total] : totals)
    std::printf("%-9s %-28s %4d of %4d (%5.1f %%), numeric %4d of %4d (%5.1f %%)\n",
                kPathNames[static_cast<int>(path)], set.c_str(), total.passed, total.all,
                100.0 * total.passed / total.all, total.numericPassed, total.numericAll,
                100.0 * total.numericPassed / std::max(1, total.numericAll));
}

// Prints the tests that differ from the list and returns their number.
static int compare(const std::vector<Case> &cases, const std::vector<std::string> &problems,
                   Path path, const Expectations &expectations) {
  int wrong = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto reason = expectations.reason(cases[i].name, path);
    if (reason && problems[i].empty())
      std::printf("%s passes on path %s, but is listed (%s): remove it\n", cases[i].name.c_str(),
                  kPathNames[static_cast<int>(path)], reason->c_str()),
          ++wrong;
    else if (!reason && !problems[i].empty())
      std::printf("%s fails on path %s: %s\n", cases[i].name.c_str(),
                  kPathNames[static_cast<int>(path)], problems[i].c_str()),
          ++wrong;
  }
  return wrong;
}

// Prints the listed tests that do not exist and returns their number. Meaningful only if all tests
// run.
static int unknownTests(const std::vector<Case> &cases, const Expectations &expectations,
                        const Options &options) {
  if (!options.filter.empty())
    return 0;
  std::set<std::string> names, prefixes;
  for (const Case &test : cases)
    names.insert(test.name), prefixes.insert(test.name.substr(0, test.name.find('/')));
  int wrong = 0;
  for (const std::string &test : expectations.tests())
    if (prefixes.contains(test.substr(0, test.find('/'))) && !names.contains(test))
      std::printf("%s is listed, but there is no such test\n", test.c_str()), ++wrong;
  return wrong;
}

static int runPath(const std::vector<Case> &cases, Path path, const Options &options,
                   const Expectations &expectations, std::ofstream &failures) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> problems =
      runIsolated(cases.size(), options.jobs, 600, [&](size_t i, const std::string &scratch) {
        return problemOf(cases[i], path, scratch);
      });
  for (size_t i = 0; i < cases.size(); ++i)
    if (!problems[i].empty())
      failures << kPathNames[static_cast<int>(path)] << '\t' << cases[i].name << '\t' << problems[i]
               << '\n';
  int wrong = compare(cases, problems, path, expectations);
  printTotals(cases, problems, path);
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%-9s %.1f s\n", kPathNames[static_cast<int>(path)], spent.count());
  return wrong;
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app{
      "Runs ONNX's conformance tests; fails where they behave otherwise than the list says."};
  app.add_option("SET", options.sets, "PREFIX=FOLDER: tests below a folder, named PREFIX/…")
      ->required();
  app.add_option("--expected", options.expected, "the list of tests that are not passed");
  app.add_option("--filter", options.filter, "only tests whose name contains this");
  app.add_option("--path", options.path, "interpret or compile; default: both");
  app.add_option("--failures", options.failures,
                 "writes path, test and message of all that is not passed");
  app.add_option("--jobs", options.jobs, "tests at a time")->capture_default_str();
  app.add_flag("--list", options.list, "only lists the tests");
  CLI11_PARSE(app, argc, argv);
  std::vector<Case> cases = casesOf(options);
  for (const Case &test : cases)
    if (options.list)
      std::cout << test.name << "\n";
  if (options.list)
    return 0;
  Result<Expectations> expectations = options.expected.empty()
                                          ? Result<Expectations>(Expectations())
                                          : Expectations::read(options.expected);
  if (!expectations) {
    std::cerr << expectations.status().message() << "\n";
    return 1;
  }
  std::ofstream failures(options.failures.empty() ? "/dev/null" : options.failures);
  int wrong = unknownTests(cases, *expectations, options);
  for (Path path : {Path::Interpret, Path::Compile})
    if (options.path.empty() || options.path == kPathNames[static_cast<int>(path)])
      wrong += runPath(cases, path, options, *expectations, failures);
  return wrong ? 1 : 0;
}
