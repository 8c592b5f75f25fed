#!/usr/bin/env python3
"""Type-checks the code of the SDK's tutorial, after each step all files that the reader has by then, and the scene in the
article on the background.

    tutorial.py BUILD

BUILD is the .build folder of a package that was built with the SDK. SwiftUI exists on Apple's systems only; here
StandIn/SwiftUI.swift takes its place, and so do the other files there for other modules of Apple's.
"""
import pathlib
import re
import sys
import tempfile

from documentation import imports, run

HERE = pathlib.Path(__file__).resolve().parent
# Modules of Apple's, each after those that it imports.
STAND_INS = ("BackgroundTasks", "UniformTypeIdentifiers", "SwiftUI")
# New projects of Xcode set these.
XCODE = ("-default-isolation", "MainActor", "-enable-upcoming-feature", "MemberImportVisibility")
TUTORIALS = HERE.parents[1] / "Sources/Parley/Parley.docc/Tutorials"


def steps():
    """The steps in their order, each as the name of the reader's file and what it contains from this step on."""
    for chapter in ("ASmallChat", "AWholeChat"):
        tutorial = TUTORIALS / f"{chapter}.tutorial"
        for name, file in re.findall(r'@Code\(name: "(.+?)", file: (\S+?)\)', tutorial.read_text()):
            yield name, TUTORIALS / "Code" / file


def check(build):
    """Returns the number of steps. Ends the program with the compiler's message at the first step that is wrong."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for module in STAND_INS:
            compile("-emit-module", "-module-name", module, "-I", folder, "-o", f"{folder}/{module}.swiftmodule",
                    HERE / f"StandIn/{module}.swift")
        for count, (name, file) in enumerate(steps(), start=1):
            files[name] = file
            compile("-typecheck", "-I", folder, *XCODE, *imports(build), *files.values())
        # `canImport(SwiftUI)` is true here.
        compile("-typecheck", "-I", folder, *imports(build), HERE / "Sources/Snippets/BackgroundAndPush.swift")
    return count


def compile(*arguments):
    run("swiftc", "-parse-as-library", "-swift-version", "6", *arguments)


if __name__ == "__main__":
    print(f"{check(pathlib.Path(sys.argv[1]))} steps of the tutorial compile.")
