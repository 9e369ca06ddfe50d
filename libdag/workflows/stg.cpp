// Reads the Standard Task Graph format: the number of tasks (without the entry and exit dummies), then per
// task its number, duration, number of predecessors and those. Comments begin with #.

#include <charconv>
#include <cmath>

#include "libdag/base/limits.hpp"
#include "libdag/graph/text.hpp"
#include "libdag/workflows/workflow.hpp"

namespace dag {
namespace {

class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}

  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  /// The text up to the next space or comment; empty at the end.
  std::string_view next_word() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '#') ++at_;
    return text_.substr(from, at_ - from);
  }
  Result<std::uint64_t> next(const char* what) {
    const std::string_view word = next_word();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) return expected(what);
    return value;
  }
  Error expected(const char* what) const {
    return {ErrorCode::configuration_invalid,
            "line " + std::to_string(line_) + " of the STG graph: expected " + what,
            "each line holds: task, duration, number of predecessors, predecessors"};
  }
  std::size_t line() const { return line_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size() || !is_space(text_[at_])) return;
      line_ += text_[at_] == '\n' ? 1 : 0;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

Error wrong(const Numbers& numbers, std::string what) {
  return {ErrorCode::configuration_invalid,
          "line " + std::to_string(numbers.line()) + " of the STG graph: " + std::move(what),
          "the file may have been cut or edited by hand"};
}

}  // namespace

Result<Workflow> read_stg(std::string_view text, Duration unit) {
  Numbers numbers(text);
  const Result<std::uint64_t> stated = numbers.next("the number of tasks");
  if (!stated) return stated.error();
  Workflow workflow{"stg", {}, {}};
  while (!numbers.at_end()) {
    const Result<std::uint64_t> number = numbers.next("a task's number");
    if (!number) return number.error();
    const auto index = static_cast<std::uint32_t>(workflow.tasks.size());
    if (*number != index || index >= limits::tasks_max) {
      return wrong(numbers, "expected task " + std::to_string(index) + ", not " + std::to_string(*number));
    }
    const std::string_view word = numbers.next_word();
    const auto duration = number_in(word);  // Some sets have decimals.
    if (!duration || *duration < 0) return numbers.expected("a duration");
    const double nanoseconds = *duration * static_cast<double>(unit.count());
    if (!(nanoseconds < static_cast<double>(Duration::max().count()))) {
      return wrong(numbers, "the duration " + std::string(word) + " is too long");
    }
    const Result<std::uint64_t> predecessors = numbers.next("a number of predecessors");
    if (!predecessors) return predecessors.error();
    for (std::uint64_t i = 0; i < *predecessors; ++i) {
      const Result<std::uint64_t> predecessor = numbers.next("a predecessor");
      if (!predecessor) return predecessor.error();
      if (*predecessor >= index) {
        return wrong(numbers, "predecessor " + std::to_string(*predecessor) + " does not come before task " +
                                  std::to_string(index));
      }
      workflow.edges.push_back({static_cast<std::uint32_t>(*predecessor), index, 0});
    }
    WorkflowTask task;
    task.id = std::to_string(index);
    task.name = "stg";
    task.takes = Duration(std::llround(nanoseconds));
    workflow.tasks.push_back(std::move(task));
  }
  // Some files count the two dummies, some do not.
  if (workflow.tasks.size() != *stated && workflow.tasks.size() != *stated + 2) {
    return wrong(numbers, "it says " + std::to_string(*stated) + " tasks and holds " +
                              std::to_string(workflow.tasks.size()));
  }
  return workflow;
}

}  // namespace dag
