#pragma once
// Answers clients that ask what this node's journal has: a file of it at a time, of which only what was asked
// for is sent. On a thread of its own, since files are read and unpacked.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "libdag/keeper/messages.hpp"
#include "nodes/journal/journal.hpp"

namespace dag {

/// What was asked for: the records of the job, or those about jobs as a whole, in the first file behind what
/// was read that has some. Of files without any so many are passed over at a time that whoever asks is not
/// left waiting.
JournalPage read_journal_page(const std::string& directory, const client::AskJournal& ask);

class JournalReader {
 public:
  using Answer = std::function<void(client::Answer)>;

  /// The journal outlives it.
  JournalReader(Journal& journal, std::string directory);
  /// What has not been answered never is.
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
