#!/usr/bin/python3
"""Holds the sources against the house rules that no compiler checks; what may include what is the
table of docs/ARCHITECTURE.md. Prints file:line: rule: what is wrong.

  scripts/tidy.py              checks the whole tree; exit 1 where a rule is broken
  scripts/tidy.py --self-test  checks that each rule finds what it must find and nothing else
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES_MAX = 500
COLUMNS_MAX = {".h": 100, ".cc": 100}  # what clang-format keeps
COLUMNS_MAX_ELSE = 120
FUNCTION_LINES_MAX = 70

PAGE = ROOT / "docs" / "ARCHITECTURE.md"
# What the page's table calls a library, and what its headers' names begin with.
LIBRARIES = {
    "Asio": "boost/asio/", "Boost.JSON": "boost/json", "Boost.Outcome": "boost/outcome/", "CLI11": "CLI/",
    "FlatBuffers": "flatbuffers/", "OpenSSL": "openssl/", "RocksDB": "rocksdb/", "librdkafka": "librdkafka/",
    "spdlog": "spdlog/", "yaml-cpp": "yaml-cpp/",
}


def modules_of(page):
    """What each module may include: the table of docs/ARCHITECTURE.md, beginnings of names by folder. A module is
    the longest of these folders that a file's path begins with. Raises ValueError on what it cannot read."""
    found = {"tests": [""]}
    for row in re.findall(r"^\| `([^`]+)/` \|[^|]*\|([^|]*)\|$", page, re.M):
        folder, names = row[0], [name.strip() for name in row[1].split(",")]
        found[folder] = [f"{folder}/"]
        for name in names:
            if name not in LIBRARIES and not re.fullmatch(r"`[^` ]+`", name):
                raise ValueError(f"the row of {folder}/ allows '{name}', which is no library and no `path`")
            found[folder].append(LIBRARIES.get(name, name.strip("`")))
    return found


MODULES = modules_of(PAGE.read_text(encoding="utf-8"))
# Where a generated or compiled-once file needs more than its module.
INCLUDE_EXCEPTIONS = {
    "engine/ports/fail_point_on.cc": ["poll.h", "signal.h", "unistd.h"],
}

# Takes values, returns values: no clock, no randomness, no threads, no environment, no input or output.
PURE = ("schemas", "store", "engine/decide")
PURE_EXCEPTIONS = {"schemas/uuid.cc": "openssl/rand.h"}
IMPURE = re.compile(
    r"#\s*include\s*<(chrono|random|thread|mutex|ctime|iostream|fstream|openssl/rand\.h)>"
    r"|\b(?:std::chrono|system_clock|steady_clock|gettimeofday|clock_gettime|getenv|std::rand|random_device"
    r"|mt19937)\b|\bstd::time\s*\(")

BLOCKING = re.compile(r"\b(?:sleep_for|sleep_until\s*\(\s*std|usleep|nanosleep)\b|\bstd::j?thread\b(?!::)"
                      r"|(?<![\w.:>])sleep\s*\(")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = {".h", ".cc"}
TEXT_SUFFIXES = SUFFIXES | {".py", ".fbs", ".java", ".cmake"}
SKIPPED = {"build", ".git", "__pycache__"}


def module_of(path):
    names = [name for name in MODULES if path == name or path.startswith(name + "/")]
    return max(names, key=len) if names else None


def is_product(path):
    return not path.startswith("tests/")


