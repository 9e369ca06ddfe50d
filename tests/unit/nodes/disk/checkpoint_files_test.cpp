// Saves on the disk: what is written is read again, and whatever is damaged is found.

#include "nodes/disk/checkpoint_files.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "nodes/disk/checkpoint_store.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace dag;
namespace fs = std::filesystem;
using test::text_of;

namespace {

Blob blob(const std::string& text) { return Blob(std::as_bytes(std::span(text))); }

Checkpoint checkpoint(std::uint32_t number) {
  Checkpoint made{"job7 train", 2, number, number - 1, {}};
  made.chunks.push_back(
      {"stage 0", {{0, 41}, {{1, 1}, 2}}, {}, blob(std::string(5000, 'a') + std::to_string(number))});
  made.chunks.push_back(
      {"stage 1", {{3, 42}, {{1, 1}, 1}}, {{{0, 40}, {{1, 2}, 7}}, {{1, 4}, {{2, 1}, 1}}}, blob("")});
  return made;
}

std::string text_of(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes().data()), blob.size_bytes()};
}
void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

keeper::SaveCopy save_of(std::uint32_t number, std::uint32_t actor, const std::string& state) {
  const OutputName name{{0, 10 * number + actor}, {{1, 1}, 1}};
  return {{7}, "train", "stage " + std::to_string(actor), {{0, 2, number, actor}, name, {}, blob(state)}};
}

keeper::SaveCopy task_save(std::uint32_t number, const std::string& state) {
  return {{7}, "train", "long", {{}, {{1, 5}, {{1, 1}, number}}, {{{0, 4}, {{1, 1}, 1}}}, blob(state)}};
}

}  // namespace

TEST_CASE("a save is read as it was written, and the two newest stay") {
  const test::TemporaryDirectory place;
  const fs::path group = place.path() / "group";
  for (const std::uint32_t number : {1u, 2u, 3u}) REQUIRE(write_checkpoint(group, checkpoint(number)));
  CHECK(saves_in(group) == std::vector<std::uint32_t>{2, 3});
  CHECK_FALSE(fs::exists(save_path(group, 1)));
  const auto read = read_checkpoint(save_path(group, 3));
  REQUIRE(read);
  const Checkpoint wanted = checkpoint(3);
  CHECK(read->job == wanted.job);
  CHECK(read->group == 2);
  CHECK(read->number == 3);
  CHECK(read->previous == 2);
  REQUIRE(read->chunks.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(read->chunks[i].actor == wanted.chunks[i].actor);
    CHECK(read->chunks[i].name == wanted.chunks[i].name);
    CHECK(read->chunks[i].inputs == wanted.chunks[i].inputs);
    CHECK(text_of(read->chunks[i].state) == text_of(wanted.chunks[i].state));
  }
}

TEST_CASE("every byte that is missing or different is found") {
  const test::TemporaryDirectory place;
  REQUIRE(write_checkpoint(place.path(), checkpoint(1)));
  const fs::path save = save_path(place.path(), 1);
  for (const char* name : {"c0", "MANIFEST"}) {
    const std::string whole = text_of(save / name);
    for (std::size_t at = 0; at < whole.size(); at += name[0] == 'c' ? 997 : 1) {
      CAPTURE(name, at);
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      for (const std::string& bad : {changed, whole.substr(0, at)}) {
        put(save / name, bad);
        const auto read = read_checkpoint(save);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == ErrorCode::checkpoint_damaged);
      }
    }
    put(save / name, whole);
    REQUIRE(read_checkpoint(save));
  }
  fs::remove(save / "MANIFEST");
  CHECK(saves_in(place.path()).empty());
  CHECK_THAT(read_checkpoint(save).error().what, Catch::Contains("was never finished"));
}

TEST_CASE("a write that fails in the middle leaves nothing of the save, and the others as they were") {
  const test::TemporaryDirectory place;
  REQUIRE(write_checkpoint(place.path(), checkpoint(1)));
  // As a full disk does it, files can grow to 1000 bytes and no further.
  struct rlimit before {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1000, before.rlim_max };
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status written = write_checkpoint(place.path(), checkpoint(2));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().what, Catch::Contains("cannot write") && Catch::Contains("save-2/c0"));
  CHECK_FALSE(fs::exists(save_path(place.path(), 2)));
  CHECK(read_checkpoint(save_path(place.path(), 1)));
}

