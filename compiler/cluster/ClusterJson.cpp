// The JSON form of clusters. Fields are read by path, so that errors can name them.
#include "compiler/cluster/Cluster.h"

#include "runtime/base/Json.h"
#include "runtime/base/LinkLimits.h"
#include "runtime/base/Nearest.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace cleave::cluster {

using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

namespace {

// Reads one JSON object. Keeps its path and the fields read so far; the status with the first error
// is shared by all readers.
class ClusterReader {
public:
  ClusterReader(const json &value, std::string path, Status &status)
      : value_(value), path_(std::move(path)), status_(status) {
    if (!value.is_object())
      fail(path_, "found ", value.type_name(), ", expected an object");
  }

  bool has(const char *key) const { return value_.is_object() && value_.contains(key); }
  std::string pathOf(const std::string &key) const { return path_ + "/" + key; }

  // A number >= `least`, or > `least` if `isOpen`.
  double number(const char *key, double least, bool isOpen) {
    const json *field = find(key);
    if (!field)
      return 0;
    if (!field->is_number())
      fail(pathOf(key), "found ", field->type_name(), ", expected a number");
    else if (double got = field->get<double>();
             !std::isfinite(got) || got < least || (isOpen && got == least))
      fail(pathOf(key), "found ", field->dump(), ", expected a number ",
           isOpen ? "above " : "of at least ", json(least).dump());
    else
      return got;
    return 0;
  }

  int64_t integer(const char *key, int64_t least) {
    constexpr double kMost = 9007199254740992.0; // 2^53; doubles represent all integers up to it
    double value = number(key, static_cast<double>(least), false);
    if (status_ && (value != std::floor(value) || value > kMost))
      fail(pathOf(key), "found ", value_[key].dump(), ", expected a whole number",
           value > kMost ? " of at most 2^53" : "");
    return status_ ? static_cast<int64_t>(value) : 0;
  }

  std::string text(const char *key) {
    const json *field = find(key);
    if (!field)
      return "";
    if (field->is_string())
      return field->get<std::string>();
    fail(pathOf(key), "found ", field->type_name(), ", expected a string");
    return "";
  }

  ClusterReader object(const char *key) {
    static const json empty = json::object();
    const json *field = find(key);
    return ClusterReader(field ? *field : empty, pathOf(key), status_);
  }

  // The elements of a list; empty after an error.
  std::vector<json> list(const char *key) {
    const json *field = find(key);
    if (!field)
      return {};
    if (field->is_array())
      return field->get<std::vector<json>>();
    fail(pathOf(key), "found ", field->type_name(), ", expected a list");
    return {};
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    if (value_.is_object())
      for (auto &[key, field] : value_.items())
        names.push_back(key);
    return names;
  }

  // An error if there are fields that were not read, such as misspelt optional ones.
  void refuseOthers() {
    for (const std::string &key : keys())
      if (!asked_.count(key))
        fail(pathOf(key), "unknown field", suggestion(key, {asked_.begin(), asked_.end()}));
  }

  Status &status() { return status_; }
  // Sets the status, unless it is an error already. The message is the parts one after the other.
  template <typename... Parts> void fail(const std::string &path, const Parts &...message) {
    if (status_)
      status_ = Status::userError(path.empty() ? "/" : path, ": ", message...);
  }

private:
  const json *find(const char *key) {
    asked_.insert(key);
    if (has(key))
      return &value_[key];
    fail(pathOf(key), "this field is missing");
    return nullptr;
  }

