#include "nodes/journal/journal_reader.hpp"

#include <pthread.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "libdag/story/journal_view.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

/// A file takes some hundredths of a second.
constexpr int passed_over_max = 16;

/// Printed output belongs to no task.
bool is_wanted_log(const JournalEvent& record, const TaskSelector& which) {
  return is_log(record.what) && (which.takes_all() || !std::holds_alternative<event::Printed>(record.what));
}

bool is_wanted(const JournalEvent& record, const client::AskJournal& ask) {
  if (ask.job)
    return record.job == *ask.job && (!ask.logs || is_wanted_log(record, ask.which)) &&
           detail::may_matter(record, ask.which);
  return std::holds_alternative<event::JobBegan>(record.what) ||
         std::holds_alternative<event::JobVerdict>(record.what) ||
         std::holds_alternative<event::JobOver>(record.what);
}

/// A file of the journal from byte `from` on, which is 0 or where a block begins.
struct FilePart {
  std::string name;
  std::uint64_t from = 0;
  std::vector<std::byte> bytes;  ///< its head, and what follows
  bool is_newest = false;        ///< it is being written

  std::uint64_t skipped() const { return from == 0 ? 0 : from - encode_head({}).size(); }
};

std::optional<FilePart> read_part(const fs::path& path, std::uint64_t from, bool is_newest) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return std::nullopt;  // The journal has just made room.
  const auto size = static_cast<std::uint64_t>(in.tellg());
  const std::uint64_t head = encode_head({}).size();
  if (from < head) from = 0;
  if (from > size) return std::nullopt;
  FilePart part{path.filename().string(), from, {}, is_newest};
  part.bytes.resize(size - part.skipped());
  const auto read = [&](std::uint64_t at, std::uint64_t into, std::uint64_t count) {
    in.seekg(static_cast<std::streamoff>(at));
    in.read(reinterpret_cast<char*>(part.bytes.data() + into), static_cast<std::streamsize>(count));
  };
  if (from > 0) read(0, 0, head);
  read(from, from == 0 ? 0 : head, size - from);
  return part;
}

/// The number of the process that wrote the file; 0: it is no journal file.
std::uint32_t writer_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> head(encode_head({}).size());
  in.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
  if (!in) return 0;
  const auto read = read_journal(head, [](const JournalEvent&) {});
  return read ? read->head.process.incarnation.value : 0;
}

/// The wanted events of the part, as a file; empty when there are none. `page` gets the rest.
std::vector<std::byte> filtered(const FilePart& part, const client::AskJournal& ask, JournalPage& page) {
  JournalWriter writer;
  std::vector<std::byte> blocks;
  const auto take_block = [&](std::uint64_t dropped) {
    const std::vector<std::byte> block = writer.take_block(dropped);
    blocks.insert(blocks.end(), block.begin(), block.end());
  };
  const auto read = read_journal(part.bytes, [&](const JournalEvent& record) {
    if (is_wanted(record, ask) && writer.add(record)) take_block(0);
  });
  page.read.bytes = part.skipped() + part.bytes.size();
  if (!read) {
    page.notices.push_back(part.name + " is left out: " + read.error().what);
    return {};
  }
  page.read.of = read->head.process.incarnation.value;
  take_block(read->dropped);
  for (const JournalGap& gap : read->gaps)
    page.notices.push_back(part.name + ": " + std::to_string(gap.size_bytes) + " bytes from " +
                           std::to_string(part.skipped() + gap.offset) + " on cannot be read");
  if (part.is_newest) {
    page.read.bytes -= read->torn_bytes;  // As it should be.
  } else if (read->torn_bytes > 0) {
    page.notices.push_back(part.name + ": its last " + std::to_string(read->torn_bytes) +
                           " bytes cannot be read");
  }
  if (blocks.empty()) return {};
  std::vector<std::byte> file = encode_head(read->head);
  file.insert(file.end(), blocks.begin(), blocks.end());
  return file;
}

}  // namespace

JournalPage read_journal_page(const std::string& directory, const client::AskJournal& ask) {
  std::map<std::uint64_t, fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::uint64_t number = journal_file_number(entry.path().filename().string());
    if (number > 0) files[number] = entry.path();
  }
  JournalPage page;
  JournalPlace after = ask.read;
  const auto last = files.find(after.file);
  const bool begun_anew = after.file > 0 && (files.empty() || files.rbegin()->first < after.file ||
                                             (last != files.end() && writer_of(last->second) != after.of));
  if (begun_anew) {
    page.notices.push_back("the journal was started again: older records are gone");
    after = {};
  }
  const std::uint64_t next = after.file > 0 && last == files.end() ? after.file : after.file + 1;
  if (!files.empty() && files.begin()->first > next)
    page.notices.push_back("the journal begins with " + files.begin()->second.filename().string() +
                           ": older files were deleted to make room");
  int passed_over = 0;
  for (auto one = files.lower_bound(after.file); one != files.end(); ++one) {
    const auto& [number, path] = *one;
    const bool is_newest = std::next(one) == files.end();
    const std::uint64_t from = number == after.file ? after.bytes : 0;
    const auto part = read_part(path, from, is_newest);
    if (!part || part->skipped() + part->bytes.size() <= from) continue;
    page.read = {number, 0, 0};
    const std::vector<std::byte> found = filtered(*part, ask, page);
    if (!found.empty()) page.bytes = Blob(found);
    if (page.read.bytes == from) page.read = {};  // A block that is being written, and nothing else.
    if (!found.empty() || ++passed_over == passed_over_max) break;
  }
  return page;
}

JournalReader::JournalReader(Journal& journal, std::string directory)
    : journal_(journal), directory_(std::move(directory)), thread_([this] { run(); }) {}

JournalReader::~JournalReader() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void JournalReader::read(client::AskJournal what, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < waiting_max) {
      waiting_.emplace_back(what, std::move(answer));
      changed_.notify_all();
      return;
    }
  }
  client::Answer no;
  no.number = what.number;
  no.error = Error{ErrorCode::timed_out, "the node has too many questions about its journal",
                   "ask again a little later"};
  answer(std::move(no));
}

void JournalReader::run() {
  pthread_setname_np(pthread_self(), "dag-history");
  constexpr auto flush_again = std::chrono::milliseconds(100);
  std::chrono::steady_clock::time_point flushed_at;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    const auto [what, answer] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    // A follower wants the newest events, and asks until there is no more.
    const auto now = std::chrono::steady_clock::now();
    if (what.read.file == 0 || (what.logs && now - flushed_at > flush_again)) {
      journal_.flush();
      flushed_at = now;
    }
    client::Answer found;
    found.number = what.number;
    found.journal = read_journal_page(directory_, what);
    answer(std::move(found));
    lock.lock();
  }
}

}  // namespace dag
