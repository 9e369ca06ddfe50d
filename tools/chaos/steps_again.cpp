#include "tools/chaos/steps_again.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::chaos {

std::vector<double> steps_again(const std::vector<std::string>& directories,
                                const std::vector<std::int64_t>& moments_unix_ns, std::uint32_t steps) {
  struct Run {
    std::int64_t unix_ns = 0;
    TaskId task;
  };
  std::vector<Run> runs;
  detail::TaskNames names;
  detail::JournalView view(directories);
  while (const auto entry = view.next()) {
    names.add(entry->record);
    const auto* ran = std::get_if<event::Ran>(&entry->record.what);
    if (ran != nullptr && ran->outcome == Outcome::finished)
      runs.push_back({entry->unix_ns, entry->record.task});
  }
  std::vector<std::uint64_t> again(moments_unix_ns.size());
  std::set<TaskId> taken;
  for (const Run& run : runs) {
    if (names.name_of(run.task) != ends_step || taken.insert(run.task).second) continue;
    const auto after = std::upper_bound(moments_unix_ns.begin(), moments_unix_ns.end(), run.unix_ns);
    if (after != moments_unix_ns.begin())
      ++again[static_cast<std::size_t>(after - moments_unix_ns.begin()) - 1];
  }
  if (taken.empty()) throw std::runtime_error("no journal says that a step of the training was taken");
  const double stages = static_cast<double>(taken.size()) / steps;
  std::vector<double> steps_of;
  for (const std::uint64_t one : again) steps_of.push_back(static_cast<double>(one) / stages);
  return steps_of;
}

}  // namespace dag::chaos
