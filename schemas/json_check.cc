#include "schemas/json_check.h"

#include <flatbuffers/idl.h>

#include <boost/json.hpp>

namespace flow::wire {
namespace {

namespace json = boost::json;
using flatbuffers::EnumDef;
using flatbuffers::StructDef;
using flatbuffers::Type;

using Problem = std::optional<std::string>;

Problem check_table(const json::value& value, const StructDef& table, const std::string& path);

std::string below(const std::string& path, std::string_view field) {
  return path.empty() ? std::string{field} : path + "." + std::string{field};
}

std::string names_of(const EnumDef& choices) {
  std::string names;
  for (const auto* choice : choices.Vals()) {
    if (choice->name != "NONE") {
      names += (names.empty() ? "" : ", ") + choice->name;
    }
  }
  return names;
}

Problem check_choice(const json::value& value, const EnumDef& choices, const std::string& path) {
  if (value.is_int64()) {
    return std::nullopt;
  }
  if (!value.is_string()) {
    return path + ": is neither a name nor a whole number";
  }
  const std::string name{value.get_string()};
  if (choices.Lookup(name) == nullptr) {
    return path + ": '" + name + "' is none of " + names_of(choices);
  }
  return std::nullopt;
}

Problem check_value(const json::value& value, const Type& type, const std::string& path);

Problem check_list(const json::value& value, const Type& type, const std::string& path) {
  if (!value.is_array()) {
    return path + ": is not a list";
  }
  std::size_t i = 0;
  for (const auto& element : value.get_array()) {
    const std::string at = path + "[" + std::to_string(i++) + "]";
    if (element.is_null()) {
      return at + ": is null";
    }
    if (auto problem = check_value(element, type.VectorType(), at)) {
      return problem;
    }
  }
  return std::nullopt;
}

Problem check_value(const json::value& value, const Type& type, const std::string& path) {
  if (type.base_type == flatbuffers::BASE_TYPE_STRUCT) {
    return check_table(value, *type.struct_def, path);
  }
  if (type.base_type == flatbuffers::BASE_TYPE_VECTOR) {
    return check_list(value, type, path);
  }
  if (type.base_type == flatbuffers::BASE_TYPE_STRING) {
    return value.is_string() ? Problem{} : path + ": is not a text";
  }
  if (type.base_type == flatbuffers::BASE_TYPE_BOOL) {
    return value.is_bool() ? Problem{} : path + ": is neither true nor false";
  }
  if (type.enum_def != nullptr) {
    return check_choice(value, *type.enum_def, path);
  }
  return value.is_int64() ? Problem{} : path + ": is not a whole number of 64 bits";
}

// The table that a union's field holds; its type stands in the field beside it.
Problem check_union(const json::object& object, const flatbuffers::FieldDef& field,
                    const json::value& value, const std::string& path) {
  const auto* named = object.if_contains(field.name + "_type");
  if (named == nullptr) {
    return path + "_type: is missing";
  }
  const auto& choices = *field.value.type.enum_def;
  const auto* choice = named->is_string()  ? choices.Lookup(std::string{named->get_string()})
                       : named->is_int64() ? choices.ReverseLookup(named->get_int64())
                                           : nullptr;
  if (choice == nullptr || choice->union_type.struct_def == nullptr) {
    return std::nullopt;  // the type's own check, or FlatBuffers, names it
  }
  return check_table(value, *choice->union_type.struct_def, path);
}

Problem check_table(const json::value& value, const StructDef& table, const std::string& path) {
  if (!value.is_object()) {
    return path + ": is not an object";
  }
  const auto& object = value.get_object();
  for (const auto& [key, member] : object) {
    const std::string name{key};
    const auto* field = table.fields.Lookup(name);
    if (field == nullptr) {
      return below(path, name) + ": unknown field '" + name + "' in " + table.name;
    }
    if (member.is_null()) {
      continue;  // as if it were absent
    }
    const std::string at = below(path, name);
    auto problem = field->value.type.base_type == flatbuffers::BASE_TYPE_UNION
                       ? check_union(object, *field, member, at)
                       : check_value(member, field->value.type, at);
    if (problem) {
      return problem;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> json_problem(const flatbuffers::Parser& schema, std::string_view text) {
  json::stream_parser parser;
  boost::system::error_code failed;
  const std::size_t read = parser.write_some(text.data(), text.size(), failed);
  if (!failed && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) {
    failed = json::error::extra_data;
  }
  if (!failed) {
    parser.finish(failed);
  }
  if (failed) {
    return "not JSON text: " + failed.message() + " at byte " + std::to_string(read);
  }
  return check_table(parser.release(), *schema.root_struct_def_, {});
}

}  // namespace flow::wire
