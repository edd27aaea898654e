// The life of one big graph whose nodes all have attachments, in steps that can be timed one by one.
#ifndef HOLDFAST_TESTS_BENCHMARK_GRAPH_LIFE_H_
#define HOLDFAST_TESTS_BENCHMARK_GRAPH_LIFE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::benchmarks {

struct Step {
  std::string name;
  std::function<void()> run;
};

// Steps to be run in order, each once, for a graph of `node_count` host nodes, each with an owner of its own: add the
// nodes, find them again, update them, clone, destroy half of the nodes, embed, destroy the embedded copy, destroy
// source and clone, drain. After the last one nothing is left, which it checks (std::logic_error).
std::vector<Step> GraphLife(std::size_t node_count);

}  // namespace holdfast::benchmarks

#endif  // HOLDFAST_TESTS_BENCHMARK_GRAPH_LIFE_H_
