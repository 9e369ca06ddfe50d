// Common to all formats: telling them apart, and putting edges together.

#include "libdag/workflows/workflow.hpp"

#include "dag/detail/builder.hpp"

namespace dag {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

Result<Workflow> read_workflow(std::string_view text) {
  text = without_byte_order_mark(text);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return Error{ErrorCode::configuration_invalid, "this text is UTF-16", "save it as UTF-8"};
  }
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const char first = start == std::string_view::npos ? '\0' : text[start];
  if (first == '{') return read_wfcommons(text);
  if (first == '<') return read_dax(text);
  if ((first >= '0' && first <= '9') || first == '#') return read_stg(text);
  return Error{ErrorCode::configuration_invalid, "this is no workflow that dag can read",
               "known are WfCommons JSON, Pegasus DAX (XML) and STG"};
}

detail::Fragment fragment_of(const Workflow& workflow) {
  static constexpr char no_kernel = 0;
  detail::Builder builder;
  for (const WorkflowTask& task : workflow.tasks) {
    const std::uint32_t index = builder.add_task(task.name, {&no_kernel, nullptr}, true, Effects::pure);
    builder.change_policy(index, [&](Policy& policy) {
      policy.takes = task.takes;
      policy.needs.cpus = task.cpus;
      policy.needs.memory = task.memory_bytes;
    });
  }
  for (const WorkflowEdge& edge : workflow.edges)
    builder.add_edge(edge.from, edge.to, detail::EdgeKind::strong);
  return builder.sealed();
}

}  // namespace dag
