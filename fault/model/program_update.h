// Whether a program can take over what another one says, and the program that comes of it.
#ifndef HOLDFAST_FAULT_MODEL_PROGRAM_UPDATE_H_
#define HOLDFAST_FAULT_MODEL_PROGRAM_UPDATE_H_

#include <cuda.h>

#include <memory>

#include "fault/model/program.h"

namespace holdfast::fault::model {

// Whether a node of an executable can get these parameters in place of those that it has.
CUgraphExecUpdateResult CompareParameters(const NodeParameters& current, const NodeParameters& next);

// `current` with the parameters and references of `next`, compiled from `graph`; its shape, the sources of its nodes
// and what is enabled stay. Null if the two do not have the same shape, or parameters differ that cannot: `info` says
// where.
//
// Nodes are paired from the sinks backwards: the sinks in the order in which they were added, then the dependencies of
// each pair in the order of the edges.
std::shared_ptr<Program> Updated(const Program& current, const Program& next, const Graph& graph,
                                 CUgraphExecUpdateResultInfo* info);

}  // namespace holdfast::fault::model

#endif  // HOLDFAST_FAULT_MODEL_PROGRAM_UPDATE_H_
