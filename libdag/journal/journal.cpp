#include "libdag/journal/journal.hpp"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "libdag/journal/event_bytes.hpp"

namespace dag {
namespace {

// As they lie in the file: little endian, no holes.
struct HeadBytes {
  std::array<char, 8> magic;
  std::uint32_t process, incarnation;
  std::int64_t clock_began_unix_ns;
  std::uint64_t check;
};
struct BlockBytes {
  std::uint32_t magic, packed_bytes, raw_bytes, records;
  std::uint64_t dropped;
  std::uint64_t check;
};
static_assert(sizeof(HeadBytes) == 32 && sizeof(BlockBytes) == 32);

constexpr std::array<char, 8> head_magic{'d', 'a', 'g', 'j', 'r', 'n', '0', '2'};
constexpr std::string_view file_prefix = "journal-";
constexpr std::uint32_t block_magic = 0x6b6c6264;  // "dblk"
/// Fast; what matters is that names and places that come again take next to nothing.
constexpr int pack_level = 1;
constexpr std::size_t raw_bytes_max = 2 * JournalWriter::block_bytes + 2 * sizeof(std::uint64_t);

std::uint64_t check_of(const HeadBytes& head) { return XXH3_64bits(&head, offsetof(HeadBytes, check)); }
std::uint64_t check_of(const BlockBytes& block, std::span<const std::byte> packed) {
  return XXH3_64bits_withSeed(packed.data(), packed.size(), XXH3_64bits(&block, offsetof(BlockBytes, check)));
}

template <class T>
T take(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Its events, if it is whole.
std::optional<std::vector<JournalEvent>> unpacked(const BlockBytes& block,
                                                  std::span<const std::byte> packed) {
  std::vector<std::byte> raw(block.raw_bytes);
  if (ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()) != raw.size())
    return std::nullopt;
  try {
    std::vector<JournalEvent> records;
    Reader reader(raw);
    for (std::uint32_t i = 0; i < block.records; ++i) {
      // A process that runs kernels may have written any bytes.
      if (auto record = read_record(reader.take(reader.count()))) records.push_back(std::move(*record));
    }
    if (!reader.at_end()) return std::nullopt;
    return records;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

/// The block that begins here; how long it is, or 0 when there is none that can be read.
std::size_t read_block(std::span<const std::byte> file, JournalRead& read,
                       const std::function<void(const JournalEvent&)>& visit) {
  if (file.size() < sizeof(BlockBytes)) return 0;
  const auto block = take<BlockBytes>(file);
  if (block.magic != block_magic || block.raw_bytes > raw_bytes_max ||
      block.packed_bytes > file.size() - sizeof block)
    return 0;
  const auto packed = file.subspan(sizeof block, block.packed_bytes);
  if (check_of(block, packed) != block.check) return 0;
  const auto records = unpacked(block, packed);
  if (!records) return 0;
  read.records += records->size();
  read.unreadable += block.records - records->size();
  read.dropped += block.dropped;
  for (const JournalEvent& record : *records) visit(record);
  return sizeof block + packed.size();
}

}  // namespace

std::vector<std::byte> encode_head(const JournalHead& head) {
  HeadBytes bytes{head_magic, head.process.process.value, head.process.incarnation.value,
                  head.clock_began_unix_ns, 0};
  bytes.check = check_of(bytes);
  const auto written = std::as_bytes(std::span(&bytes, 1));
  return {written.begin(), written.end()};
}

std::string journal_file_name(std::uint64_t number) {
  return std::string(file_prefix) + std::to_string(number);
}

std::uint64_t journal_file_number(std::string_view name) {
  std::uint64_t number = 0;
  if (!name.starts_with(file_prefix)) return 0;
  const char* end = name.data() + name.size();
  const auto [rest, problem] = std::from_chars(name.data() + file_prefix.size(), end, number);
  return problem == std::errc{} && rest == end ? number : 0;
}

/// Memory of zstd, whose context and result are so large that allocating them anew would go to the system.
struct JournalWriter::Packer {
  struct Free {
    void operator()(ZSTD_CCtx* done_with) const { ZSTD_freeCCtx(done_with); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  std::vector<std::byte> packed;

  std::span<const std::byte> pack(std::span<const std::byte> raw) {
    packed.resize(std::max(packed.size(), ZSTD_compressBound(raw.size())));
    const std::size_t size =
        ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), raw.data(), raw.size(), pack_level);
    if (ZSTD_isError(size) != 0) throw Failure({ErrorCode::internal, ZSTD_getErrorName(size)});
    return std::span(packed).first(size);
  }
};

JournalWriter::JournalWriter() : packer_(std::make_unique<Packer>()) {}
JournalWriter::~JournalWriter() = default;

bool JournalWriter::add(const JournalEvent& record) {
  one_.clear();
  write_record(one_, record);
  return add_encoded(one_.bytes());
}

bool JournalWriter::add_encoded(std::span<const std::byte> record) {
  if (record.size() > block_bytes) {
    ++too_large_;
    return false;
  }
  waiting_.count(record.size());
  waiting_.append(record.data(), record.size());
  ++records_;
  return waiting_.bytes().size() >= block_bytes;
}

std::vector<std::byte> JournalWriter::take_block(std::uint64_t dropped) {
  BlockBytes block{block_magic, 0, 0, std::exchange(records_, 0), dropped + std::exchange(too_large_, 0), 0};
  if (block.records == 0 && block.dropped == 0) return {};
  const auto raw = waiting_.bytes();
  const auto packed = packer_->pack(raw);
  block.raw_bytes = static_cast<std::uint32_t>(raw.size());
  block.packed_bytes = static_cast<std::uint32_t>(packed.size());
  block.check = check_of(block, packed);
  std::vector<std::byte> bytes(sizeof block + packed.size());
  std::memcpy(bytes.data(), &block, sizeof block);
  if (!packed.empty()) std::memcpy(bytes.data() + sizeof block, packed.data(), packed.size());
  waiting_.clear();
  return bytes;
}

Result<JournalRead> read_journal(std::span<const std::byte> file,
                                 const std::function<void(const JournalEvent&)>& visit) {
  const auto damaged = [](const char* what) {
    return Error{ErrorCode::log_damaged, std::string("it is no journal that this version can read: ") + what,
                 "another version of libdag wrote it, or something else did"};
  };
  if (file.size() < sizeof(HeadBytes)) return damaged("it is too short");
  const auto head = take<HeadBytes>(file);
  if (head.magic != head_magic) return damaged("it begins otherwise");
  if (head.check != check_of(head)) return damaged("its head is damaged");
  JournalRead read{{{{head.process}, {head.incarnation}}, head.clock_began_unix_ns}, 0, 0, 0, {}, 0};
  std::size_t at = sizeof head, unread = at;
  const auto magic = std::as_bytes(std::span(&block_magic, 1));
  while (at < file.size()) {
    if (const std::size_t size = read_block(file.subspan(at), read, visit); size > 0) {
      if (unread < at) read.gaps.push_back({unread, at - unread});
      unread = at += size;
      continue;
    }
    const auto next = std::search(file.begin() + static_cast<std::ptrdiff_t>(at) + 1, file.end(),
                                  magic.begin(), magic.end());
    at = static_cast<std::size_t>(next - file.begin());
  }
  read.torn_bytes = file.size() - unread;
  return read;
}

}  // namespace dag
