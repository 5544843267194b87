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

// The index of the known range with the largest part of the mapping; -1 if there is none.
int knownIndex(const Mapping &mapping, const std::vector<KnownRange> &known) {
  uint64_t most = 0;
  int index = -1;
  for (size_t i = 0; i < known.size(); ++i) {
    uint64_t begin = reinterpret_cast<uint64_t>(known[i].begin), end = begin + known[i].bytes;
    uint64_t low = std::max(begin, mapping.begin), high = std::min(end, mapping.end);
    if (low < high && high - low > most)
      most = high - low, index = int(i);
  }
  return index;
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
    int index = knownIndex(mapping, known);
    if (index >= 0) {
      const std::string &name = known[size_t(index)].name;
      auto at = std::find_if(report.known.begin(), report.known.end(),
                             [&](const MemoryPart &part) { return part.name == name; });
      if (at == report.known.end())
        at = report.known.insert(at, {name, 0});
      // A mapping can be larger than the range, because the kernel merges adjacent mappings.
      uint64_t part = std::min(mapping.resident, known[size_t(index)].bytes);
      at->residentBytes += part;
      other["anonymous"] += mapping.resident - part;
    } else if (mapping.path == executable || isProgram(mapping.path)) {
      libraries[fileName(mapping.path)] += mapping.resident;
    } else if (mapping.path.empty()) {
      other["anonymous"] += mapping.resident;
    } else {
      other[mapping.path[0] == '[' ? mapping.path.substr(1, mapping.path.size() - 2)
                                   : fileName(mapping.path)] += mapping.resident;
    }
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
