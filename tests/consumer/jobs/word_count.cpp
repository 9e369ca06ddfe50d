// Counts words: a task for each part of a text, and one that adds the counts (map and reduce).
#include <algorithm>
#include <cctype>
#include <dag/dag.hpp>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

using Counts = std::map<std::string, std::uint64_t>;

Counts count(const std::string& text) {
  Counts counts;
  std::string word;
  for (const char c : text + ' ') {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      ++counts[std::exchange(word, {})];
    }
  }
  return counts;
}

Counts add(const std::vector<Counts>& parts) {
  Counts sum;
  for (const Counts& part : parts) {
    for (const auto& [word, times] : part) sum[word] += times;
  }
  return sum;
}

// prints: 3 parts, 13 words, 10 different; the most frequent: the (3)
int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph g("word-count");
  const std::vector<std::string> parts{"The cat sat on the mat.", "A dog saw the cat;", "it ran."};
  std::vector<dag::Output<Counts>> counted;
  for (const std::string& part : parts) counted.push_back(g.task("count", count, part));
  const auto sum = g.task("add", add, counted);
  const auto most = g.task(
      "most",
      [](const Counts& counts) {
        return *std::max_element(counts.begin(), counts.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
      },
      sum);
  const dag::Job job = session.submit(g);
  const Counts all = job.get(sum);
  std::uint64_t words = 0;
  for (const auto& [word, times] : all) words += times;
  const std::pair<std::string, std::uint64_t> first = job.get(most);
  std::cout << parts.size() << " parts, " << words << " words, " << all.size()
            << " different; the most frequent: " << first.first << " (" << first.second << ")\n";
}