def blank(text):
    """The same text with comments and string literals blanked, so that lines and columns stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^ ()\\\n]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def check_includes(path, lines):
    module = module_of(path)
    if module is None:
        yield 1, "include", "no row of the table in docs/ARCHITECTURE.md is about this folder"
        return
    allowed = MODULES[module]
    extra = INCLUDE_EXCEPTIONS.get(path, [])
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        name = found.group(1)
        if module != "tests" and name.startswith("tests/"):
            yield number, "include", f"the product must not know '{name}'"
            continue
        if "/" not in name and not (name.endswith(".h") and '"' in line):
            continue  # the standard library and the system
        if not any(name.startswith(prefix) for prefix in allowed + extra):
            yield number, "include", f"{module} must not include '{name}'"


def check_lengths(path, lines):
    columns_max = COLUMNS_MAX.get(pathlib.PurePath(path).suffix, COLUMNS_MAX_ELSE)
    if len(lines) > LINES_MAX:
        yield len(lines), "length", f"{len(lines)} lines, more than {LINES_MAX}"
    for number, line in enumerate(lines, 1):
        if len(line) > columns_max:
            yield number, "columns", f"{len(line)} columns, more than {columns_max}"


def matching(text, at, opening, closing):
    """The place of the bracket that closes the one at `at`, or the text's end."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == closing:
            depth -= 1
            if depth == 0:
                return place
    return len(text)


# A brace that opens a function: behind a parameter list and what may stand between.
FUNCTION = re.compile(r"\)\s*(?:(?:const|noexcept|override|final|mutable)\b\s*|->[^{};()]*|:[^;]*?[)}]\s*)*\{")
# No functions; a test case is a table or a story, and may be longer.
CONTROL = re.compile(r"\b(?:if|for|while|switch|catch|TEST_CASE|SECTION)\b\s*(?:constexpr\s*)?$")


def check_functions(code):
    ends = -1
    for found in FUNCTION.finditer(code):
        brace = found.end() - 1
        if brace <= ends:
            continue  # inside a function that was measured already
        opening = code.rfind("(", 0, found.start())
        depth = 1
        place = found.start()
        while depth > 0 and place > 0:
            place -= 1
            depth += (code[place] == ")") - (code[place] == "(")
        opening = place
        if CONTROL.search(code[:opening]):
            continue
        ends = matching(code, brace, "{", "}")
        first = line_of(code, code.rfind("\n", 0, opening) + 1)
        lines = line_of(code, ends) - first + 1
        if lines > FUNCTION_LINES_MAX:
            yield first, "function", f"a function of {lines} lines, more than {FUNCTION_LINES_MAX}"


LAMBDA = re.compile(r"(?<![\w\])])\[([^\[\]]*)\]\s*(?=[({]|mutable\b|->)")


def check_coroutine_lambdas(code):
    for found in LAMBDA.finditer(code):
        if not found.group(1).strip():
            continue
        at = found.end()
        if code[at] == "(":
            at = matching(code, at, "(", ")") + 1
        brace = code.find("{", at)
        between = code[at:brace] if brace >= 0 else ";"
        if re.search(r"[;,)\]}]", between):
            continue  # a subscript or an attribute, not a lambda
        body = code[brace:matching(code, brace, "{", "}")]
        if re.search(r"\bco_(?:await|return|yield)\b", body):
            yield (line_of(code, found.start()), "coroutine",
                   "a lambda with captures is a coroutine; make it a named function with arguments")


CONDITION = re.compile(r"\b(?:if|while|switch)\s*(?:constexpr\s*)?(?=\()")


def check_coroutine_conditions(code):
    """g++ 12 lays the frame out wrongly; docs/decisions/0003 says how."""
    for found in CONDITION.finditer(code):
        condition = code[found.end():matching(code, found.end(), "(", ")")]
        if "co_await" in condition:
            yield (line_of(code, found.start()), "coroutine",
                   "a co_await in a condition; give its answer a name before")


def check_words(path, text, code):
    for found in UNFINISHED.finditer(text):
        yield line_of(text, found.start()), "unfinished", f"'{found.group()}' must not land"
    if not is_product(path):
        return
    for found in BLOCKING.finditer(code):
        yield line_of(code, found.start()), "blocking", f"'{found.group().strip()}' in product code"
    if path.startswith(tuple(folder + "/" for folder in PURE)):
        for found in IMPURE.finditer(code):
            if path in PURE_EXCEPTIONS and found.group(1) == PURE_EXCEPTIONS[path]:
                continue
            yield line_of(code, found.start()), "pure", f"'{found.group().strip()}' in a pure folder"


