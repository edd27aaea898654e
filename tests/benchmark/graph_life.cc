#include "tests/benchmark/graph_life.h"

#include <memory>
#include <optional>
#include <stdexcept>

#include "lib/cleanup/deferred_cleanup.h"
#include "lib/graph/graph_definition.h"
#include "lib/graph/graph_exec.h"

namespace holdfast::benchmarks {
namespace {

void CUDA_CB Nothing(void*) {}

struct World {
  HostCallback NewCallback() { return {&Nothing, nullptr, std::make_shared<int>(0), nullptr}; }

  std::size_t node_count = 0;
  std::optional<GraphDefinition> source;
  std::optional<GraphDefinition> clone;
  std::optional<GraphDefinition> parent;
  std::vector<GraphNode> nodes;
  GraphNode embedding;
};

void Require(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error(std::string("the benchmark's graph is not as it should be: ") + what);
  }
}

void DrainAll() {
  cleanup::DeferredCleanup& cleanup = cleanup::DeferredCleanup::Process();
  while (cleanup.HasWork()) {
    cleanup.Drain();
  }
}

}  // namespace

std::vector<Step> GraphLife(std::size_t node_count) {
  const auto world = std::make_shared<World>();
  world->node_count = node_count;
  return {
      {"add",
       [world] {
         world->source.emplace();
         for (std::size_t i = 0; i < world->node_count; ++i) {
           world->source->AddHostNode(world->NewCallback());
         }
       }},
      {"find",
       [world] {
         world->nodes = world->source->Nodes();
         Require(world->nodes.size() == world->node_count, "nodes");
       }},
      {"update",
       [world] {
         for (GraphNode& node : world->nodes) {
           node.UpdateHost(world->NewCallback());
         }
       }},
      {"clone",
       [world] {
         world->clone = world->source->Clone();
         Require(world->clone->attachment_count() == world->node_count, "attachments of the clone");
       }},
      {"destroy half of the nodes",
       [world] {
         for (std::size_t i = 0; i < world->nodes.size(); i += 2) {
           world->nodes[i].Destroy();
         }
       }},
      {"drop the nodes' handles", [world] { world->nodes.clear(); }},
      {"embed",
       [world] {
         world->parent.emplace();
         world->embedding = world->parent->AddChildGraphNode(*world->clone);
         Require(world->embedding.ChildGraph().attachment_count() == world->node_count, "attachments of the copy");
       }},
      {"destroy the embedded copy", [world] { world->embedding.Destroy(); }},
      {"destroy the source", [world] { world->source.reset(); }},
      {"destroy the clone", [world] { world->clone.reset(); }},
      {"drain",
       [world] {
         DrainAll();
         world->embedding = GraphNode();
         world->parent.reset();
         Require(!cleanup::DeferredCleanup::Process().HasWork(), "the cleanup queue");
       }},
  };
}

}  // namespace holdfast::benchmarks
