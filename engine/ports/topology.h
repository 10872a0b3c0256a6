#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/ids.h"

// Pipelines as a topology (a file, or Kubernetes) describes them.
namespace flow::port {

struct Inlet {
  std::string name;
  TopicName topic;
  std::optional<GroupId> group;  // absent: <pipeline>.<streamlet>.<inlet>
  std::string workload;          // deployment/NAME or statefulset/NAME; empty: none
  std::string cluster;           // empty: the control topic's own
};

struct Streamlet {
  std::string name;
  std::vector<Inlet> inlets;
};

struct Pipeline {
  std::string namespace_name;  // empty: any
  std::string name;
  std::vector<Streamlet> streamlets;
};

struct Topology {
  // Whether it was read whole; while false, what it lacks may still come, and nothing is refused
  // for good.
  bool whole = false;
  std::string source;   // for people: the file's name, or "kubernetes", or "none"
  std::string problem;  // for people: why it is not whole
  std::vector<Pipeline> pipelines;
};

// Where a topology comes from. The engine asks again before each decision; the answer is cheap.
class TopologySource {
 public:
  virtual ~TopologySource() = default;
  virtual const Topology& current() = 0;
};

}  // namespace flow::port