def check_text(path, text):
    """All that is wrong with one file, as (line, rule, what)."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    yield from check_lengths(path, lines)
    suffix = pathlib.PurePath(path).suffix
    if suffix not in SUFFIXES:
        if path != "scripts/tidy.py":
            for found in UNFINISHED.finditer(text):
                yield line_of(text, found.start()), "unfinished", f"'{found.group()}' must not land"
        return
    code = blank(text)
    yield from check_includes(path, lines)
    yield from check_functions(code)
    yield from check_coroutine_lambdas(code)
    yield from check_coroutine_conditions(code)
    yield from check_words(path, text, code)


def sources():
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if any(part in SKIPPED for part in relative.parts):
            continue
        scripts = relative.parts[0] == "scripts" and path.suffix == "" and path.is_file()
        if (path.suffix in TEXT_SUFFIXES or scripts) and path.is_file():
            yield relative.as_posix(), path


def check_tree():
    broken = 0
    for folder in MODULES:
        if not (ROOT / folder).is_dir():
            print(f"docs/ARCHITECTURE.md: include: the table has a row for {folder}/, which is not there")
            broken += 1
    for name, path in sources():
        for line, rule, what in check_text(name, path.read_text(encoding="utf-8", errors="replace")):
            print(f"{name}:{line}: {rule}: {what}")
            broken += 1
    return 1 if broken else 0


# Path, text, and the rules that it breaks.
SAMPLES = [
    ("schemas/a.cc", '#include "schemas/b.h"\n#include <vector>\n#include <flatbuffers/idl.h>\n', []),
    ("schemas/a.cc", '#include "store/b.h"\n', ["include"]),
    ("schemas/a.cc", "#include <spdlog/spdlog.h>\n", ["include"]),
    ("store/a.cc", '#include "engine/ports/values.h"\n', ["include"]),
    ("store/a.cc", "#include <boost/asio/awaitable.hpp>\n", ["include"]),
    ("engine/ports/a.h", '#include "store/facts.h"\n', ["include"]),
    ("engine/ports/a.h", "#include <boost/asio/awaitable.hpp>\n", []),
    ("engine/ports/a.h", "#include <boost/asio/steady_timer.hpp>\n", ["include"]),
    ("engine/decide/a.cc", '#include "store/facts.h"\n', []),
    ("engine/decide/a.cc", '#include "store/store.h"\n', ["include"]),
    ("engine/decide/a.cc", '#include "engine/ports/clock.h"\n', ["include"]),
    ("engine/decide/a.cc", '#include "a.h"\n', ["include"]),
    ("engine/runtime/a.cc", "#include <librdkafka/rdkafka.h>\n", ["include"]),
    ("engine/runtime/a.cc", '#include "connectors/kafka/client.h"\n', ["include"]),
    ("connectors/kafka/a.cc", '#include "store/store.h"\n', ["include"]),
    ("connectors/kafka/a.cc", '#include "engine/decide/decide.h"\n', ["include"]),
    ("connectors/topology/a.cc", '#include "connectors/kafka/client.h"\n', ["include"]),
    ("engine/app/a.cc", '#include "connectors/kafka/client.h"\n#include "store/store.h"\n', []),
    ("engine/app/a.cc", '#include "tests/support/builders.h"\n', ["include"]),
    ("tests/sim/a.cc", '#include "engine/runtime/engine.h"\n#include <boost/json.hpp>\n', []),
    ("engine/a.cc", "int a;\n", ["include"]),
    ("store/a.cc", "// x\n" * 500, []),
    ("store/a.cc", "// x\n" * 501, ["length"]),
    ("scripts/a.py", "# x\n" * 501, ["length"]),
    ("store/a.cc", "x" * 100 + "\n", []),
    ("store/a.cc", "x" * 101 + "\n", ["columns"]),
    ("scripts/a.py", "x" * 120 + "\n", []),
    ("scripts/a.py", "x" * 121 + "\n", ["columns"]),
    ("store/a.cc", "int f(int a) {\n" + "  g();\n" * 68 + "}\n", []),
    ("store/a.cc", "int f(int a) {\n" + "  g();\n" * 69 + "}\n", ["function"]),
    ("store/a.cc", "A::A(int a)\n    : a_(a), b_{a} {\n" + "  g();\n" * 68 + "}\n", ["function"]),
    ("store/a.cc", "R T::f() const {\n" + "  if (a) {\n  }\n" * 35 + "}\n", ["function"]),
    ("tests/store/a.cc", 'TEST_CASE("a", "[b]") {\n' + "  g();\n" * 90 + "}\n", []),
    ("store/a.cc", "class A {\n" + "  void f() { g(); }\n" * 80 + "};\n", []),
    ("store/a.cc", "namespace {\n" + "int a = 1;\n" * 80 + "}\n", []),
    ("engine/runtime/a.cc", "auto f = [this]() -> A { co_return; };\n", ["coroutine"]),
    ("engine/runtime/a.cc", "spawn([&, x = 1](int a) mutable {\n  co_await b(a);\n});\n", ["coroutine"]),
    ("engine/runtime/a.cc", "auto f = []() -> A { co_return; };\n", []),
    ("engine/runtime/a.cc", "if (a &&\n    !co_await b(c)) {\n}\n", ["coroutine"]),
    ("engine/runtime/a.cc", "while (co_await b()) {\n}\n", ["coroutine"]),
    ("engine/runtime/a.cc", "const auto a = co_await b();\nif (a) {\n}\n", []),
    ("engine/runtime/a.cc", "auto f = [this] { g(); };\nA h() { co_return a[i]; }\n", []),
    ("tests/sim/a.cc", "run([&]() -> A { co_await b(); });\n", ["coroutine"]),
    ("engine/runtime/a.cc", "std::this_thread::sleep_for(a);\n", ["blocking"]),
    ("connectors/kafka/a.cc", "usleep(5);\n", ["blocking"]),
    ("connectors/kafka/a.cc", "std::thread t(f);\n", ["blocking"]),
    ("connectors/kafka/a.cc", "co_await clock.sleep_until(at);  // not sleep_for\n", []),
    ("tests/kafka/a.cc", "std::this_thread::sleep_for(a);\n", []),
    ("store/a.cc", "// TODO: more\n", ["unfinished"]),
    ("tests/store/a.cc", "int a;  // FIXME\n", ["unfinished"]),
    ("tests/broker/a.py", "# TODO\n", ["unfinished"]),
    ("store/a.cc", "#include <chrono>\n", ["pure"]),
    ("engine/decide/a.cc", "auto a = std::chrono::system_clock::now();\n", ["pure"]),
    ("schemas/a.cc", 'auto a = std::getenv("A");\n', ["pure"]),
    ("schemas/a.cc", "#include <openssl/rand.h>\n", ["pure"]),
    ("schemas/uuid.cc", "#include <openssl/rand.h>\n", []),
    ("schemas/uuid.cc", "#include <chrono>\n", ["pure"]),
    ("engine/decide/a.cc", "// what system_clock says\nconst char* a = \"getenv\";\n", []),
    ("engine/runtime/a.cc", "#include <chrono>\n", []),
]


# Rows of the table, and what they allow; nothing where they cannot be read.
TABLES = [
    ("| `a/` | what | `b/`, Asio |\n| `a/c/` | what | `b/d.h` |\n",
     {"tests": [""], "a": ["a/", "b/", "boost/asio/"], "a/c": ["a/c/", "b/d.h"]}),
    ("| `a/` | what | everything |\n", None),
    ("| `a/` | what | Qt |\n", None),
]


def self_test():
    wrong = 0
    for page, expected in TABLES:
        try:
            found = modules_of(page)
        except ValueError:
            found = None
        if found != expected:
            print(f"self-test: {page!r}: found {found}, expected {expected}")
            wrong += 1
    for path, text, expected in SAMPLES:
        found = sorted({rule for _, rule, _ in check_text(path, text)})
        if found != sorted(expected):
            print(f"self-test: {path}: {text[:60]!r}: found {found}, expected {expected}")
            wrong += 1
    print(f"self-test: {len(SAMPLES) + len(TABLES) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if sys.argv[1:]:
        print(__doc__)
        sys.exit(2)
    sys.exit(check_tree())
