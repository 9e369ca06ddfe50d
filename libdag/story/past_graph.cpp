#include "libdag/story/past_graph.hpp"

#include <algorithm>
#include <map>

#include "libdag/story/job_graph.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {
namespace {

// In pixels, as the page that shows it has them.
constexpr int letter_width = 7, padding = 10, box_height = 40, width_min = 90, width_max = 240;

int width_of(const std::string& label) {
  const auto letters = std::count_if(label.begin(), label.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return std::clamp(static_cast<int>(letters) * letter_width + 2 * padding, width_min, width_max);
}

Fragment fragment_of(const std::vector<TaskId>& tasks, const std::vector<JobGraph::Edge>& edges,
                     const TaskNames& names) {
  Fragment fragment;
  fragment.names = names.names();
  fragment.policies = {{}};
  const auto index_of = [&](TaskId task) {
    return static_cast<std::uint32_t>(std::lower_bound(tasks.begin(), tasks.end(), task) - tasks.begin());
  };
  fragment.first_edge.resize(tasks.size() + 1);
  std::vector<std::uint32_t> data(tasks.size());  // Number of data edges per task.
  for (const auto& edge : edges) {
    ++fragment.first_edge[index_of(edge.to) + 1];
    data[index_of(edge.to)] += edge.data ? 1 : 0;
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) fragment.first_edge[i + 1] += fragment.first_edge[i];
  // Data edges come first, so that tasks differ in nothing but their number.
  std::vector<std::uint32_t> next_data(fragment.first_edge.begin(), fragment.first_edge.end() - 1), next;
  for (std::size_t i = 0; i < tasks.size(); ++i) next.push_back(next_data[i] + data[i]);
  fragment.edges.resize(edges.size());
  for (const auto& edge : edges) {
    const std::uint32_t to = index_of(edge.to);
    const auto kind = static_cast<EdgeKind>(std::min<std::uint8_t>(edge.kind, 2));
    fragment.edges[(edge.data ? next_data : next)[to]++] = EdgeEnd(index_of(edge.from), kind);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> kind_of;  // Key: name, data edges.
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::uint32_t name = names.index_of(tasks[i]).value_or(0);
    const auto [found, fresh] =
        kind_of.try_emplace({name, data[i]}, static_cast<std::uint32_t>(fragment.kinds.size()));
    if (fresh) {
      TaskKind& kind = fragment.kinds.emplace_back();
      kind.name = name;
      kind.first_argument = static_cast<std::uint32_t>(fragment.arguments.size());
      kind.argument_count = data[i] > 0 ? 1 : 0;
      if (data[i] > 0) fragment.arguments.push_back({ArgumentKind::gather, 0, data[i], 0});
    }
    fragment.task_kinds.push_back(found->second);
  }
  return fragment;
}

}  // namespace

PastGraph read_graph(const JournalPaths& journals, JobId job, std::vector<std::string>& notices) {
  PastGraph graph;
  JobGraph known;
  TaskNames names;
  std::map<TaskId, std::pair<Outcome, Duration>> became;
  JournalView view(journals);
  while (const auto entry = view.next()) {
    const JournalEvent& record = entry->record;
    if (record.job != job) continue;
    names.add(record);
    known.add(record);
    if (const auto* began = std::get_if<event::JobBegan>(&record.what)) graph.name = began->name;
    if (const auto* settled = std::get_if<event::Settled>(&record.what))
      became[record.task].first = settled->outcome;
    if (const auto* ran = std::get_if<event::Ran>(&record.what)) became[record.task].second = ran->ran;
  }
  notices = view.notices();
  std::vector<JobGraph::Edge> edges = known.edges();
  names.each([&](TaskId task) { graph.tasks.push_back(task); });
  // An edge of a task whose part of the graph is missing leads nowhere.
  std::erase_if(edges,
                [&](const auto& edge) { return !names.index_of(edge.from) || !names.index_of(edge.to); });
  graph.fragment = fragment_of(graph.tasks, edges, names);
  for (const TaskId task : graph.tasks) {
    const auto found = became.find(task);
    graph.outcomes.push_back(found == became.end() ? Outcome::none : found->second.first);
    graph.ran.push_back(found == became.end() ? Duration{0} : found->second.second);
  }
  return graph;
}

GraphPicture picture_of(const PastGraph& graph) {
  GraphPicture picture;
  DrawOptions options;
  options.title = graph.name;
  options.ran = graph.ran;
  for (const TaskId task : graph.tasks) options.ids.push_back(to_string(task));
  picture.drawing = draw(graph.fragment, options);
  for (const DrawnNode& node : picture.drawing.nodes) {
    Box& box = picture.boxes.emplace_back();
    box.width = width_of(node.label);
    box.height = box_height;
  }
  place(picture.drawing, picture.boxes);
  return picture;
}

}  // namespace dag::detail
