#pragma once
// Questions of clients about tasks, answered by the processes of a job. A question ends when all processes
// have answered or its time is over.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

class Explaining {
 public:
  /// A process that has not answered by then is hung, or far behind.
  static constexpr Duration within = std::chrono::seconds(2);
  using Answers = std::vector<std::pair<Life, client::Answer>>;

  /// Returns the number for the processes' answers. `asked` are up.
  std::uint64_t ask(Life client, std::uint64_t number, std::vector<Life> asked, Instant now) {
    client::Answer answer;
    answer.number = number;
    answer.silent = std::move(asked);
    open_.emplace(++last_, Question{client, std::move(answer), now + within});
    return last_;
  }
  void on_explained(Life from, keeper::Explained explained) {
    const auto question = open_.find(explained.question);
    if (question == open_.end() || std::erase(question->second.answer.silent, from) == 0) return;
    question->second.answer.explained.push_back(std::move(explained.process));
  }
  void on_client_gone(Life client) {
    std::erase_if(open_, [&](const auto& question) { return question.second.client == client; });
  }
  /// Removes and returns the questions that have ended.
  Answers take_over(Instant now) {
    Answers over;
    for (auto question = open_.begin(); question != open_.end();) {
      Question& one = question->second;
      if (!one.answer.silent.empty() && now < one.until) {
        ++question;
        continue;
      }
      over.emplace_back(one.client, std::move(one.answer));
      question = open_.erase(question);
    }
    return over;
  }
  std::optional<Instant> wake_at() const {
    std::optional<Instant> wake;
    for (const auto& [number, question] : open_)
      wake = wake ? std::min(*wake, question.until) : question.until;
    return wake;
  }

 private:
  struct Question {
    Life client;
    client::Answer answer;  ///< `silent`: processes that have not answered yet
    Instant until;
  };
  std::map<std::uint64_t, Question> open_;
  std::uint64_t last_ = 0;
};

}  // namespace dag
