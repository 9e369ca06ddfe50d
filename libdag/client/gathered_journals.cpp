#include "libdag/client/gathered_journals.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libdag/graph/text.hpp"

namespace dag::detail {
namespace {

namespace fs = std::filesystem;

std::string make_directory() {
  std::error_code problem;
  const fs::path where = fs::temp_directory_path(problem);
  std::string name = (where / "dag-record-XXXXXX").string();
  if (problem || mkdtemp(name.data()) == nullptr) {
    throw Failure({ErrorCode::disk_full,
                   "cannot make " + name + ": " + (problem ? problem.message() : std::strerror(errno)),
                   "TMPDIR names another place"});
  }
  return name;
}

void remove(const std::string& directory) {
  std::error_code none;
  fs::remove_all(directory, none);
}

}  // namespace

GatheredJournals::GatheredJournals(const std::string& address, std::optional<JobId> job, GatherLimits limits)
    : limits_(std::move(limits)), directory_(make_directory()) {
  bool any = false;
  try {
    any = gather(address, job);
  } catch (...) {
    remove(directory_);  // The destructor of an unfinished object does not run.
    throw;
  }
  if (any) return;
  remove(directory_);
  throw Failure(
      {ErrorCode::job_unknown,
       !job               ? "no journal of these nodes knows of a job"
       : *job == of_nodes ? "no journal of these nodes says anything of nodes"
                          : "no journal of these nodes says anything of " + to_string(*job),
       "nodes keep a journal unless `journal = false` is set, without `--data DIR` only until their next "
       "start; --from DIR reads the journals of nodes that are gone",
       notices_.empty() ? "" : notices_.front()});
}

GatheredJournals::~GatheredJournals() { remove(directory_); }

bool GatheredJournals::gather(const std::string& address, std::optional<JobId> job) {
  const Duration connect_within = std::min(connect_within_default, limits_.answers_within);
  const auto first = connect(address, connect_within, limits_.answers_within);
  const std::vector<NodeInfo> nodes = first->nodes();
  bool any = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string name = to_string(nodes[i].life.process);
    if (limits_.on_progress)
      limits_.on_progress("reading the journal of " + name,
                          static_cast<double>(i) / static_cast<double>(nodes.size()));
    try {
      if (!is_up(nodes[i].state)) {
        notices_.push_back("the journal of " + name + " is missing: the node is down");
      } else if (i == 0) {
        any = gather_from(*first, name, job) || any;
      } else {
        const auto other = connect(nodes[i].endpoint.control, connect_within, limits_.answers_within);
        any = gather_from(*other, name, job) || any;
      }
    } catch (const Failure& failure) {
      const ErrorCode code = failure.error().code;
      if (code == ErrorCode::disk_full || code == ErrorCode::interrupted) throw;
      notices_.push_back("the journal of " + name + " is missing: " + failure.what());
    }
  }
  return any;
}

/// Each page is a file of a journal.
bool GatheredJournals::gather_from(Cluster& node, const std::string& name, std::optional<JobId> job) {
  const fs::path directory = fs::path(directory_) / name / "journal";
  std::uint64_t written = 0;
  for (JournalPlace read;;) {
    if (limits_.stops()) throw Failure({ErrorCode::interrupted, "the journals are not wanted any more"});
    const JournalPage page = node.journal({0, job, read, limits_.logs, limits_.which});
    for (const std::string& notice : page.notices) notices_.push_back(name + ": " + printable(notice));
    if (page.read.file == 0) return written > 0;
    read = page.read;
    if (!page.bytes) continue;
    bytes_ += page.bytes.size_bytes();
    if (bytes_ > limits_.bytes_max) {
      throw Failure(
          {ErrorCode::disk_full,
           "the journals have more than " + std::to_string(limits_.bytes_max >> 20) + " MiB of it",
           "`dag report`, `dag trace` and `dag history` read them on the machine where you call them"});
    }
    std::error_code problem;
    fs::create_directories(directory, problem);
    if (problem)
      throw Failure({ErrorCode::disk_full, "cannot make " + directory.string() + ": " + problem.message()});
    const fs::path file = directory / ("journal-" + std::to_string(++written));
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(page.bytes.bytes().data()),
              static_cast<std::streamsize>(page.bytes.size_bytes()));
    out.close();
    if (!out)
      throw Failure({ErrorCode::disk_full, "cannot write " + file.string() + ": " + std::strerror(errno)});
  }
}

}  // namespace dag::detail
