#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "store/memory_tables.h"
#include "store/rocks_tables.h"
#include "store/store.h"
#include "tests/support/folder.h"

namespace flow::test {

enum class TablesKind : std::uint8_t { memory, rocks };

inline std::unique_ptr<store::Tables> tables_of(TablesKind kind, const Folder& folder,
                                                bool bulk = false) {
  if (kind == TablesKind::memory) {
    return std::make_unique<store::MemoryTables>();
  }
  auto opened = store::RocksTables::open(folder.at("store"), bulk);
  if (!opened) {
    throw std::runtime_error(opened.error().detail);
  }
  return std::move(opened).value();
}

inline std::unique_ptr<store::Store> store_of(std::unique_ptr<store::Tables> tables) {
  auto opened = store::Store::open(std::move(tables));
  if (!opened) {
    throw std::runtime_error(opened.error().detail);
  }
  return std::move(opened).value();
}

// All that a store answers, as text: two stores that answer the same have the same text.
std::string answers_of(const store::Store& store);

}  // namespace flow::test