  const json &value_;
  std::string path_;
  Status &status_;
  std::set<std::string> asked_;
};

Curve readCurve(ClusterReader &reader, const char *key) {
  Curve curve;
  if (!reader.has(key))
    return curve;
  for (size_t k = 0; const json &point : reader.list(key)) {
    std::string path = concat(reader.pathOf(key), "/", k++);
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) {
      reader.fail(path, "found ", point.dump(), ", expected [size, share]");
      return curve;
    }
    double size = point[0], share = point[1];
    if (!(share > 0 && share <= 1))
      reader.fail(path, "found the share ", point[1].dump(),
                  ", expected one above 0 and at most 1");
    if (!(size > 0) || (!curve.points.empty() && size <= curve.points.back().first))
      reader.fail(path, "found the size ", point[0].dump(), ", expected sizes above 0 that rise");
    curve.points.push_back({size, share});
  }
  return curve;
}

std::vector<Tile> readTiles(ClusterReader &reader) {
  std::vector<Tile> tiles;
  if (!reader.has("tiles"))
    return tiles;
  for (size_t k = 0; const json &value : reader.list("tiles")) {
    std::string path = concat(reader.pathOf("tiles"), "/", k++);
    bool isTile = value.is_array() && value.size() == 3 && value[0].is_number_integer() &&
                  value[1].is_number_integer() && value[2].is_number();
    if (!isTile) {
      reader.fail(path, "found ", value.dump(), ", expected [rows, columns, share]");
      return tiles;
    }
    Tile tile{value[0], value[1], value[2]};
    if (tile.rows < 1 || tile.columns < 1 || !(tile.share > 0 && tile.share <= 1))
      reader.fail(path, "found ", value.dump(),
                  ", expected rows and columns of at least 1 and a share above 0 and at most 1");
    tiles.push_back(tile);
  }
  return tiles;
}

Link readLink(ClusterReader reader) {
  Link link;
  if (reader.has("ranks"))
    link.ranks = reader.integer("ranks", 0);
  link.latencySeconds = reader.number("latency_seconds", 0, false);
  if (reader.has("hop_seconds"))
    link.hopSeconds = reader.number("hop_seconds", 0, false);
  if (reader.has("doubling_seconds"))
    link.doublingSeconds = reader.number("doubling_seconds", 0, true);
  link.bytesPerSecond = reader.number("bytes_per_second", 0, true);
  reader.refuseOthers();
  return link;
}

// A link between device memory and another space.
Link readSpaceLink(ClusterReader reader) {
  const Link link = readLink(reader);
  if (link.bytesPerSecond < kLeastLinkBytesPerSecond)
    reader.fail(reader.pathOf("bytes_per_second"), "found ", link.bytesPerSecond,
                ", expected at least ", kLeastLinkBytesPerSecond);
  if (link.latencySeconds > kMostLinkLatencySeconds)
    reader.fail(reader.pathOf("latency_seconds"), "found ", link.latencySeconds,
                ", expected at most ", kMostLinkLatencySeconds);
  return link;
}

Level readLevel(const json &value, const std::string &path, Status &status) {
  ClusterReader reader(value, path, status);
  Level level;
  level.name = reader.text("name");
  level.devices = reader.integer("devices", 0);
  ClusterReader links = reader.object("links");
  for (CollectiveKind kind : linkKinds()) {
    const std::string field = linkName(kind);
    if (!links.has(field.c_str()))
      continue;
    std::vector<Link> &entries = level.links[kind];
    for (size_t i = 0; const json &entry : links.list(field.c_str())) {
      std::string entryPath = concat(links.pathOf(field), "/", i++);
      entries.push_back(readLink(ClusterReader(entry, entryPath, status)));
    }
    if (entries.empty())
      links.fail(links.pathOf(field), "the list is empty, expected at least one entry");
  }
  if (!level.links.count(CollectiveKind::Send))
    links.fail(links.pathOf(linkName(CollectiveKind::Send)), "this field is missing");
  links.refuseOthers();
  reader.refuseOthers();
  return level;
}

