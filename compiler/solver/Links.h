// Links: the edges of a node by the node at their other end, in rising order. A sorted list: most
// nodes have fewer than ten, and every step of the solver passes over all of them.
#pragma once

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace cleave::solver {

// The interface is the part of std::map<int, int> that the solver uses.
class Links {
public:
  using Link = std::pair<int, int>; // neighbour, edge

  auto begin() const { return links_.begin(); }
  auto end() const { return links_.end(); }
  size_t size() const { return links_.size(); }
  bool empty() const { return links_.empty(); }
  void clear() { links_.clear(); }
  void reserve(size_t count) { links_.reserve(count); }

  // The edge to a neighbour.
  int at(int neighbour) const {
    assert(contains(neighbour) && "nodes are neighbours");
    return place(neighbour)->second;
  }
  bool contains(int neighbour) const {
    const auto found = place(neighbour);
    return found != links_.end() && found->first == neighbour;
  }
  // The edge to a neighbour, and whether it is new.
  std::pair<int, bool> insert(Link link) {
    const auto found = place(link.first);
    if (found != links_.end() && found->first == link.first)
      return {found->second, false};
    links_.insert(found, link);
    return {link.second, true};
  }
  void erase(int neighbour) {
    if (contains(neighbour))
      links_.erase(place(neighbour));
  }

private:
  std::vector<Link>::const_iterator place(int neighbour) const {
    return std::lower_bound(links_.begin(), links_.end(), neighbour,
                            [](const Link &link, int other) { return link.first < other; });
  }

  std::vector<Link> links_;
};

} // namespace cleave::solver
