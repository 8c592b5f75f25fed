#!/usr/bin/env python3
"""Uses the web client in Chromium, by roles and accessible names only, on real nodes and a real PostgreSQL.

    run.py [--without MODULE] [--part 1/2] [MODULE | MODULE.Class.test ...]

PARLEY_EXECUTABLE names the executable under test (.build/release/parley). With PARLEY_PAGE=FOLDER the page comes from the
sources in that folder, through the dev server, and the executable serves only the API. When a test fails, a picture of each
open page is written to .build/browser. The last line is the result.
"""
import argparse
import pathlib
import sys
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True

from harness.world import World  # noqa: E402


class Result(unittest.TextTestResult):
    """Prints each test with its duration, and pictures of the pages of a test that fails."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.note(test, "ok")

    def addFailure(self, test, err):
        self.failed(test)
        unittest.TestResult.addFailure(self, test, err)

    def addError(self, test, err):
        self.failed(test)
        unittest.TestResult.addError(self, test, err)

    def addSkip(self, test, reason):
        unittest.TestResult.addSkip(self, test, reason)
        self.note(test, f"skipped: {reason}")

    def failed(self, test):
        self.note(test, "✘ failed")
        if hasattr(test, "take_pictures"):
            test.take_pictures(FOLDER.parents[1] / ".build/browser")

    def note(self, test, outcome):
        took = time.monotonic() - getattr(self, "began", time.monotonic())
        print(f"{outcome:8} {took:5.1f} s  {test.id()}", flush=True)


def load(names, without, part):
    """The suite of the named tests, or of all; a part K/N is every Nth test from the Kth on."""
    names = names or sorted(path.stem for path in FOLDER.glob("test_*.py") if path.stem not in without)
    suite = unittest.TestLoader().loadTestsFromNames(names)
    if part:
        first, step = map(int, part.split("/"))
        tests = [test for module in suite for cases in module for test in cases]
        suite = unittest.TestSuite(tests[first - 1::step])
    return suite


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help="modules, classes or tests, e.g. test_offline; default: all")
    parser.add_argument("--without", action="append", default=[], metavar="MODULE", help="leave a module out")
    parser.add_argument("--part", metavar="K/N", help="run one of N parts, so that parts can run side by side")
    arguments = parser.parse_args()
    began = time.monotonic()
    try:
        runner = unittest.TextTestRunner(stream=sys.stdout, resultclass=Result, verbosity=0, warnings="ignore")
        result = Result(runner.stream, True, 0)
        load(arguments.tests, arguments.without, arguments.part).run(result)
        result.printErrors()
    finally:
        World.end()
    count = f"{result.testsRun} test" + ("" if result.testsRun == 1 else "s")
    broken = len(result.failures) + len(result.errors)
    outcome = f"✘ {broken} failed" if broken else "OK" if result.testsRun else "no test was found"
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"Ran {count} in {time.monotonic() - began:.1f} s: {outcome}{skipped}", flush=True)
    sys.exit(0 if outcome == "OK" else 1)


main()