void readCompute(ClusterReader reader, Cluster &cluster) {
  for (const std::string &type : reader.keys()) {
    ClusterReader entry = reader.object(type.c_str());
    Compute &compute = cluster.compute[type];
    compute.peakFlops = entry.number("peak_flops", 0, true);
    compute.efficiency = readCurve(entry, "efficiency");
    compute.tiles = readTiles(entry);
    if (!compute.tiles.empty() && !cluster.processors)
      entry.fail(entry.pathOf("tiles"), "the field /processors is missing, of which there are as "
                                        "many as tiles are computed at a time");
    entry.refuseOthers();
  }
  if (!cluster.compute.count("f32"))
    reader.fail(reader.pathOf("f32"), "this field is missing");
}

LibraryAttention readLibraryAttention(ClusterReader reader) {
  LibraryAttention attention;
  attention.forward = readCurve(reader, "forward");
  attention.gradient = readCurve(reader, "gradient");
  for (const char *key : {"forward", "gradient"})
    if (!reader.has(key))
      reader.fail(reader.pathOf(key), "this field is missing");
  reader.refuseOthers();
  return attention;
}

void readMemory(ClusterReader reader, Cluster &cluster) {
  cluster.deviceBytes = reader.integer("device_bytes", 1);
  if (reader.has("reserved_bytes"))
    cluster.reservedBytes = reader.integer("reserved_bytes", 0);
  cluster.hostBytes = reader.integer("host_bytes", 0);
  if (reader.status() && cluster.usableBytes() <= 0)
    reader.fail(reader.pathOf("reserved_bytes"), "nothing of device_bytes is left");
  reader.refuseOthers();
}

Cluster readCluster(const json &root, Status &status) {
  Cluster cluster;
  ClusterReader reader(root, "", status);
  cluster.name = reader.text("name");
  if (reader.has("source"))
    cluster.source = reader.text("source");
  std::string kind = reader.text("kind");
  if (status && kind != "cpu" && kind != "gpu")
    reader.fail("/kind", "found '", kind, "', expected 'cpu' or 'gpu'");
  cluster.isCpu = kind == "cpu";
  if (reader.has("target"))
    cluster.target = reader.text("target");
  cluster.nodes = reader.integer("nodes", 0);
  cluster.devicesPerNode = reader.integer("devices_per_node", 1);
  readMemory(reader.object("memory"), cluster);
  if (reader.has("processors"))
    cluster.processors = reader.integer("processors", 1);
  if (reader.has("tile_seconds"))
    cluster.tileSeconds = reader.number("tile_seconds", 0, false);
  readCompute(reader.object("compute"), cluster);
  if (reader.has("vector_flops"))
    cluster.vectorFlops = reader.number("vector_flops", 0, true);
  if (reader.has("attention_flops"))
    cluster.attentionFlops = reader.number("attention_flops", 0, true);
  if (reader.has("library_attention"))
    cluster.libraryAttention = readLibraryAttention(reader.object("library_attention"));
  if (reader.has("columns_per_second"))
    cluster.columnsPerSecond = reader.number("columns_per_second", 0, true);
  ClusterReader bandwidth = reader.object("memory_bandwidth");
  cluster.memoryBytesPerSecond = bandwidth.number("bytes_per_second", 0, true);
  cluster.memoryEfficiency = readCurve(bandwidth, "efficiency");
  bandwidth.refuseOthers();
  cluster.launchSeconds = reader.number("launch_seconds", 0, false);
  cluster.hostLink = readSpaceLink(reader.object("host_link"));
  if (reader.has("file_link"))
    cluster.fileLink = readSpaceLink(reader.object("file_link"));
  for (size_t k = 0; const json &level : reader.list("levels"))
    cluster.levels.push_back(readLevel(level, concat("/levels/", k++), status));
  if (status && cluster.levels.empty())
    reader.fail("/levels", "the list is empty, expected at least one level");
  for (size_t k = 1; status && k < cluster.levels.size(); ++k)
    if (cluster.levels[k].devices != 0 &&
        (cluster.levels[k - 1].devices == 0 ||
         cluster.levels[k].devices <= cluster.levels[k - 1].devices))
      reader.fail(concat("/levels/", k, "/devices"),
                  "expected more than the level before spans, or 0 for all");
  reader.refuseOthers();
  return cluster;
}

