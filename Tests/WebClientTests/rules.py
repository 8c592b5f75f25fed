#!/usr/bin/env python3
"""Checks the web client's files by rules that no linter knows: safe DOM calls only, sizes, logical CSS, translations.

Prints the sizes. Exit status 1 if a rule is broken.
"""
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Sources/WebClient/page"

# Bytes as a browser receives them, before compression: without whole-line comments and indentation, which
# SourceText.swift removes. JSON is loaded when it is needed, and not counted.
JAVASCRIPT_BYTES_MAX = 150_000
PARTS = {"core": 60_000, "ui/conversation text emoji": 52_000, "ui/parts ui/shell ui/inbox ui/settings language": 37_000}
CSS_BYTES_MAX = 40_000
MODULES_MAX = 60
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


def lines(path, pattern, what):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := pattern.search(line):
            yield f"{path.relative_to(PAGE)}:{number}: {what}: {found.group().strip()}"


def sent_bytes(path):
    """The size of a module or a style sheet as the node sends it."""
    size, in_comment = 0, False
    for line in path.read_text().splitlines():
        rest = line.strip(" \t") if not in_comment else line
        if in_comment or rest.startswith("/*"):
            body = rest if in_comment else rest[2:]
            in_comment = "*/" not in body
            rest = "" if in_comment else body.split("*/", 1)[1].strip(" \t")
        if rest and not rest.startswith("//"):
            size += len(rest.encode()) + 1
    return size


def templates(path):
    """A template literal over several lines could hold a line that looks like a comment. In strings and in regular
    expressions a backtick means nothing."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = re.sub(r"'(?:[^'\\]|\\.)*'|= /(?:[^/\\]|\\.)+/", "", line)
        if not line.lstrip().startswith(("//", "*", "/*")) and line.count("`") % 2:
            yield f"{path.relative_to(PAGE)}:{number}: a template literal must end on its line"


def bounds(modules, styles):
    folders = {}
    for path in modules + styles:
        folders.setdefault(path.parent, []).append(path)
    for part, most in PARTS.items():
        size = sum(sent_bytes(path) for folder in part.split() for path in (PAGE / folder).rglob("*.js"))
        print(f"web client: {part}: {size} of {most}{' ✘ too large' if size > most else ''}")
    for name, value, most in (
        ("JavaScript", sum(map(sent_bytes, modules)), JAVASCRIPT_BYTES_MAX),
        ("CSS", sum(map(sent_bytes, styles)), CSS_BYTES_MAX),
        ("modules", len(modules), MODULES_MAX),
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
    mistakes += [mistake for path in modules for mistake in templates(path)]
    mistakes += [mistake for path in PAGE.glob("*.html") for mistake in lines(path, UNSAFE_MARKUP, "inline")]
    mistakes += [mistake for path in styles for mistake in lines(path, PHYSICAL, "use a logical property")]
    mistakes += [*bounds(modules, styles), *translations()]
    if mistakes:
        sys.exit("\n".join(mistakes))


main()
