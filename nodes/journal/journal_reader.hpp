#pragma once
// Answers clients that ask for this node's journal: one file at a time, of which only the wanted events are
// sent. On a thread of its own, since files are read and unpacked.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "libdag/keeper/messages.hpp"
#include "nodes/journal/journal.hpp"

namespace dag {

/// The wanted events: those of the job, or those about jobs as a whole, in the first file behind the last
/// read one that has some. Only a limited number of files without any is passed over at a time, so that the
/// client is not left waiting.
JournalPage read_journal_page(const std::string& directory, const client::AskJournal& ask);

class JournalReader {
 public:
  using Answer = std::function<void(client::Answer)>;

  /// The journal outlives it.
  JournalReader(Journal& journal, std::string directory);
  /// Unanswered questions are dropped.
  ~JournalReader();
  JournalReader(const JournalReader&) = delete;
  JournalReader& operator=(const JournalReader&) = delete;

  /// `answer` is called once, on any thread.
  void read(client::AskJournal what, Answer answer);

  /// More questions are refused.
  static constexpr std::size_t waiting_max = 1000;

 private:
  void run();

  Journal& journal_;
  const std::string directory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<client::AskJournal, Answer>> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace dag
