// The durable log of a node, alone: records per second that are on the disk, and the disk's rate for writing
// the same bytes one behind the other without a log.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "nodes/disk/segment_files.hpp"
#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
namespace {

/// Removed in the end.
class Directory {
 public:
  explicit Directory(const std::string& beside) : path_(beside + "/dag-bench-log-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a directory in " + beside);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void expect(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message());
}

/// `payload` bytes per record, `batch` of them at a time.
double log_seconds(const std::string& path, std::uint64_t records, std::uint64_t batch,
                   const std::vector<std::byte>& payload) {
  const log::LogOptions options{std::size_t{64} << 20, std::size_t{64} << 20};
  auto files = SegmentFiles::open(path, options, [](const log::Record&, std::uint64_t) {});
  if (!files) throw std::runtime_error(files.error().message());
  log::LogMachine machine((*files)->identity(), options, (*files)->end());
  expect((*files)->prepare());  // As a node does while it has nothing else to do.
  const Stopwatch watch;
  for (std::uint64_t index = 1; index <= records; ++index) {
    machine.append({JobId{1}, 1, index, 1, payload});
    if (index % batch != 0 && index != records) continue;
    while (const auto next = machine.next_batch()) {
      expect((*files)->write(*next));
      machine.on_written();
    }
  }
  return watch.seconds();
}

double raw_seconds(const std::string& path, std::uint64_t batches, std::size_t batch_bytes) {
  const OwnedFile file(::open((path + "/raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::vector<std::byte> bytes(batch_bytes, std::byte{0x5A});
  // Zeros before, as the log's files have them.
  const std::vector<std::byte> zeros(batch_bytes * batches);
  if (pwrite(file.number(), zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size()) ||
      fdatasync(file.number()) != 0) {
    throw std::runtime_error("cannot write " + path);
  }
  const Stopwatch watch;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    if (pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(batch * batch_bytes)) !=
            static_cast<ssize_t>(bytes.size()) ||
        fdatasync(file.number()) != 0) {
      throw std::runtime_error("cannot write " + path);
    }
  }
  return watch.seconds();
}

}  // namespace

Figures measure(const Request& request) {
  if (request.workload != "durability") throw UnknownWorkload(request);
  const std::uint64_t batch = request.number("batch", 1024), batches = request.number("batches", 100);
  const std::vector<std::byte> payload(request.number("payload", 64));
  const std::string where = request.text("directory").empty() ? "." : request.text("directory");
  const Directory directory(where);
  const auto records = static_cast<double>(batch * batches);
  Figures figures;
  figures.numbers["log"] = records / log_seconds(directory.path(), batch * batches, batch, payload);
  figures.numbers["raw"] =
      records / raw_seconds(directory.path(), batches, batch * log::record_bytes(payload.size()));
  return figures;
}

}  // namespace dag::bench
