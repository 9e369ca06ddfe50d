#include "libdag/client/gathered_journals.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libdag/graph/text.hpp"

namespace dag::detail {
namespace {

namespace fs = std::filesystem;

std::string make_directory() {
  std::string name = (fs::temp_directory_path() / "dag-record-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Failure({ErrorCode::disk_full, "cannot make " + name + ": " + std::strerror(errno)});
  return name;
}

void remove(const std::string& directory) {
  std::error_code none;
  fs::remove_all(directory, none);
}

}  // namespace

GatheredJournals::GatheredJournals(const std::string& address, std::optional<JobId> job,
                                   Duration answers_within)
    : directory_(make_directory()) {
  bool any = false;
  try {
    any = gather(address, job, answers_within);
  } catch (...) {
    remove(directory_);  // Nobody else would: what was not made has no end.
    throw;
  }
  if (any) return;
  remove(directory_);
  throw Failure({ErrorCode::job_unknown,
                 job ? "no journal of these nodes says anything of " + to_string(*job)
                     : "no journal of these nodes knows of a job",
                 "nodes keep one with `--data DIR`; --from DIR reads those of nodes that are gone",
                 notices_.empty() ? "" : notices_.front()});
}

GatheredJournals::~GatheredJournals() { remove(directory_); }

bool GatheredJournals::gather(const std::string& address, std::optional<JobId> job, Duration answers_within) {
  const auto first = connect(address, connect_within_default, answers_within);
  const std::vector<NodeInfo> nodes = first->nodes();
  bool any = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string name = to_string(nodes[i].life.process);
    try {
      if (!is_up(nodes[i].state)) {
        notices_.push_back("without the part of " + name + ", which is not there");
      } else if (i == 0) {
        any = gather_from(*first, name, job) || any;
      } else {
        const auto other = connect(nodes[i].endpoint.control, connect_within_default, answers_within);
        any = gather_from(*other, name, job) || any;
      }
    } catch (const Failure& failure) {
      notices_.push_back("without the part of " + name + ": " + failure.what());
    }
  }
  return any;
}

/// Each page is a file of a journal.
bool GatheredJournals::gather_from(Cluster& node, const std::string& name, std::optional<JobId> job) {
  const fs::path directory = fs::path(directory_) / name / "journal";
  std::uint64_t written = 0;
  for (std::uint64_t after = 0;;) {
    const JournalPage page = node.journal(job, after);
    for (const std::string& notice : page.notices) notices_.push_back(name + ": " + printable(notice));
    if (page.file <= after) return written > 0;
    after = page.file;
    if (!page.bytes) continue;
    fs::create_directories(directory);
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
