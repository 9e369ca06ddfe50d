// The main of every peer: reads what is asked, prints what was measured.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/bench/peers/peer.hpp"

int main(int argc, char** argv) {
  using namespace dag::bench;
  try {
    if (argc < 2 || argc % 2 != 0) {
      throw std::invalid_argument(std::string("usage: ") + argv[0] + " WORKLOAD [--option value]...");
    }
    Request request(argv[0], argv[1]);
    for (int i = 2; i + 1 < argc; i += 2) {
      const std::string name = argv[i];
      if (!name.starts_with("--")) throw std::invalid_argument("'" + name + "' is not an option");
      request.options[name.substr(2)] = argv[i + 1];
    }
    const Figures figures = measure(request);
    nlohmann::json line(figures.numbers);
    if (line.is_null()) line = nlohmann::json::object();
    for (const auto& [name, word] : figures.words) line[name] = word;
    std::cout << line.dump() << std::endl;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
