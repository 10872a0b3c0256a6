#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flow::test {

// Pseudo-random numbers that are the same on every machine for the same seed (SplitMix64, Steele,
// Lea and Flood 2014); the standard library's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // A number from 0 to bound - 1; bound is at least 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  // A number from `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  // True `percent` times in a hundred.
  bool chance(unsigned percent) { return below(100) < percent; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(i)]);
    }
  }

  std::string bytes(std::size_t size) {
    std::string out;
    while (out.size() < size) {
      out += static_cast<char>(next() & 0xff);
    }
    return out;
  }

 private:
  std::uint64_t state_;
};

// Takes the name of an environment variable; returns its number, or `otherwise` where it is not
// set.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise);

}  // namespace flow::test
