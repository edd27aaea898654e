#include "fault/model/executable.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/context.h"
#include "fault/model/delivery.h"
#include "fault/model/handles.h"

namespace holdfast::fault::model {
namespace {

HandleTable<CUgraphExec, Executable, HandleKind::kExecutable>& Handles() {
  static auto* table = new HandleTable<CUgraphExec, Executable, HandleKind::kExecutable>;
  return *table;
}

// The real driver lets go of child graphs first, the last one first.
void Hold(const Graph& graph, std::uint64_t source, std::vector<Holding>* holdings) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    for (const std::unique_ptr<Graph>& owned : node->graphs) Hold(*owned, node->serial, holdings);
  }
  std::vector<Reference> references;
  graph.references.CopyTo(&references);
  if (references.empty()) return;
  holdings->push_back(Holding{source, std::make_shared<const HeldReferences>(std::move(references))});
}

}  // namespace

CUgraphExec Executable::Instantiate(Graph& graph, std::uint64_t flags, CUgraphNode* error_node) {
  std::unique_ptr<Executable> executable(new Executable(flags));
  executable->shared_ = std::make_shared<SharedProgram>();
  executable->shared_->program = Compile(graph, error_node);
  Hold(graph, 0, &executable->holdings_);
  const CUgraphExec handle = Handles().Insert(executable.get());
  static_cast<void>(executable.release());  // The handle owns it now.
  return handle;
}

Executable& Executable::Require(CUgraphExec handle) {
  Executable* executable = Handles().Find(handle);
  model::Require(executable != nullptr);
  return *executable;
}

void Executable::Destroy(CUgraphExec handle) {
  const std::unique_ptr<Executable> executable(Handles().Take(handle));
  model::Require(executable != nullptr);
  executable->LetGo(std::move(executable->holdings_));
}

void Executable::LetGo(std::vector<Holding> holdings) const {
  if (last_launch_ == nullptr) return;  // the argument goes with this frame
  auto last = std::make_shared<std::vector<Holding>>(std::move(holdings));
  RunOnInternalThread([last] { last->clear(); });
}

std::uint64_t Executable::live() { return Handles().live(); }

bool Executable::Update(Graph& graph, CUgraphExecUpdateResultInfo* info, std::vector<Holding>* dropped) {
  CUgraphNode error_node = nullptr;
  std::shared_ptr<Program> next = Compile(graph, &error_node);
  if (!CanReplace(*shared_->program, *next, graph, info)) return false;
  KeepIdentity(*shared_->program, next.get());
  auto shared = std::make_shared<SharedProgram>();
  shared->program = std::move(next);
  Hold(graph, 0, dropped);
  shared_ = std::move(shared);
  std::swap(holdings_, *dropped);
  return true;
}

// Acquire: what a launch read before it ended its reading happens before what is written now.
void Executable::MakeProgramUnshared() {
  if (shared_->readers.load(std::memory_order_acquire) == 0) return;
  auto shared = std::make_shared<SharedProgram>();
  shared->program = Copy(*shared_->program);
  shared_ = std::move(shared);
}

const ProgramPath& Executable::PathOf(const Node& node) {
  if (paths_.empty()) paths_ = PathsBySource(*shared_->program);
  const auto found = paths_.find(node.serial);
  model::Require(found != paths_.end());
  return found->second;
}

const ProgramNode& Executable::NodeOf(const Node& node) { return NodeAt(*shared_->program, PathOf(node)); }

void Executable::Change(const Node& node, const std::function<void(ProgramNode&)>& change) {
  const ProgramPath& path = PathOf(node);
  MakeProgramUnshared();
  change(NodeAt(*shared_->program, path));
}

void Executable::ChangeChild(const Node& node, Graph& graph, std::vector<Holding>* dropped) {
  const ProgramNode& current = NodeOf(node);
  model::Require(current.child != nullptr);
  CUgraphNode error_node = nullptr;
  std::shared_ptr<Program> next = Compile(graph, &error_node);
  CUgraphExecUpdateResultInfo info{};
  model::Require(CanReplace(*current.child, *next, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  KeepIdentity(*current.child, next.get());
  const auto is_replaced = [&node](const Holding& holding) { return holding.source == node.serial; };
  std::copy_if(holdings_.begin(), holdings_.end(), std::back_inserter(*dropped), is_replaced);
  std::vector<Holding> holdings;
  Hold(graph, node.serial, &holdings);
  std::remove_copy_if(holdings_.begin(), holdings_.end(), std::back_inserter(holdings), is_replaced);
  std::swap(holdings_, holdings);
  Change(node, [&next](ProgramNode& changed) { changed.child = std::move(next); });
}

void Executable::Launch(Stream& stream) {
  std::shared_ptr<SharedProgram> shared = shared_;
  auto bindings = std::make_shared<EventBindings>(BindEvents(*shared->program));
  auto held = std::make_shared<std::vector<Holding>>(holdings_);
  auto due = std::make_shared<std::vector<DueDestructor>>();
  StreamWork work;
  if (last_launch_ != nullptr) work.after.push_back(last_launch_);
  work.run = [shared, bindings, held, due] {
    RunProgram(*shared->program, *bindings);
    shared->readers.fetch_sub(1, std::memory_order_release);
    const DueCollector collector(due.get());
    held->clear();
  };
  work.then = [due] {
    LaunchEnds([due] {
      for (const DueDestructor& destructor : *due) Deliver(destructor);
    });
  };
  shared->readers.fetch_add(1, std::memory_order_relaxed);
  LaunchBegins();
  last_launch_ = Submit(stream, std::move(work));
}

}  // namespace holdfast::fault::model
