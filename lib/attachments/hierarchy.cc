#include "lib/attachments/hierarchy.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "lib/attachments/metadata_copy.h"
#include "lib/cleanup/deferred_cleanup.h"
#include "lib/driver/driver.h"
#include "lib/driver/status.h"

namespace holdfast::attachments {

using cleanup::DeferredCleanup;
using driver::Check;
using driver::GetDriver;

GraphHandle Hierarchy::PrepareRoot() {
  DeferredCleanup::Process().RequireStarted();
  std::shared_ptr<Hierarchy> hierarchy(new Hierarchy);
  hierarchy->root_ = std::make_shared<GraphBox>(*hierarchy, GraphBox::Kind::kRoot);
  return hierarchy->root_->Handle();
}

void Hierarchy::PublishRoot(const GraphHandle& root, CUgraph graph) noexcept { Register(*root, graph); }

GraphHandle Hierarchy::CreateRoot() {
  GraphHandle root = PrepareRoot();
  CUgraph graph = nullptr;
  Check("cuGraphCreate", GetDriver().cuGraphCreate(&graph, 0u), "creating a graph");
  PublishRoot(root, graph);
  return root;
}

GraphHandle Hierarchy::CloneRoot(GraphBox& source) {
  GraphHandle clone = PrepareRoot();
  MetadataCopy copy(source, clone->hierarchy());
  std::shared_ptr<const void> copy_of = source.CopyToken();
  CUgraph graph = nullptr;
  Check("cuGraphClone", GetDriver().cuGraphClone(&graph, source.graph()), "cloning a graph");
  // From here on the clone goes with its handle, whatever happens.
  PublishRoot(clone, graph);
  clone->set_copy_of(std::move(copy_of));
  copy.Rekey(graph);
  copy.Publish(*clone);
  return clone;
}

GraphHandle Hierarchy::Find(CUgraph graph) {
  const std::shared_ptr<GraphBox> box = GraphRegistry::Process().Find(graph);
  return box != nullptr && box->graph() == graph ? box->Handle() : nullptr;
}

Hierarchy::~Hierarchy() {
  if (root_ == nullptr || !root_->IsAlive()) {
    return;
  }
  const CUgraph graph = root_->graph();
  UnregisterTree(*root_);
  if (capturing_ || has_lost_body_) {
    return;
  }
  driver::ReportCleanupFailure("cuGraphDestroy", GetDriver().cuGraphDestroy(graph), graph);
  DeferredCleanup::Process().OnSafeEntry();
}

std::shared_ptr<GraphBox> Hierarchy::PrepareOwned(GraphBox::Kind kind) {
  return std::make_shared<GraphBox>(*this, kind);
}

void Hierarchy::PublishOwned(GraphBox& parent, CUgraphNode node, OwnedGraphs::Entry entry,
                             std::span<const CUgraph> graphs) noexcept {
  OwnedGraphs::Boxes& boxes = entry.mapped();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i]->parent_ = &parent;
    boxes[i]->owner_node_ = node;
    Register(*boxes[i], graphs[i]);
  }
  parent.owned_graphs().Insert(node, std::move(entry));
}

const OwnedGraphs::Boxes& Hierarchy::FindOrMakeOwned(GraphBox& parent, CUgraphNode node, GraphBox::Kind kind,
                                                     std::span<const CUgraph> graphs) {
  const OwnedGraphs::Boxes& known = parent.owned_graphs().Of(node);
  bool same = known.size() == graphs.size();
  for (std::size_t i = 0; same && i < graphs.size(); ++i) {
    same = known[i]->graph() == graphs[i];
  }
  if (!same) {
    OwnedGraphs::Boxes boxes;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      boxes.push_back(PrepareOwned(kind));
    }
    OwnedGraphs::Entry entry = parent.owned_graphs().MakeEntry(std::move(boxes));
    // What was known was replaced behind the library's back.
    EndOwned(parent, node);
    PublishOwned(parent, node, std::move(entry), graphs);
  }
  return parent.owned_graphs().Of(node);
}

OwnedGraphs::Entry Hierarchy::PrepareAbsorb(GraphBox& parent, const GraphHandle& root) {
  return parent.owned_graphs().MakeEntry({root->shared_from_this()});
}

void Hierarchy::Absorb(GraphBox& parent, CUgraphNode node, const GraphHandle& root, OwnedGraphs::Entry entry) noexcept {
  Hierarchy& absorbed = root->hierarchy();
  absorbed.absorbed_by_ = parent.hierarchy().shared_from_this();
  absorbed.root_ = nullptr;
  parent.hierarchy().has_lost_body_ |= absorbed.has_lost_body_;
  MoveTree(*root, parent.hierarchy());
  root->kind_.store(GraphBox::Kind::kChild, std::memory_order_relaxed);
  root->parent_ = &parent;
  root->owner_node_ = node;
  parent.owned_graphs().Insert(node, std::move(entry));
}

void Hierarchy::EndOwned(GraphBox& parent, CUgraphNode node) noexcept {
  const OwnedGraphs::Entry ended = parent.owned_graphs().Take(node);
  if (ended.empty()) {
    return;
  }
  for (const std::shared_ptr<GraphBox>& box : ended.mapped()) {
    EntombTree(*box);
  }
}

void Hierarchy::EndRoot() noexcept {
  capturing_ = false;
  EntombTree(*root_);
}

void Hierarchy::EndBody(GraphBox& body) noexcept {
  has_lost_body_ = true;
  EntombTree(body);
}

void Hierarchy::RequireWhole(const char* operation) const {
  if (has_lost_body_) {
    throw std::logic_error(std::string(operation) +
                           ": the capture of a body in this graph ended in error, and the driver cannot go on with the "
                           "graph; make it again");
  }
}

void Hierarchy::Register(GraphBox& box, CUgraph graph) noexcept {
  box.graph_.store(graph, std::memory_order_relaxed);
  GraphRegistry::Process().Add(graph, box.weak_from_this(), std::move(box.registry_room_));
}

void Hierarchy::UnregisterTree(GraphBox& box) noexcept {
  for (const auto& [node, boxes] : box.owned_graphs().entries()) {
    for (const std::shared_ptr<GraphBox>& owned : boxes) {
      UnregisterTree(*owned);
    }
  }
  if (box.IsAlive()) {
    GraphRegistry::Process().Remove(box.graph(), box);
  }
}

void Hierarchy::MoveTree(GraphBox& box, Hierarchy& target) noexcept {
  box.SetHierarchy(target);
  for (const auto& [node, boxes] : box.owned_graphs().entries()) {
    for (const std::shared_ptr<GraphBox>& owned : boxes) {
      MoveTree(*owned, target);
    }
  }
}

void Hierarchy::EntombTree(GraphBox& box) noexcept {
  if (!box.IsAlive()) {
    return;
  }
  for (const auto& [node, boxes] : box.owned_graphs().TakeAll()) {
    for (const std::shared_ptr<GraphBox>& owned : boxes) {
      EntombTree(*owned);
    }
  }
  box.node_records().EndAll();
  GraphRegistry::Process().Remove(box.graph(), box);
  box.graph_.store(nullptr, std::memory_order_relaxed);
  box.index().Clear();
  box.copy_of_ = nullptr;
  box.parent_ = nullptr;
  box.owner_node_ = nullptr;
}

}  // namespace holdfast::attachments
