// Results on the disk.
#include "nodes/disk/result_spill.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <future>

#include "tests/support/temporary_directory.hpp"

using namespace dag;

namespace {

Blob numbers(std::size_t count) {
  return Blob::make_on_heap(count, [&](std::byte* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(i * 31);
  });
}

bool same(const Blob& a, const Blob& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

}  // namespace

TEST_CASE("bytes on the disk are the same bytes, and leave no file behind") {
  const test::TemporaryDirectory directory;
  const std::size_t size = GENERATE(0U, 8U, 9U, 4096U, 1'000'000U);
  const Blob before = numbers(size);
  const Result<Blob> after = on_disk(directory.path().string(), before, 0);
  REQUIRE(after);
  CHECK(same(before, *after));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a disk that would be too full, or a directory that is not there, is said") {
  const test::TemporaryDirectory directory;
  const Result<Blob> full = on_disk(directory.path().string(), numbers(100), std::uint64_t{1} << 60);
  REQUIRE_FALSE(full);
  CHECK(full.error().code == ErrorCode::disk_full);
  CHECK_FALSE(on_disk((directory.path() / "none").string(), numbers(100), 0));
}

TEST_CASE("results are written behind whoever hands them over") {
  const test::TemporaryDirectory directory;
  std::promise<client::TaskSettled> done;
  ResultSpill spill(directory.path().string(), [&](client::TaskSettled settled, const Status& written) {
    CHECK(written);
    done.set_value(std::move(settled));
  });
  const Blob output = numbers(100'000);
  spill.write({JobId{7}, 3, Outcome::finished, output, {}});
  const client::TaskSettled settled = done.get_future().get();
  CHECK(settled.job == JobId{7});
  CHECK(settled.task == 3);
  CHECK(same(settled.output, output));
}
