#pragma once
// The journal of a node on its disk: what happened to the jobs whose records it led, for whoever asks when
// they or the cluster are gone. Files of a directory, numbered in the order in which they were begun, each as
// libdag/journal/journal.hpp says; a node that starts begins a new one. The oldest go when all are too large.
//
// Whoever records never waits: records lie in memory until a thread of the journal packs and writes them, a
// few times a second. When that thread does not get on (a full or stuck disk), what comes on top of
// `waiting_bytes_max` is dropped, and the next block that is written says how much it was. Nothing is synced:
// what is written outlives the process, and not a loss of power.
//
// Processes of jobs say what happens there through rings in files beside it (record_rings.hpp), which that
// thread empties; what they print comes in, too (printed_output.hpp). Such a file goes with its process; one
// that is there at a start, because node and process were killed together, is emptied first.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libdag/journal/journal.hpp"
#include "libdag/journal/sink.hpp"
#include "nodes/disk/files.hpp"
#include "nodes/journal/printed_output.hpp"
#include "nodes/journal/record_rings.hpp"

namespace dag {

struct JournalLimits {
  std::size_t file_bytes = std::size_t{4} << 20;
  std::size_t all_bytes = std::size_t{256} << 20;  ///< at least two files stay
  std::size_t waiting_bytes_max = std::size_t{16} << 20;
  Duration write_every = std::chrono::milliseconds(200);
};

/// What a process of a job prints goes to this file, which is there.
struct OutputOf {
  JobId job;
  std::string file;
};

class Journal final : public RecordSink {
 public:
  /// `log` is told, once each time, when it cannot write and when it can again.
  Journal(std::string directory, Life self, std::function<void(const std::string& line)> log,
          Files& files = files_of_host(), JournalLimits limits = {});
  /// All that was recorded before is written, if the disk takes it.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void record(const Record& record) override;
  void record_finished(const Record& many) override { record(many); }
  bool wants_graph() const override { return true; }
  /// For a process that is about to begin, with so many lanes: an open descriptor of a RecordRings, which is
  /// not closed by exec, until close_rings(). -1, with a line in the log: there is none.
  int open_rings(Life process, std::size_t lanes, const std::optional<OutputOf>& output = std::nullopt);
  /// It has ended: what it has left is written, and the file goes.
  void close_rings(Life process);
  /// Returns when all that was recorded before was written, or dropped.
  void flush();

 private:
  /// Of one process.
  struct Source {
    std::string name;
    RecordRings rings;
    std::vector<RecordRingReader> readers;
    std::optional<PrintedOutput> printed = std::nullopt;
    JobId job = {};     ///< of what is printed
    bool over = false;  ///< the process has ended
    // Of the thread.
    bool ends = false;  ///< it is looked at for the last time
    bool said_broken = false;
  };

  void run();
  void write_left();
  void write(std::span<const std::byte> records, std::uint64_t dropped);
  void write_of(Source& source, bool to_the_end);
  bool write_printed(Source& source, bool to_the_end);
  void write_block();
  bool append(std::span<const std::byte> bytes);
  bool begin_file(const JournalHead& head);
  void remove_oldest();

  const std::string directory_;
  const Life self_;
  const std::function<void(const std::string&)> log_;
  Files& files_;
  const JournalLimits limits_;

  // Of the thread.
  JournalWriter writer_;
  std::uint64_t in_block_ = 0;                             ///< records in `writer_`
  std::vector<std::pair<std::string, std::size_t>> kept_;  ///< files and their sizes, the oldest first
  OwnedFile file_;
  std::uint64_t last_number_ = 0;
  bool fails_ = false;
  std::uint64_t lost_ = 0;         ///< records that could not be written
  std::vector<std::string> left_;  ///< files of rings that were there at the start

  std::mutex mutex_;
  std::condition_variable changed_;
  Writer waiting_;  ///< of each record, its size and its bytes
  Writer one_;
  std::uint64_t dropped_ = 0;
  std::uint64_t flushes_asked_ = 0, flushed_ = 0;
  bool closing_ = false;
  std::map<Life, std::shared_ptr<Source>> sources_;
  std::thread thread_;
};

}  // namespace dag
