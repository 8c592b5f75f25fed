#!/usr/bin/env python3
"""Checks the SDK's documentation, and writes it as a web page.

    documentation.py BUILD [FOLDER]

BUILD is the .build folder of a package that was built with the SDK. Fails on a link to nothing, and on a broken tutorial.
`make lint` finds public declarations without a comment. With FOLDER, the page is written there; any web server can serve it.
"""
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["Parley", "ParleyObservation"]


def imports(build):
    """The compiler's options to import the SDK's modules."""
    libraries = [build / "checkouts/GRDB.swift/Sources/GRDBSQLite", ROOT / "Sources/CLibcurl"]
    maps = [option for library in libraries for option in ("-Xcc", f"-fmodule-map-file={library}/module.modulemap")]
    return ["-I", build / "debug/Modules", *maps]


def symbols(build, module, folder):
    """Writes the module's public symbols into the folder."""
    folder.mkdir()
    run("swift", "symbolgraph-extract", "-module-name", module, *imports(build), "-output-dir", folder,
        "-minimum-access-level", "public", "-target", f"{platform.machine()}-unknown-linux-gnu")


def write(build, target=None):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        archives = []
        for module in MODULES:
            symbols(build, module, folder / module)
            archives.append(folder / f"{module}.doccarchive")
            run("docc", "convert", ROOT / f"Sources/{module}/{module}.docc", "--warnings-as-errors",
                "--additional-symbol-graph-dir", folder / module, "--output-dir", archives[-1])
        if target:
            merged = folder / "merged.doccarchive"
            run("docc", "merge", *archives, "--synthesized-landing-page-name", "Parley", "--output-path", merged)
            shutil.rmtree(target, ignore_errors=True)
            shutil.move(merged, target)


def run(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None)
