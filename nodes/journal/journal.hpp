#pragma once
// The journal of a node on its disk: the events of the jobs whose records it led, kept when jobs and cluster
// are gone. Numbered files of a directory, each in the format of libdag/journal/journal.hpp; a node that
// starts begins a new one. The oldest go when all are too large.
//
// A caller of record() never waits: events lie in memory until a thread of the journal packs and writes
// them, a few times a second. When that thread does not get on (a full or stuck disk), events beyond
// `waiting_bytes_max` are dropped, and the next block that is written says how many. Nothing is synced: a
// written event outlives the process, but not a loss of power.
//
// Processes of jobs record their events in rings in files beside the journal (event_rings.hpp), which that
// thread empties; their printed output comes in, too (printed_output.hpp). Such a file goes with its process.
// A file that is there at a start, because node and process were killed together, is emptied first.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libdag/journal/journal.hpp"
#include "libdag/journal/sink.hpp"
#include "nodes/disk/files.hpp"
#include "nodes/journal/event_rings.hpp"
#include "nodes/journal/printed_output.hpp"

namespace dag {

struct JournalLimits {
  std::size_t file_bytes = std::size_t{4} << 20;
  std::size_t all_bytes = std::size_t{256} << 20;  ///< at least two files stay
  std::size_t waiting_bytes_max = std::size_t{16} << 20;
  Duration write_every = std::chrono::milliseconds(200);
};

/// The printed output of a job's process goes to this file, which exists already.
struct OutputOf {
  JobId job;
  std::string file;
};

class Journal final : public EventSink {
 public:
  /// `log` is told, once each time, when the journal cannot write and when it can again.
  Journal(std::string directory, Life self, std::function<void(const std::string& line)> log,
          Files& files = files_of_host(), JournalLimits limits = {});
  /// All earlier events are written, if the disk takes them.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void record(const JournalEvent& record) override;
  void record_finished(const JournalEvent& many) override { record(many); }
  bool wants_graph() const override { return true; }
  /// For a process that is about to begin, with so many lanes: an open descriptor of a EventRings, which is
  /// not closed by exec, until close_rings(). -1, with a line in the log: there is none.
  int open_rings(Life process, std::size_t lanes, const std::optional<OutputOf>& output = std::nullopt);
  /// The process has ended: its remaining events are written, and the file goes.
  void close_rings(Life process);
  /// Returns when all earlier events were written, or dropped.
  void flush();

 private:
  /// The rings of one process.
  struct Source {
    std::string name;
    EventRings rings;
    std::vector<EventRingReader> readers;
    std::optional<PrintedOutput> printed = std::nullopt;
    JobId job = {};     ///< the job whose output is printed
    bool over = false;  ///< the process has ended
    // Used by the thread.
    bool ends = false;  ///< the thread reads it for the last time
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

  // Used by the thread.
  JournalWriter writer_;
  std::uint64_t in_block_ = 0;                             ///< events in `writer_`
  std::vector<std::pair<std::string, std::size_t>> kept_;  ///< files and their sizes, the oldest first
  OwnedFile file_;
  std::uint64_t last_number_ = 0;
  bool fails_ = false;
  std::uint64_t lost_ = 0;         ///< events that could not be written
  std::vector<std::string> left_;  ///< files of rings that were there at the start

  std::mutex mutex_;
  std::condition_variable changed_;
  Writer waiting_;  ///< the size and the bytes of each event
  Writer one_;
  std::uint64_t dropped_ = 0;
  std::uint64_t flushes_asked_ = 0, flushed_ = 0;
  bool closing_ = false;
  std::map<Life, std::shared_ptr<Source>> sources_;
  std::thread thread_;
};

}  // namespace dag
