#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text for people and for JSON. Pure.
namespace flow::app {

// What came from the topic or from Kafka, safe to show on a terminal: control characters, and bytes
// that are not UTF-8, become \xNN.
std::string printable(std::string_view text);

// Valid UTF-8: what is not becomes U+FFFD.
std::string valid_utf8(std::string_view text);

bool is_utf8(std::string_view text);

std::string joined(const std::vector<std::string>& parts, std::string_view between);

// Columns as wide as their widest cell, two spaces between, one row a line; cells are made
// printable.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace flow::app