TEST_CASE("the store puts the saves of a group together, and deletes those of a job that ended well") {
  const test::TemporaryDirectory place;
  const Life self{{3}, {9}};
  const bool well = GENERATE(true, false);
  std::vector<std::string> said;
  {
    CheckpointStore store(place.path(), self, {},
                          [&](LogLevel, const std::string& line) { said.push_back(line); });
    store.keep(save_of(1, 0, "a1"));
    store.keep(save_of(1, 1, "b1"));
    store.keep(save_of(2, 1, "b2"));  // Its other half never comes.
  }
  const fs::path group = place.path() / "n3.9-job7" / "group-0";
  REQUIRE(saves_in(group) == std::vector<std::uint32_t>{1});
  const auto read = read_checkpoint(save_path(group, 1));
  REQUIRE(read);
  REQUIRE(read->chunks.size() == 2);
  CHECK(text_of(read->chunks[0].state) == "a1");
  CHECK(read->chunks[1].actor == "stage 1");
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("save 1 of job7 train, group 0, is on the disk"));
  {
    CheckpointStore store(place.path(), self, {},
                          [&](LogLevel, const std::string& line) { said.push_back(line); });
    store.keep(save_of(1, 0, "a1"));
    store.keep(save_of(1, 1, "b1"));
    store.job_ended({7}, well);
    store.keep(save_of(2, 0, "too late"));
  }
  CHECK_THAT(said[1], Catch::Contains("an earlier start left") && Catch::Contains("intact"));
  CHECK(fs::exists(group) == !well);
}

TEST_CASE("a group that saves faster than the disk writes keeps no other waiting") {
  const std::pair<JobId, std::uint32_t> other =
      GENERATE(std::pair(JobId{8}, 0u), std::pair(JobId{7}, 5u), std::pair(JobId{6}, 1u));
  const test::TemporaryDirectory place;
  const auto save = [](JobId of, std::uint32_t group, std::uint32_t number) {
    const OutputName name{{0, number}, {{1, 1}, 1}};
    return keeper::SaveCopy{of, "train", "stage", {{group, 1, number, 0}, name, {}, blob("x")}};
  };
  std::vector<std::string> said;
  CheckpointStore* here = nullptr;
  {
    // Each time that one was written the next one of the first group is there already.
    CheckpointStore store(place.path(), {{3}, {9}}, {}, [&](LogLevel, const std::string& line) {
      said.push_back(line);
      if (said.size() == 1) here->keep(save(other.first, other.second, 1));
      if (said.size() < 20) here->keep(save({7}, 0, static_cast<std::uint32_t>(said.size()) + 1));
    });
    here = &store;
    store.keep(save({7}, 0, 1));
  }
  REQUIRE(said.size() > 2);
  CHECK_THAT(said[1], Catch::Contains("save 1 of " + to_string(other.first)) &&
                          Catch::Contains("group " + std::to_string(other.second)));
}

TEST_CASE("a store that cannot write says so, and goes on") {
  const test::TemporaryDirectory place;
  put(place.path() / "file", "");
  std::vector<std::pair<LogLevel, std::string>> said;
  {
    CheckpointStore store(place.path() / "file", {{3}, {9}}, {},
                          [&](LogLevel level, const std::string& line) { said.emplace_back(level, line); });
    for (const std::uint32_t actor : {0u, 1u}) store.keep(save_of(1, actor, "x"));
  }
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == LogLevel::warn);
  CHECK_THAT(said[0].second,
             Catch::Contains("save 1 of job7 train, group 0, is not kept on the disk: cannot make"));
}

TEST_CASE("what a job saved is read back at the next start, damaged saves left out, and goes on there") {
  const test::TemporaryDirectory place;
  const auto silent = [](LogLevel, const std::string&) {};
  {
    CheckpointStore store(place.path(), {{3}, {9}}, {}, silent);
    CHECK_FALSE(store.read({7}, "train", [](auto) {}));
    for (const std::uint32_t actor : {0u, 1u}) store.keep(save_of(1, actor, "first"));
    store.keep(task_save(1u << 31, "one"));
  }
  {
    CheckpointStore store(place.path(), {{3}, {10}}, {{7}}, silent);
    for (const std::uint32_t actor : {0u, 1u}) store.keep(save_of(2, actor, "second"));
    store.keep(task_save((1u << 31) + 1, "two"));
  }
  const fs::path job = place.path() / "n3.9-job7";
  CHECK(saves_in(job / "group-0") == std::vector<std::uint32_t>{1, 2});
  CHECK(saves_in(job / "task-s0-5") == std::vector<std::uint32_t>{1, 2});
  CHECK_FALSE(fs::exists(place.path() / "n3.10-job7"));
  put(save_path(job / "group-0", 2) / "c1", "damagd");
  std::map<OutputName, std::string> found;
  const std::string name = GENERATE("train", "another");
  {
    CheckpointStore store(place.path(), {{3}, {11}}, {{7}}, silent);
    CHECK(store.read({7}, name, [&](std::vector<KeepSave> saves) {
      for (const KeepSave& save : saves) {
        CHECK(save.inputs ==
              (save.name.task.origin == 0 ? std::vector<OutputName>{} : task_save(0, "").save.inputs));
        found[save.name] = text_of(save.bytes);
      }
    }));
  }
  if (name == "another") {
    CHECK(found.empty());
    return;
  }
  CHECK(found == std::map<OutputName, std::string>{{save_of(1, 0, "").save.name, "first"},
                                                   {save_of(1, 1, "").save.name, "first"},
                                                   {task_save(1u << 31, "").save.name, "one"},
                                                   {task_save((1u << 31) + 1, "").save.name, "two"}});
}
