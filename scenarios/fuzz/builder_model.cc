#include "scenarios/fuzz/builder_model.h"

#include <algorithm>
#include <utility>

namespace holdfast::fuzz {

BuilderId BuilderModel::MakePrimary() {
  builders_.emplace_back();
  return static_cast<BuilderId>(builders_.size()) - 1;
}

BuilderId BuilderModel::MakeBody(GraphId body) {
  const BuilderId id = MakePrimary();
  builders_[id].kind = Builder::Kind::kBody;
  builders_[id].graph = body;
  graphs_.AddHandle(body);
  return id;
}

BuilderId BuilderModel::MakeFork(BuilderId from) {
  const BuilderId id = MakePrimary();
  const BuilderId owner = OwnerOf(from);
  builders_[id].kind = Builder::Kind::kForked;
  builders_[id].owner = owner;
  builders_[id].tail = builders_[from].tail;
  ++builders_[owner].holders;
  return id;
}

Builder::State BuilderModel::StateOf(BuilderId id) const {
  const Builder& builder = builders_[id];
  if (builder.state == Builder::State::kClosed) {
    return builder.state;
  }
  if (builder.kind == Builder::Kind::kForked) {
    const Builder::State capture = StateOf(builder.owner);
    const bool had_graph = capture == Builder::State::kCapturing || capture == Builder::State::kEnded;
    return had_graph ? capture : Builder::State::kInvalidated;
  }
  const bool graph_is_gone = builder.graph != kNone && !graphs_.graph(builder.graph).alive;
  return graph_is_gone ? Builder::State::kInvalidated : builder.state;
}

bool BuilderModel::IsCapturing(BuilderId id) const { return StateOf(id) == Builder::State::kCapturing; }

bool BuilderModel::HasFinishedGraph(BuilderId id) const {
  return builders_[id].kind != Builder::Kind::kForked && StateOf(id) == Builder::State::kEnded;
}

bool BuilderModel::HasDefinition(BuilderId id) const {
  const bool is_body_to_fill = builders_[id].kind == Builder::Kind::kBody && StateOf(id) == Builder::State::kNotStarted;
  return is_body_to_fill || HasFinishedGraph(id);
}

bool BuilderModel::CanEndWell(BuilderId id) const {
  const Builder& builder = builders_[id];
  if (builder.is_spoiled || builder.graph == kNone || builder.kind == Builder::Kind::kBody) {
    return !builder.is_spoiled;
  }
  const Graph& graph = graphs_.graph(builder.graph);
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](NodeId node) {
    // Others were not captured but placed by the library, which the driver does not look after.
    return graphs_.node(node).kind != NodeKind::kHost ||
           std::binary_search(builder.tail.begin(), builder.tail.end(), node) ||
           std::any_of(graph.edges.begin(), graph.edges.end(), [node](const auto& edge) { return edge.first == node; });
  });
}

BuilderId BuilderModel::EndsWith(BuilderId id) const {
  if (builders_[id].holders > 1) {
    return kNone;
  }
  const BuilderId owner = OwnerOf(id);
  const bool is_last = owner == id || builders_[owner].holders == 1;
  return is_last && builders_[owner].state == Builder::State::kCapturing ? owner : kNone;
}

void BuilderModel::Begin(BuilderId id) {
  Builder& builder = builders_[id];
  builder.state = Builder::State::kCapturing;
  if (builder.kind == Builder::Kind::kPrimary) {
    builder.graph = graphs_.CreateRoot();
    graphs_.AddHandle(builder.graph);
  }
  graphs_.SetCapturing(builder.graph, true);
}

void BuilderModel::Join(BuilderId root, std::span<const BuilderId> joined) {
  std::vector<NodeId> tail = builders_[root].tail;
  for (const BuilderId id : joined) {
    tail.insert(tail.end(), builders_[id].tail.begin(), builders_[id].tail.end());
    LetGo(id, /*capture_ends_with_graph=*/true);
  }
  std::sort(tail.begin(), tail.end());
  tail.erase(std::unique(tail.begin(), tail.end()), tail.end());
  builders_[root].tail = std::move(tail);
}

GraphId BuilderModel::End(BuilderId id, bool with_graph) {
  Builder& builder = builders_[id];
  const GraphId graph = builder.graph;
  graphs_.SetCapturing(graph, false);
  if (with_graph) {
    builder.state = Builder::State::kEnded;
    for (const NodeId node : std::exchange(builder.unplaced, {})) {
      graphs_.DestroyNode(node);
    }
    return kNone;
  }
  builder.state = Builder::State::kInvalidated;
  builder.graph = kNone;
  if (builder.kind == Builder::Kind::kPrimary) {
    graphs_.EndRoot(graph);
  } else {
    graphs_.EndBody(graph);
  }
  return graphs_.DropHandle(graph);
}

GraphId BuilderModel::LetGo(BuilderId id, bool capture_ends_with_graph) {
  Builder& builder = builders_[id];
  GraphId root = kNone;
  if (builder.state == Builder::State::kCapturing) {
    root = End(id, capture_ends_with_graph);
  }
  if (builder.graph != kNone) {
    root = graphs_.DropHandle(builder.graph);
    builder.graph = kNone;
  }
  builder.state = Builder::State::kClosed;
  const BuilderId owner = builder.owner;
  if (owner == kNone) {
    return root;
  }
  builder.owner = kNone;
  return DropHolder(owner) ? LetGo(owner, CanEndWell(owner)) : root;
}

}  // namespace holdfast::fuzz
