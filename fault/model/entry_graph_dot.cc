// Entry point: a graph as a file that Graphviz reads.
#include <cuda.h>

#include <cstddef>
#include <fstream>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/graph.h"

namespace holdfast::fault::model {
namespace {

const char* NameOf(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "EVENT_WAIT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "CONDITIONAL";
    default:
      return "UNKNOWN";
  }
}

// Writes graphs one after the other; those that nodes own come after the graph of the node.
class DotWriter {
 public:
  DotWriter(std::ostream& out, const Graph& root) : out_(out), graphs_{&root} { numbers_[&root] = 1; }

  void Write() {
    out_ << "digraph dot {\n";
    for (std::size_t i = 0; i < graphs_.size(); ++i) WriteGraph(*graphs_[i]);
    out_ << "}\n";
  }

 private:
  void WriteGraph(const Graph& graph) {
    const std::string name = "graph_" + std::to_string(numbers_.at(&graph));
    out_ << "subgraph cluster_" << numbers_.at(&graph) << " {\nlabel=\"" << name << "\" graph[style=\"dashed\"];\n";
    std::uint32_t position = 0;
    for (const Node& node : graph.nodes) {
      node.mark = position++;
      WriteNode(name, node);
    }
    for (const Node& node : graph.nodes) {
      for (const Node* dependent : node.dependents) {
        out_ << '"' << name << "_node_" << node.mark << "\" -> \"" << name << "_node_" << dependent->mark << "\";\n";
      }
    }
    out_ << "}\n";
  }

  void WriteNode(const std::string& graph, const Node& node) {
    out_ << '"' << graph << "_node_" << node.mark << "\"[style=\"solid\" shape=\"rectangle\" label=\"" << node.mark
         << "\\n"
         << NameOf(TypeOf(node.parameters));
    if (const auto* kernel = std::get_if<KernelNode>(&node.parameters)) out_ << "\\n" << kernel->kernel->name;
    for (const std::unique_ptr<Graph>& owned : node.graphs) {
      graphs_.push_back(owned.get());
      numbers_[owned.get()] = graphs_.size();
      out_ << "\\ngraph_" << graphs_.size();
    }
    out_ << "\"];\n";
  }

  std::ostream& out_;
  std::vector<const Graph*> graphs_;
  std::unordered_map<const Graph*, std::size_t> numbers_;
};

}  // namespace

extern "C" {

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int) {
  return Enter(__func__, Rule::kInCallback, [&] {
    Graph& printed = Graph::Require(graph);
    const GraphUse use(printed);
    Require(path != nullptr);
    std::ofstream file(path);
    Require(file.is_open(), CUDA_ERROR_OPERATING_SYSTEM);
    DotWriter(file, printed).Write();
    file.close();
    Require(!file.fail(), CUDA_ERROR_OPERATING_SYSTEM);
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
