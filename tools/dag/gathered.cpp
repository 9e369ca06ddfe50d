#include "tools/dag/gathered.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace dag::tool {
namespace {

namespace fs = std::filesystem;

std::string make_directory() {
  std::string name = (fs::temp_directory_path() / "dag-record-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Failure({ErrorCode::disk_full, "cannot make " + name + ": " + std::strerror(errno)});
  return name;
}

}  // namespace

GatheredJournals::GatheredJournals(const Options& options, std::optional<JobId> job,
                                   const std::vector<std::string>& paths)
    : paths_(paths) {
  if (!paths_.empty()) return;
  const auto first = connect(options);
  const std::vector<NodeInfo> nodes = first->nodes();
  directory_ = make_directory();
  bool any = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string name = to_string(nodes[i].life.process);
    try {
      if (!is_up(nodes[i].state)) {
        std::cerr << "dag: without the part of " << name << ", which is not there\n";
      } else if (i == 0) {
        any = gather_from(*first, name, job) || any;
      } else {
        any = gather_from(*detail::connect(nodes[i].endpoint.control), name, job) || any;
      }
    } catch (const Failure& failure) {
      std::cerr << "dag: without the part of " << name << ": " << failure.what() << '\n';
    }
  }
  if (any) {
    paths_ = {directory_};
    return;
  }
  fs::remove_all(directory_);
  throw Failure({ErrorCode::job_unknown,
                 job ? "no journal of these nodes says anything of " + to_string(*job)
                     : "no journal of these nodes knows of a job",
                 "nodes keep one with `--data DIR`; --from DIR reads those of nodes that are gone"});
}

GatheredJournals::~GatheredJournals() {
  std::error_code none;
  if (!directory_.empty()) fs::remove_all(directory_, none);
}

/// Each page is a file of a journal.
bool GatheredJournals::gather_from(detail::Cluster& node, const std::string& name, std::optional<JobId> job) {
  const fs::path directory = fs::path(directory_) / name / "journal";
  std::uint64_t written = 0;
  for (std::uint64_t after = 0;;) {
    const JournalPage page = node.journal(job, after);
    for (const std::string& notice : page.notices)
      std::cerr << "dag: " << name << ": " << shown(notice) << '\n';
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

std::shared_ptr<std::vector<std::string>> add_from(CLI::App& command) {
  auto paths = std::make_shared<std::vector<std::string>>();
  command.add_option(
      "--from", *paths,
      "read these instead of asking a cluster: data directories of nodes, a directory with some, "
      "or files of a journal");
  return paths;
}

}  // namespace dag::tool
