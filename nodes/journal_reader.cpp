#include "nodes/journal_reader.hpp"

#include <pthread.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace dag {
namespace {

namespace fs = std::filesystem;

/// A file takes some hundredths of a second.
constexpr int passed_over_max = 16;

bool is_wanted(const Record& record, std::optional<JobId> job) {
  if (job) return record.job == *job;
  return std::holds_alternative<recorded::JobBegan>(record.what) ||
         std::holds_alternative<recorded::JobOver>(record.what);
}

/// What is wanted of a file, as a file; nothing when there is nothing.
std::vector<std::byte> filtered(std::span<const std::byte> file, std::optional<JobId> job,
                                const std::string& name, bool is_newest, std::vector<std::string>& notices) {
  JournalWriter writer;
  std::vector<std::byte> blocks;
  const auto take_block = [&](std::uint64_t dropped) {
    const std::vector<std::byte> block = writer.take_block(dropped);
    blocks.insert(blocks.end(), block.begin(), block.end());
  };
  const auto read = read_journal(file, [&](const Record& record) {
    if (is_wanted(record, job) && writer.add(record)) take_block(0);
  });
  if (!read) {
    notices.push_back(name + " is left out: " + read.error().what);
    return {};
  }
  take_block(read->dropped);
  for (const JournalGap& gap : read->gaps)
    notices.push_back(name + ": " + std::to_string(gap.size_bytes) + " bytes from " +
                      std::to_string(gap.offset) + " on cannot be read");
  // The newest one is being written, as it should be.
  if (read->torn_bytes > 0 && !is_newest)
    notices.push_back(name + ": its last " + std::to_string(read->torn_bytes) + " bytes cannot be read");
  if (blocks.empty()) return {};
  std::vector<std::byte> page = encode_head(read->head);
  page.insert(page.end(), blocks.begin(), blocks.end());
  return page;
}

}  // namespace

JournalPage read_journal_page(const std::string& directory, std::optional<JobId> job, std::uint64_t after) {
  std::map<std::uint64_t, fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::uint64_t number = journal_file_number(entry.path().filename().string());
    if (number > after) files[number] = entry.path();
  }
  JournalPage page;
  if (after == 0 && !files.empty() && files.begin()->first > 1)
    page.notices.push_back("the journal begins with " + files.begin()->second.filename().string() +
                           ": what was older had to make room");
  int passed_over = 0;
  for (const auto& [number, path] : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) continue;  // It has just made room.
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const bool is_newest = number == files.rbegin()->first;
    page.file = number;
    const std::vector<std::byte> found =
        filtered(std::as_bytes(std::span(text)), job, path.filename().string(), is_newest, page.notices);
    if (!found.empty()) page.bytes = Blob(found);
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
  no.error = Error{ErrorCode::timed_out, "the node has too many questions about its journal to answer",
                   "ask again a little later"};
  answer(std::move(no));
}

void JournalReader::run() {
  pthread_setname_np(pthread_self(), "dag-history");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    const auto [what, answer] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (what.after == 0) journal_.flush();
    client::Answer found;
    found.number = what.number;
    found.journal = read_journal_page(directory_, what.job, what.after);
    answer(std::move(found));
    lock.lock();
  }
}

}  // namespace dag
