#!/usr/bin/env python3
"""Builds and runs the sample app as app developers do: outside this repository, with the SDK as a release from a URL.

    run.py                 checks that the app fetches GRDB and nothing of the server's, builds it, checks the SDK's
                           documentation and tutorial, and lets two instances chat over a real node
    run.py --docs FOLDER   builds it, and writes the SDK's documentation as a web page

The working tree becomes the release 0.1.0 of a repository in .build/sample, and the sample a package beside it.
PARLEY_EXECUTABLE names the node (.build/release/parley). The last line is the result.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/BrowserTests"))
sys.dont_write_bytecode = True

import documentation  # noqa: E402
import tutorial  # noqa: E402
from harness.processes import Node, Postgres, eventually  # noqa: E402

WORK = ROOT / ".build/sample"
APP = WORK / "app"
# What is fetched besides the SDK, by identity.
FETCHED = {"grdb.swift"}


def run(*command, folder, **environment):
    """Runs a command, and prints its output if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=folder, env=os.environ | environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


def release():
    """Makes the working tree the version 0.1.0 of a repository, and returns its folder."""
    new = WORK / "new/parley"
    shutil.rmtree(new, ignore_errors=True)
    for name in run("git", "ls-files", "-co", "--exclude-standard", folder=ROOT).splitlines():
        if (ROOT / name).exists():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, new / name, follow_symlinks=False)
    day = "2026-01-01T00:00:00Z"
    run("git", "init", "--quiet", "--initial-branch", "main", ".", folder=new)
    run("git", "add", "--all", "--force", ".", folder=new)
    run("git", "-c", "user.name=sample", "-c", "user.email=sample@example.org", "commit", "--quiet", "-m", "0.1.0",
        folder=new, GIT_AUTHOR_DATE=day, GIT_COMMITTER_DATE=day)
    run("git", "tag", "0.1.0", folder=new)
    # SwiftPM takes a version at one address for granted, so another tree has another address. The same tree makes the same
    # commit, and is not built again.
    commit = run("git", "rev-parse", "HEAD", folder=new).strip()
    place = WORK / "releases" / commit
    if not place.exists():
        shutil.rmtree(place.parent, ignore_errors=True)
        place.mkdir(parents=True)
        new.rename(place / "parley")
    return place / "parley"


def app(release):
    """Copies the sample, and lets it depend on the release."""
    APP.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(APP / "Sources", ignore_errors=True)
    shutil.copytree(ROOT / "Tests/SDKSample/Sources", APP / "Sources")
    manifest = (ROOT / "Tests/SDKSample/Package.swift").read_text()
    by_path = '.package(name: "parley", path: "../..", traits: [])'
    assert by_path in manifest
    (APP / "Package.swift").write_text(manifest.replace(
        by_path, f'.package(url: "{release.as_uri()}", from: "0.1.0", traits: [])'))


def resolve():
    """Resolves the app's packages, and returns the identities of those that it fetches besides the SDK."""
    (APP / "Package.resolved").unlink(missing_ok=True)
    run("swift", "package", "resolve", folder=APP)
    pins = json.loads((APP / "Package.resolved").read_text())["pins"]
    return {pin["identity"] for pin in pins} - {"parley"}


class Instance:
    """The sample as a process with a store of its own. Lines that are typed go to its standard input."""

    def __init__(self, folder, node, *arguments):
        self.lines = []
        # Lines, not blocks, although no terminal reads them.
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", APP / ".build/debug/sample", f"http://127.0.0.1:{node.port}", *arguments], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    def prints(self, text):
        eventually(f"the sample prints {text!r}", lambda: any(text in line for line in self.lines), seconds=60)

    def type(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0, f"the sample ended with status {self.process.returncode}"


def chat(node, folder):
    """Ann chats with a bot, while the node is killed and started again in between."""
    for name in ("ann", "bot"):
        (folder / name).mkdir()
    bot = Instance(folder / "bot", node, "echo", "bot", "a hill of toast")
    ann = None
    try:
        bot.prints("Signed in as bot")
        ann = Instance(folder / "ann", node, "chat", "ann", "a river of tea", "bot")
        ann.prints("Signed in as ann")
        ann.type("Hello bot")
        ann.prints("bot: You wrote: Hello bot")
        ann.type("/file notes.txt three lines of notes")
        bot.prints("notes.txt")
        # Sending marks what came before as read: an answer that waits for the node would be one to the next message, too.
        ann.prints("bot: You wrote: Here is a file.")
        node.kill()
        ann.type("Are you still there?")
        ann.prints("… Are you still there?")
        node.start()
        ann.prints("bot: You wrote: Are you still there?")
        ann.end()
        bot.end()
    except AssertionError:
        for name, instance in (("ann", ann), ("bot", bot)):
            print(f"== {name}\n{''.join(instance.lines if instance else [])}")
        raise
    finally:
        for instance in (ann, bot):
            if instance and instance.process.poll() is None:
                instance.process.kill()


def build():
    """Builds the app from packages that it fetches."""
    began = time.monotonic()
    app(release())
    fetched = resolve()
    assert fetched == FETCHED, f"the app fetches {sorted(fetched)}"
    print(f"The app fetches the SDK and {', '.join(sorted(fetched))}.", flush=True)
    # Below other tests in priority, which run at the same time.
    run("nice", "-n", "10", "swift", "build", folder=APP)
    print(f"The app is built after {time.monotonic() - began:.0f} s.", flush=True)


def check():
    build()
    run("timeout", "30", APP / ".build/debug/Snippets", folder=APP)
    documentation.write(APP / ".build")
    print(f"The documentation has no broken link, and {tutorial.check(APP / '.build')} steps of the tutorial compile.",
          flush=True)
    postgres = Postgres()
    try:
        node = Node(postgres.database("sample"))
        with tempfile.TemporaryDirectory(prefix="parley-sample-") as folder:
            try:
                chat(node, pathlib.Path(folder))
            finally:
                node.end()
    finally:
        postgres.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", metavar="FOLDER", type=pathlib.Path, help="only write the documentation there")
    folder = parser.parse_args().docs
    if folder:
        build()
        documentation.write(APP / ".build", folder)
        print(f"The documentation is in {folder}. `python3 -m http.server -d {folder}` serves it.")
        return
    began, outcome = time.monotonic(), "✘ 1 failed"
    try:
        check()
        outcome = "OK"
    finally:
        print(f"Ran 1 test in {time.monotonic() - began:.1f} s: {outcome}", flush=True)


main()
