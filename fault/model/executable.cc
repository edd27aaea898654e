#include "fault/model/executable.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "fault/model/call.h"
#include "fault/model/delivery.h"
#include "fault/model/handles.h"
#include "fault/model/launch_memory.h"
#include "fault/model/program_update.h"

namespace holdfast::fault::model {
namespace {

HandleTable<CUgraphExec, Executable, HandleKind::kExecutable>& Handles() {
  static auto* table = new HandleTable<CUgraphExec, Executable, HandleKind::kExecutable>;
  return *table;
}

bool HasCopiesBelow(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return std::any_of(node.graphs.begin(), node.graphs.end(), [](const std::unique_ptr<Graph>& owned) {
      return owned->HasCopies() || HasCopiesBelow(*owned);
    });
  });
}

// A graph with conditional nodes is the only one of its kind: no clone, no embedded copy and no other executable of it
// may be there (facts B11 and B17). REQUIRES: it has some.
void RequireUncopied(const Graph& graph) {
  Require(!graph.HasCopies(), CUDA_ERROR_NOT_SUPPORTED);
  if (HasCopiesBelow(graph)) {
    Misuse(
        "a graph with conditional nodes is instantiated while a graph embedded in it has clones, copies or "
        "executables (the real driver crashes, fact B17)");
  }
}

// Null where the graph may have several executables.
std::shared_ptr<const void> TakeOnlyExecutable(Graph& graph) {
  if (!graph.HasMemoryNodes()) return nullptr;
  Require(graph.only_executable.expired(), CUDA_ERROR_NOT_SUPPORTED);
  auto token = std::make_shared<const char>('\0');
  graph.only_executable = token;
  return token;
}

}  // namespace

Executable::SharedProgram::SharedProgram(std::shared_ptr<Program> shared) : program(std::move(shared)) {
  CollectHoldings(*program, &holdings);
}

// The program goes first, so that `holdings` has the last say on its references.
Executable::SharedProgram::~SharedProgram() {
  program.reset();
  for (std::shared_ptr<const HeldReferences>& references : holdings) references.reset();
}

CUgraphExec Executable::Instantiate(Graph& graph, std::uint64_t flags, InstantiationError* error) {
  std::unique_ptr<Executable> executable(new Executable(flags));
  executable->has_conditions_ = graph.Has<ConditionalNode>();
  if (executable->has_conditions_) RequireUncopied(graph);
  executable->copy_of_ = graph.CopyToken();
  executable->only_executable_ = TakeOnlyExecutable(graph);
  executable->shared_ = std::make_shared<SharedProgram>(Compile(graph, CompileFor::kInstantiation, error));
  executable->conditions_ = std::make_shared<Conditions>();
  executable->has_memory_nodes_ = graph.HasMemoryNodesOutsideBodies();
  CollectConditions(*executable->shared_->program, graph, executable->conditions_.get());
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
  if (executable->has_conditions_ && executable->last_use_ != nullptr) executable->last_use_->Wait();  // fact B18
  Holdings holdings = executable->shared_->holdings;
  executable->shared_.reset();
  executable->LetGo(std::move(holdings));
}

void Executable::LetGo(Holdings holdings) const {
  if (last_use_ == nullptr) {
    for (std::shared_ptr<const HeldReferences>& references : holdings) references.reset();
    return;
  }
  auto last = std::make_shared<Holdings>(std::move(holdings));
  RunOnInternalThread([last] {
    for (std::shared_ptr<const HeldReferences>& references : *last) references.reset();
  });
}

std::uint64_t Executable::live() { return Handles().live(); }

bool Executable::Update(Graph& graph, CUgraphExecUpdateResultInfo* info, Holdings* dropped) {
  InstantiationError error;
  const std::shared_ptr<Program> next = Compile(graph, CompileFor::kUpdate, &error);
  std::shared_ptr<Program> updated = Updated(*shared_->program, *next, graph, info);
  if (updated == nullptr) return false;
  auto conditions = std::make_shared<Conditions>();
  CollectConditions(*updated, graph, conditions.get());
  conditions->KeepValues(*conditions_);
  auto shared = std::make_shared<SharedProgram>(std::move(updated));
  *dropped = shared_->holdings;
  shared_ = std::move(shared);
  conditions_ = std::move(conditions);
  return true;
}

// Acquire: what a launch read before it ended its reading happens before what is written now.
void Executable::MakeProgramUnshared() {
  if (shared_->readers.load(std::memory_order_acquire) == 0) return;
  shared_ = std::make_shared<SharedProgram>(Copy(*shared_->program));
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

void Executable::ChangeChild(const Node& node, Graph& graph, Holdings* dropped) {
  const ProgramNode& current = NodeOf(node);
  model::Require(std::holds_alternative<ChildGraphNode>(current.parameters));
  InstantiationError error;
  const std::shared_ptr<Program> next = Compile(graph, CompileFor::kUpdate, &error);
  CUgraphExecUpdateResultInfo info{};
  std::shared_ptr<Program> child = Updated(*current.graphs.front(), *next, graph, &info);
  model::Require(child != nullptr, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CollectHoldings(*current.graphs.front(), dropped);
  std::shared_ptr<Program> changed = Copy(*shared_->program);
  NodeAt(*changed, PathOf(node)).graphs.front() = std::move(child);
  shared_ = std::make_shared<SharedProgram>(std::move(changed));
}

void Executable::Upload(Stream& stream) {
  StreamWork work;
  if (last_use_ != nullptr) work.after.push_back(last_use_);
  last_use_ = Submit(stream, std::move(work));
}

void Executable::Launch(Stream& stream) {
  if (has_memory_nodes_) {
    ClaimMemory(*shared_->program, (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0);
  }
  std::shared_ptr<SharedProgram> shared = shared_;
  auto bindings = std::make_shared<EventBindings>(BindEvents(*shared->program));
  auto due = std::make_shared<std::vector<DueDestructor>>();
  shared->readers.fetch_add(1, std::memory_order_relaxed);
  StreamWork work;
  if (last_use_ != nullptr) work.after.push_back(last_use_);
  work.run = [shared = std::move(shared), conditions = conditions_, bindings, due]() mutable {
    RunProgram(*shared->program, *bindings, *conditions);
    shared->readers.fetch_sub(1, std::memory_order_release);
    const DueCollector collector(due.get());
    shared.reset();
  };
  work.then = [due] {
    LaunchEnds([due] {
      for (const DueDestructor& destructor : *due) Deliver(destructor);
    });
  };
  LaunchBegins();
  last_use_ = Submit(stream, std::move(work));
}

}  // namespace holdfast::fault::model