OrderedJson curveToJson(const Curve &curve) {
  OrderedJson points = OrderedJson::array();
  for (auto [size, share] : curve.points)
    points.push_back({size, share});
  return points;
}

OrderedJson linkToJson(const Link &link) {
  OrderedJson value;
  if (link.ranks)
    value["ranks"] = link.ranks;
  value["latency_seconds"] = link.latencySeconds;
  if (link.hopSeconds > 0)
    value["hop_seconds"] = link.hopSeconds;
  if (link.doublingSeconds > 0)
    value["doubling_seconds"] = link.doublingSeconds;
  value["bytes_per_second"] = link.bytesPerSecond;
  return value;
}

OrderedJson levelToJson(const Level &level) {
  OrderedJson links = OrderedJson::object();
  for (auto &[kind, entries] : level.links)
    for (const Link &link : entries)
      links[linkName(kind)].push_back(linkToJson(link));
  return {{"name", level.name}, {"devices", level.devices}, {"links", links}};
}

} // namespace

Result<Cluster> fromJson(const std::string &text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    try {
      root = json::parse(text);
    } catch (const json::exception &error) {
      return Status::userError("not JSON: ", jsonReason(error));
    }
  }
  Status status;
  Cluster cluster = readCluster(root, status);
  if (!status)
    return status;
  return cluster;
}

std::string toJson(const Cluster &cluster) {
  OrderedJson compute = OrderedJson::object(), levels = OrderedJson::array();
  for (auto &[type, entry] : cluster.compute) {
    compute[type] = {{"peak_flops", entry.peakFlops},
                     {"efficiency", curveToJson(entry.efficiency)}};
    for (const Tile &tile : entry.tiles)
      compute[type]["tiles"].push_back({tile.rows, tile.columns, tile.share});
  }
  for (const Level &level : cluster.levels)
    levels.push_back(levelToJson(level));
  OrderedJson root = {{"name", cluster.name},
                      {"source", cluster.source},
                      {"kind", cluster.isCpu ? "cpu" : "gpu"},
                      {"nodes", cluster.nodes},
                      {"devices_per_node", cluster.devicesPerNode},
                      {"memory",
                       {{"device_bytes", cluster.deviceBytes},
                        {"reserved_bytes", cluster.reservedBytes},
                        {"host_bytes", cluster.hostBytes}}},
                      {"compute", compute},
                      {"memory_bandwidth",
                       {{"bytes_per_second", cluster.memoryBytesPerSecond},
                        {"efficiency", curveToJson(cluster.memoryEfficiency)}}},
                      {"launch_seconds", cluster.launchSeconds},
                      {"host_link", linkToJson(cluster.hostLink)},
                      {"file_link", linkToJson(cluster.fileLink)},
                      {"levels", levels}};
  if (!cluster.target.empty())
    root["target"] = cluster.target;
  if (cluster.processors > 0)
    root["processors"] = cluster.processors;
  if (cluster.tileSeconds > 0)
    root["tile_seconds"] = cluster.tileSeconds;
  if (cluster.vectorFlops > 0)
    root["vector_flops"] = cluster.vectorFlops;
  if (cluster.attentionFlops > 0)
    root["attention_flops"] = cluster.attentionFlops;
  if (!cluster.libraryAttention.forward.points.empty())
    root["library_attention"] = {{"forward", curveToJson(cluster.libraryAttention.forward)},
                                 {"gradient", curveToJson(cluster.libraryAttention.gradient)}};
  if (cluster.columnsPerSecond > 0)
    root["columns_per_second"] = cluster.columnsPerSecond;
  return root.dump(1);
}

} // namespace cleave::cluster
