// Writes the corpus that fuzzing starts from: every kind of record in both forms, and hostile ones.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "schemas/codec.h"
#include "schemas/keys.h"
#include "tests/support/builders.h"

namespace {

void write(const std::filesystem::path& folder, const std::string& name, const std::string& key,
           const std::string& value) {
  std::ofstream{folder / name, std::ios::binary} << key << '\n' << value;
}

void write_kind(const std::filesystem::path& folder, const std::string& name,
                const flow::Record& record) {
  const auto key = flow::encode_key(flow::key_of(record));
  write(folder, name + ".bin", key, flow::encode(record));
  write(folder, name + ".json", key, flow::to_json(record));
}

void write_hostile(const std::filesystem::path& folder) {
  const auto request = flow::test::request_of(1);
  const auto key = flow::encode_key(flow::key_of(request));
  const auto bytes = flow::encode(request);
  const auto text = flow::to_json(request);
  const std::string open = R"({"body_type":"Request","body":{"id":")" + request.id.value() + '"';
  write(folder, "hostile.empty", key, "");
  write(folder, "hostile.half.bin", key, bytes.substr(0, bytes.size() / 2));
  write(folder, "hostile.half.json", key, text.substr(0, text.size() / 2));
  write(folder, "hostile.other_id", flow::encode_key(flow::key_of(flow::test::request_of(2))),
        bytes);
  write(folder, "hostile.other_kind", flow::encode_key(flow::key_of(flow::test::cancel_of(1))),
        text);
  write(folder, "hostile.no_position", key, open + R"(,"groups":["g"]}})");
  write(folder, "hostile.misspelt", key, open + R"(,"postion":{"kind":"earliest"}}})");
  write(folder, "hostile.wrong_enum", key, open + R"(,"position":{"kind":200}}})");
  write(folder, "hostile.wrong_union", key, R"({"body_type":200,"body":{}})");
  write(folder, "hostile.null", key, open + R"(,"asked_by":"a\u0000b","position":{"kind":0}}})");
  write(folder, "hostile.surrogate", key, open + R"(,"asked_by":"\ud83d","position":{}}})");
  write(folder, "hostile.number", key, open + R"(,"asked_at_ms":1e400,"position":{}}})");
  write(folder, "hostile.deep", key, open + ",\"position\":" + std::string(200, '['));
  write(folder, "hostile.group_with_slash",
        flow::encode_key(flow::key_of(flow::test::result_of(1, "a/b/7", 5))),
        flow::encode(flow::test::result_of(1, "a/b/7", 5)));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: flow_fuzz_corpus FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder{words[1]};
  std::filesystem::create_directories(folder);
  for (const auto& [name, record] : flow::test::full_records()) {
    write_kind(folder, name + ".full", record);
  }
  for (const auto& [name, record] : flow::test::bare_records()) {
    write_kind(folder, name + ".bare", record);
  }
  write_hostile(folder);
  return 0;
}
