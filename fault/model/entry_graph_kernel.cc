// Entry points: attributes of kernel nodes.
#include <cuda.h>

#include <memory>
#include <utility>

#include "fault/model/call.h"
#include "fault/model/graph.h"
#include "fault/model/kernel_attributes.h"

namespace holdfast::fault::model {
namespace {

KernelNode& RequireKernelNode(Node& node) {
  auto* kernel = std::get_if<KernelNode>(&node.parameters);
  Require(kernel != nullptr);
  return *kernel;
}

void RequireValue(const CUlaunchAttributeValue* value) {
  if (value == nullptr) Misuse("the value of an attribute is null (the real driver crashes)");
}

// Strong: on a throw the node has what it had.
void GiveAttributes(KernelNode& node, const KernelAttributes& attributes) {
  RequireAttributes(*node.kernel, node.shape, attributes);
  node.attributes = std::make_shared<const KernelAttributes>(attributes);
}

}  // namespace

extern "C" {

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID attribute, CUlaunchAttributeValue* value) {
  return Enter(__func__, Rule::kNormal, [&] {
    Node& asked = RequireNode(node);
    const GraphUse use(*asked.graph);
    const KernelNode& kernel = RequireKernelNode(asked);
    RequireValue(value);
    GetAttribute(AttributesOf(kernel), attribute, value);
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue* value) {
  return Enter(__func__, Rule::kNormal, [&] {
    Node& changed = RequireNode(node);
    const GraphUse use(*changed.graph);
    KernelNode& kernel = RequireKernelNode(changed);
    RequireValue(value);
    KernelAttributes attributes = AttributesOf(kernel);
    SetAttribute(&attributes, attribute, *value);
    GiveAttributes(kernel, attributes);
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode target, CUgraphNode source) {
  return Enter(__func__, Rule::kNormal, [&] {
    Node& changed = RequireNode(target);
    Node& asked = RequireNode(source);
    const GraphUse use(*changed.graph);
    const GraphUse use_of_source(*asked.graph);
    KernelNode& kernel = RequireKernelNode(changed);
    const KernelAttributes attributes = AttributesOf(RequireKernelNode(asked));
    try {
      GiveAttributes(kernel, attributes);
    } catch (const Refusal&) {
      throw Refusal{CUDA_ERROR_INVALID_VALUE};
    }
  });
}

}  // extern "C"
}  // namespace holdfast::fault::model
