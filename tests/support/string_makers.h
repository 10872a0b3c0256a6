#pragma once

#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "schemas/keys.h"

// How Catch prints our values when a test fails.
namespace Catch {

template <>
struct StringMaker<flow::Record> {
  static std::string convert(const flow::Record& record) { return flow::to_json(record); }
};

template <>
struct StringMaker<flow::RecordKey> {
  static std::string convert(const flow::RecordKey& key) { return flow::encode_key(key); }
};

template <>
struct StringMaker<flow::Error> {
  static std::string convert(const flow::Error& error) {
    return std::string{flow::to_string(error.errc)} + ": " + error.detail;
  }
};

}  // namespace Catch
