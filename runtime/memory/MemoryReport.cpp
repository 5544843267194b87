// See MemoryReport.h.
#include "runtime/memory/MemoryReport.h"

#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace cleave::memory {
namespace {

// One mapping of /proc/self/smaps.
struct Mapping {
  uint64_t begin = 0, end = 0;
  std::string path; // empty: anonymous
  uint64_t resident = 0;
};

std::vector<Mapping> readMappings() {
  std::vector<Mapping> mappings;
  std::ifstream file("/proc/self/smaps");
  for (std::string line; std::getline(file, line);) {
    unsigned long begin, end, kilobytes;
    int at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &at) == 2 && at > 0)
      mappings.push_back({begin, end, line.substr(size_t(at)), 0});
    else if (std::sscanf(line.c_str(), "Rss: %lu kB", &kilobytes) == 1 && !mappings.empty())
      mappings.back().resident = uint64_t(kilobytes) * 1024;
  }
  return mappings;
}

bool isProgram(const std::string &path) {
  return path.find(".so") != std::string::npos ||
         path.find("memfd:cleave-kernels") != std::string::npos;
}

std::string fileName(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string executablePath() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::getline(maps, line); // the executable is mapped first
  size_t slash = line.find('/');
  return slash == std::string::npos ? "" : line.substr(slash);
}

std::vector<MemoryPart> largestFirst(const std::map<std::string, uint64_t> &parts) {
  std::vector<MemoryPart> sorted;
  for (const auto &[name, bytes] : parts)
    if (bytes)
      sorted.push_back({name, bytes});
  std::stable_sort(sorted.begin(), sorted.end(), [](const MemoryPart &a, const MemoryPart &b) {
    return a.residentBytes > b.residentBytes;
  });
  return sorted;
}

// Adds the parts of the mapping that belong to known ranges, and returns the bytes of the others.
// The kernel merges adjacent mappings, so that one may hold several ranges.
uint64_t addKnown(const Mapping &mapping, const std::vector<KnownRange> &known,
                  std::vector<MemoryPart> &parts) {
  uint64_t rest = mapping.resident;
  for (const KnownRange &range : known) {
    uint64_t begin = reinterpret_cast<uint64_t>(range.begin), end = begin + range.bytes;
    uint64_t low = std::max(begin, mapping.begin), high = std::min(end, mapping.end);
    if (low >= high)
      continue;
    auto at = std::find_if(parts.begin(), parts.end(),
                           [&](const MemoryPart &part) { return part.name == range.name; });
    if (at == parts.end())
      at = parts.insert(at, {range.name, 0});
    uint64_t bytes = std::min(rest, high - low);
    at->residentBytes += bytes;
    rest -= bytes;
  }
  return rest;
}

} // namespace

uint64_t peakResidentBytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    unsigned long kilobytes;
    if (std::sscanf(line.c_str(), "VmHWM: %lu kB", &kilobytes) == 1)
      return uint64_t(kilobytes) * 1024;
  }
  return 0;
}

Result<MemoryReport> memoryReport(const std::vector<KnownRange> &known) {
  MemoryReport report;
  std::map<std::string, uint64_t> libraries, other;
  std::string executable = executablePath();
  for (const Mapping &mapping : readMappings()) {
    report.residentBytes += mapping.resident;
    uint64_t rest = addKnown(mapping, known, report.known);
    if (rest == 0)
      continue;
    if (mapping.path == executable || isProgram(mapping.path))
      libraries[fileName(mapping.path)] += rest;
    else if (mapping.path.empty())
      other["anonymous"] += rest;
    else
      other[mapping.path[0] == '[' ? mapping.path.substr(1, mapping.path.size() - 2)
                                   : fileName(mapping.path)] += rest;
  }
  if (report.residentBytes == 0)
    return Status::defect("cannot read /proc/self/smaps");
  report.libraries = largestFirst(libraries);
  report.other = largestFirst(other);
  report.peakBytes = peakResidentBytes();
  return report;
}

double MemoryReport::explained() const {
  uint64_t peak = std::max(peakBytes, residentBytes);
  return peak ? double(residentBytes) / double(peak) : 0;
}

std::string MemoryReport::str() const {
  Table table({"part", ">resident"});
  for (const MemoryPart &part : known)
    table.add({part.name, bytesText(part.residentBytes)});
  uint64_t code = 0;
  for (const MemoryPart &part : libraries)
    code += part.residentBytes;
  table.add({"program and libraries", bytesText(code)});
  for (const MemoryPart &part : libraries)
    table.add({"  " + part.name, bytesText(part.residentBytes)});
  for (const MemoryPart &part : other)
    table.add({part.name, bytesText(part.residentBytes)});
  table.add({"resident now", bytesText(residentBytes)});
  table.add({"peak (VmHWM)", bytesText(peakBytes)});
  table.add({"explained", percentText(explained())});
  return table.str();
}

} // namespace cleave::memory
