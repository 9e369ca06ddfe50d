#include "tools/dag/commands/explain_past.hpp"

#include <algorithm>
#include <iostream>
#include <set>

#include "libdag/client/exit_status.hpp"
#include "libdag/story/history.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/views/lines.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

constexpr std::size_t stories_shown = 10;

std::string candidate_text(const event::Candidate& candidate) {
  if (!candidate.misfit.empty()) return shown(candidate.misfit);
  constexpr Duration short_wait = std::chrono::milliseconds(1);
  std::string text =
      candidate.wait < short_wait ? "can start now" : "can start in " + text_of(candidate.wait);
  if (candidate.transfer >= short_wait) text += ", transfer " + text_of(candidate.transfer);
  if (candidate.run > Duration{0}) text += ", run " + text_of(candidate.run);
  return text;
}

std::string attempt_text(const detail::PastAttempt& attempt, const std::string& indent, const char* open) {
  std::string where = to_string(attempt.at);
  if (attempt.lane) where += "/l" + std::to_string(*attempt.lane);
  std::string text =
      indent + "attempt " + std::to_string(attempt.number) + " (" + to_string(attempt.id) + ") at " + where;
  if (attempt.began_unix_ns) text += " from " + detail::utc_text(*attempt.began_unix_ns);
  if (attempt.ran) text += " for " + text_of(*attempt.ran);
  text += ": " + (attempt.end.empty() ? open : shown(attempt.end)) + "\n";
  text += indent + "  " + (attempt.why_there.empty() ? "chosen: it became ready there" : attempt.why_there) +
          "\n";
  return text + candidates_text(attempt.candidates, indent + "    ");
}

std::string past_task_text(const detail::PastTask& task) {
  std::string text = label(task.task, task.name) + ": ";
  if (!task.settled) {
    text += "not settled, according to these journals\n";
  } else {
    text += std::string(name(task.settled->outcome));
    if (task.settled->tries > 1) text += " after " + std::to_string(task.settled->tries) + " tries";
    if (task.settled_unix_ns) text += ", settled at " + detail::utc_text(*task.settled_unix_ns);
    text += "\n";
    if (task.settled->error) {
      text += "  " + shown(task.settled->error->what) + "\n";
      if (!task.settled->error->cause.empty())
        text += "  because: " + shown(task.settled->error->cause) + "\n";
      if (!task.settled->error->hint.empty()) text += "  hint: " + shown(task.settled->error->hint) + "\n";
    }
  }
  return text + story_text(task, "  ", "its end is not known");
}

/// The end of the whole job, and lines of its failures.
int explain_whole(const Options& options, const Asked& what, const ChosenJournals& journals,
                  const detail::LineFilter& filter) {
  detail::JournalView jobs_view(journals.paths());
  for (const detail::PastJob& one : read_history(jobs_view)) {
    if (one.job == what.job) std::cout << (options.json ? json_line(to_json(one)) : history_text({one}));
  }
  detail::JournalView view(journals.paths());
  print_lines(view, filter, options.json);
  return exit_ok;
}

/// Tasks that failed or crashed their process, by the journals.
std::vector<TaskId> failed_tasks(const Options& options, const Asked& what,
                                 const std::vector<std::string>& from) {
  const detail::LineFilter filter{what.job, detail::selector_of(what.task, true)};
  const ChosenJournals journals(options, what.job, from, {.which = filter.tasks});
  detail::JournalView view(journals.paths());
  detail::LineSearch search(view, filter);
  std::set<TaskId> failed;
  while (search.next()) failed.insert(search.entry().record.task);
  return {failed.begin(), failed.end()};
}

}  // namespace

std::string story_text(const detail::PastTask& task, const std::string& indent, const char* open) {
  std::string text;
  if (task.ready_unix_ns) text += indent + "ready at " + detail::utc_text(*task.ready_unix_ns) + "\n";
  for (const detail::PastStep& step : task.steps)
    text += step.attempt ? attempt_text(*step.attempt, indent, open)
                         : indent + "at " + detail::utc_text(step.unix_ns) + ": " + shown(step.note) + "\n";
  return text;
}

Stories stories_of(const Options& options, JobId job, const TaskSelector& which,
                   const std::vector<std::string>& from) {
  const ChosenJournals journals(options, job, from, {.which = which});
  detail::JournalView view(journals.paths());
  detail::PastTasks past(stories_shown);
  detail::LineSearch search(view, {job, which});
  while (const auto line = search.next()) past.add(search.entry(), *line);
  return {past.tasks(), past.beyond(), view.notices()};
}

std::string label(TaskId task, const std::string& name) {
  const std::string id = to_string(task);
  return name.empty() ? id : shown(name) + " (" + id + ")";
}

std::string candidates_text(const std::vector<event::Candidate>& candidates, const std::string& indent) {
  std::size_t wide = 0;
  for (const event::Candidate& candidate : candidates)
    wide = std::max(wide, to_string(candidate.process).size());
  std::string text;
  for (const event::Candidate& candidate : candidates) {
    std::string name = to_string(candidate.process);
    name.resize(wide, ' ');
    text += indent + name + "  " + candidate_text(candidate) + "\n";
  }
  return text;
}

int explain_past(const Options& options, const Asked& what, const std::vector<std::string>& from) {
  const bool whole = what.task.empty() && !what.failed;
  detail::LineFilter filter{what.job, detail::selector_of(what.task, whole)};
  if (what.failed) {
    filter.tasks = {};
    filter.tasks.tasks = failed_tasks(options, what, from);
    if (filter.tasks.tasks.empty()) {
      std::cerr << "dag: according to the journals, none of these tasks failed\n";
      return exit_ok;
    }
  }
  if (whole) {
    const ChosenJournals journals(options, what.job, from, {.which = filter.tasks});
    return explain_whole(options, what, journals, filter);
  }
  const Stories stories = stories_of(options, what.job, filter.tasks, from);
  for (const detail::PastTask& task : stories.tasks)
    std::cout << (options.json ? json_line(to_json(task, what.job)) : past_task_text(task));
  std::cout.flush();
  for (const std::string& notice : stories.notices) std::cerr << "dag: " << notice << '\n';
  if (stories.beyond > 0)
    std::cerr << "dag: and " << stories.beyond << " more tasks: `dag history " << to_string(what.job)
              << (what.task.empty() ? "" : " --task " + shown(what.task)) << (what.failed ? " --failed" : "")
              << "` lists them all\n";
  if (!stories.tasks.empty()) return exit_ok;
  std::cerr << "dag: the journals have no record of '" << shown(what.task) << "'\n";
  return exit_unknown;
}

}  // namespace dag::tool
