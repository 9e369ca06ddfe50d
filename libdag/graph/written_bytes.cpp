#include "libdag/graph/written_bytes.hpp"

#include "libdag/graph/family.hpp"

namespace dag {
namespace {

/// Bytes of an element of each list of structs, and of the fixed part.
constexpr std::size_t kind_bytes = 32, argument_bytes = 16, code_bytes = 24, policy_bytes = 80,
                      actor_bytes = 104, group_bytes = 24, family_bytes = 48, graph_bytes = 512;
/// A list or blob is pointed to, and ends where a word does.
constexpr std::size_t pointer_bytes = 16;

std::size_t in_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

std::size_t written_bytes(const detail::Fragment& graph) {
  std::size_t tasks = 0, numbers = 0;
  each_written(graph, [&](std::uint32_t first, std::uint32_t end) {
    tasks += end - first;
    numbers += graph.first_edge[end] - graph.first_edge[first];
    if (!graph.first_literal.empty())
      numbers += end - first + graph.first_literal[end] - graph.first_literal[first];
  });
  numbers += 2 * tasks;  // Its kind, and how many edges it has.
  std::size_t bytes = graph_bytes + numbers * sizeof(std::uint32_t) + graph.kinds.size() * kind_bytes +
                      graph.conditions.size() * sizeof(std::uint64_t) +
                      graph.arguments.size() * argument_bytes + graph.codes.size() * code_bytes +
                      graph.policies.size() * policy_bytes + graph.actors.size() * actor_bytes +
                      graph.mentions.size() * sizeof(std::uint64_t) + graph.groups.size() * group_bytes;
  for (const detail::FamilyDraft& family : graph.families) {
    const std::size_t in_32_bits =
        2 * family.before.size() + family.inputs.size() + family.literals.size() + family.kinds.size();
    bytes += family_bytes + 4 * pointer_bytes + in_32_bits * sizeof(std::uint32_t) + family.inputs.size() / 8;
  }
  for (const Blob& literal : graph.literals) bytes += pointer_bytes + in_words(literal.size_bytes());
  for (const std::string& name : graph.names) bytes += pointer_bytes + name.size();
  for (const auto& group : graph.save_groups) bytes += pointer_bytes + group.size() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace dag
