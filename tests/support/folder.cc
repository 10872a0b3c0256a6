#include "tests/support/folder.h"

#include <stdlib.h>

#include <stdexcept>

namespace flow::test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "flow-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder like " + name);
  }
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace flow::test
