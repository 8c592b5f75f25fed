#!/usr/bin/env python3
"""Checks the web client's files by rules that no linter knows: safe DOM calls only, sizes, logical CSS, translations.

Prints the sizes. Exit status 1 if a rule is broken.
"""
import gzip
import json
import pathlib
import re
import runpy
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources/WebClient"
PAGE = SOURCES / "page"
FIRST_MODULES = runpy.run_path(str(SOURCES / "dev-server.py"))["first_modules"](PAGE)

# The first load, compressed as the node compresses it: the first page, the styles, the largest language, and `main.js` with
# all that it imports. That is the inbox and a conversation. The other modules and the emoji are loaded when they are needed.
FIRST_LOAD_BYTES_MAX = 100_000
MODULES_MAX = 70
LINES_MAX = 400
FOLDER_FILES_MAX = 15

# Ways to make markup or code from text, and styles that the Content-Security-Policy refuses.
UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|DOMParser|srcdoc|setHTMLUnsafe"
    r"|\beval\(|new Function\(|cssText|setAttribute\(\s*['\"](?:style|on\w+)['\"]|javascript:(?!['\"/\s])")
# An inline handler, an inline style or an inline script.
UNSAFE_MARKUP = re.compile(r"\son\w+\s*=|\sstyle\s*=|<style|<script(?![^>]*\ssrc=)", re.IGNORECASE)
# A right-to-left page mirrors logical properties only.
PHYSICAL = re.compile(
    r"(?:margin|padding|border)-(?:left|right)\b|(?<![-\w])(?:left|right)\s*:|text-align\s*:\s*(?:left|right)"
    r"|(?<![-\w])(?:float|clear)\s*:\s*(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius")
# The spaces that SourceText.swift removes, and what keeps it from a line.
SPACES = re.compile(r"(?<=[=,{}():;?<>&|!\[\]'])[ \t]+|[ \t]+(?=[=,{}():;?<>&|!\[\]'])")
LITERAL = re.compile(r"[/`\"]")


def lines(path, pattern, what):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := pattern.search(line):
            yield f"{path.relative_to(PAGE)}:{number}: {what}: {found.group().strip()}"


def sent(path):
    """The text of a module or a style sheet as the node sends it: SourceText.swift does the same."""
    kept, in_comment = [], False
    for line in path.read_text().splitlines():
        rest = line.strip(" \t") if not in_comment else line
        if in_comment or rest.startswith("/*"):
            body = rest if in_comment else rest[2:]
            in_comment = "*/" not in body
            rest = "" if in_comment else body.split("*/", 1)[1].strip(" \t")
        if not rest or rest.startswith("//"):
            continue
        if path.suffix == ".js":
            rest = re.sub(r"/\*\* .*?\*/[ \t]*", "", rest)
            # Every second part is in quotes.
            parts = rest.split("'")
            if "\\" not in rest and not any(LITERAL.search(part) for part in parts[::2]):
                parts[::2] = (SPACES.sub("", f"'{part}'")[1:-1] for part in parts[::2])
                rest = "'".join(parts)
        kept.append(rest + "\n")
    return "".join(kept)


def literals(path):
    """What SourceText.swift takes for granted. A template literal over several lines could hold a line that looks like a
    comment. In strings and in regular expressions a backtick means nothing."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith(("//", "*", "/*")):
            continue
        code = re.sub(r"'(?:[^'\\]|\\.)*'", "", line)
        if re.sub(r"= /(?:[^/\\]|\\.)+/", "", code).count("`") % 2:
            yield f"{path.relative_to(PAGE)}:{number}: a template literal must end on its line"
        if code.count("/** ") != line.count("/** "):
            yield f"{path.relative_to(PAGE)}:{number}: a string must not contain `/** `"
    for line in sent(path).splitlines():
        if "\\" not in line and not any(map(LITERAL.search, line.split("'")[::2])) and line.count("'") % 2:
            yield f"{path.relative_to(PAGE)}: a string must end on its line: {line}"


def bounds(modules, styles):
    folders = {}
    for path in modules + styles:
        folders.setdefault(path.parent, []).append(path)

    def size(paths):
        return sum(len(sent(path).encode()) for path in paths)

    def compressed(paths):
        return sum(len(gzip.compress(sent(path).encode() if path.suffix in (".js", ".css") else path.read_bytes()))
                   for path in paths)

    for name, paths in (("JavaScript in all", modules), ("JavaScript at first", FIRST_MODULES), ("CSS", styles)):
        print(f"web client: {name}: {size(paths)}, compressed {compressed(paths)}, in {len(paths)} files")
    languages = [compressed([path]) for path in (PAGE / "language").glob("*.json")]
    first = compressed([PAGE / "index.html", *FIRST_MODULES, *styles]) + max(languages)
    for name, value, most in (
        ("first load, compressed", first, FIRST_LOAD_BYTES_MAX),
        ("modules at first", len(FIRST_MODULES), MODULES_MAX),
        ("files in a folder", max(map(len, folders.values())), FOLDER_FILES_MAX),
        ("lines in a file", max(path.read_text().count("\n") for path in modules + styles), LINES_MAX),
    ):
        print(f"web client: {name}: {value} of {most}")
        if value > most:
            yield f"{name}: {value}, and at most {most} are allowed"


def translations():
    """Each language has the texts of English, with the same names in braces."""
    def names(text):
        return sorted(set(re.findall(r"{(\w+)}", text if isinstance(text, str) else json.dumps(text))))

    texts = {path.stem: json.loads(path.read_text()) for path in sorted((PAGE / "language").glob("*.json"))}
    english = texts.pop("en", {})
    for language, own in texts.items():
        for key in sorted(english.keys() - own.keys()):
            yield f"language/{language}.json: no text for {key}"
        for key in sorted(own.keys() - english.keys()):
            yield f"language/{language}.json: {key} is not in en.json"
        for key in sorted(english.keys() & own.keys()):
            # A plural form such as "one" may leave out its number.
            if isinstance(own[key], str) and isinstance(english[key], str) and names(own[key]) != names(english[key]):
                yield f"language/{language}.json: {key} has other names in braces than en.json"


def main():
    modules, styles = sorted(PAGE.rglob("*.js")), sorted(PAGE.rglob("*.css"))
    mistakes = [mistake for path in modules for mistake in lines(path, UNSAFE, "unsafe")]
    mistakes += [mistake for path in modules for mistake in literals(path)]
    mistakes += [mistake for path in PAGE.glob("*.html") for mistake in lines(path, UNSAFE_MARKUP, "inline")]
    mistakes += [mistake for path in styles for mistake in lines(path, PHYSICAL, "use a logical property")]
    mistakes += [*bounds(modules, styles), *translations()]
    if mistakes:
        sys.exit("\n".join(mistakes))


main()
