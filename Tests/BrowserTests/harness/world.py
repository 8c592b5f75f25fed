"""The servers and the browser that all tests of a run share. Each part starts when it is first used."""
import functools
import os
import shutil

from playwright.sync_api import expect, sync_playwright

from .processes import DevServer, Node, Postgres, Relay


class World:
    _ends = []

    @classmethod
    def _started(cls, part, end=None):
        cls._ends.append(end or part.end)
        return part

    @classmethod
    @functools.cache
    def postgres(cls):
        return cls._started(Postgres())

    @classmethod
    @functools.cache
    def node(cls):
        """The node that most tests share. No test may stop it."""
        return cls.own_node("shared")

    @classmethod
    def own_node(cls, name, **settings):
        """A node on a database of its own."""
        return cls._started(Node(cls.postgres().database(name), **settings))

    @classmethod
    @functools.cache
    def relay(cls):
        return cls._started(Relay())

    @classmethod
    @functools.cache
    def origin(cls, node):
        """Where a browser finds the page of a node."""
        page = os.environ.get("PARLEY_PAGE")
        port = cls._started(DevServer(page, node)).port if page else node.port
        return f"http://127.0.0.1:{port}"

    @classmethod
    @functools.cache
    def playwright(cls):
        # Only a test that fails waits so long.
        expect.set_options(timeout=30_000)
        started = sync_playwright().start()
        return cls._started(started, started.stop)

    @classmethod
    @functools.cache
    def browser(cls, *, is_whole):
        """Chromium: the whole of it, or, if it is installed, the part without windows, which takes half the processor time."""
        program = None if is_whole else shutil.which("chromium-headless-shell")
        # Chromium's own sandbox cannot be used by root.
        browser = cls.playwright().chromium.launch(
            executable_path=program or "/usr/bin/chromium", args=["--no-sandbox"] if os.getuid() == 0 else [])
        return cls._started(browser, browser.close)

    @classmethod
    def end(cls):
        """Ends what was started, the newest first."""
        while cls._ends:
            cls._ends.pop()()
