"""The base of all test cases: people with browsers, and what must be true of every page at the end."""
import unittest
import urllib.parse

from .api import Api
from .chat import Chat
from .processes import eventually
from .world import World


class BrowserTest(unittest.TestCase):
    """After each test, no page may have thrown, broken its Content-Security-Policy, or called another host."""

    maxDiff = None
    # Whether the tests need all of Chromium. Its part without windows shows no notifications and receives no push messages,
    # and the figures of test_speed are of what people have.
    needs_whole_browser = False

    def setUp(self):
        self.node = World.node()
        self.contexts, self.mistakes = [], []
        self.addCleanup(self.end_contexts)

    @property
    def origin(self):
        return World.origin(self.node)

    @property
    def chromium(self):
        return World.browser(is_whole=self.needs_whole_browser)

    def account(self, name):
        """A person with an account, and no browser yet."""
        return Api(self.node.port, name)

    def browser(self, **options):
        """A browser with nothing in it, in English unless the options say otherwise."""
        context = self.chromium.new_context(**{"locale": "en-GB", **options})
        self.watch(context)
        return context

    def watch(self, context):
        host = urllib.parse.urlsplit(self.origin).netloc

        def check_host(request):
            url = urllib.parse.urlsplit(request.url)
            if url.scheme not in ("blob", "data") and url.netloc != host:
                self.mistakes.append(f"request to another host: {request.url}")

        def check_line(message):
            if any(word in message.text for word in ("Content Security Policy", "Trusted", "Refused to")):
                self.mistakes.append(f"console: {message.text}")

        context.on("request", check_host)
        context.on("console", check_line)
        context.on("weberror", lambda error: self.mistakes.append(f"uncaught: {error.error}"))
        self.contexts.append(context)

    def page(self, context, person=None):
        """A tab in a browser."""
        page = context.new_page()
        # A page that asks something would wait for ever.
        page.on("dialog", lambda dialog: (self.mistakes.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return Chat(page, self.origin, person)

    def signed_in(self, person, **options):
        """A person with a new browser, signed in."""
        return self.page(self.browser(**options), person).open().sign_in()

    def wait_for_service_worker(self, chat):
        """Waits until the page opens without a network."""
        chat.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        eventually("the page to be cached", lambda: chat.page.evaluate(
            "caches.keys().then(async (names) => (await Promise.all(names.map(async (name) =>"
            " (await (await caches.open(name)).keys()).length))).some((count) => count > 5))"))

    def end_contexts(self):
        for context in self.contexts:
            context.close()
        self.assertEqual(self.mistakes, [])

    def take_pictures(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(page for context in self.contexts for page in context.pages):
            try:
                page.screenshot(path=folder / f"{self.id()}-{number}.png", timeout=5_000)
            except Exception as error:  # A page that hangs is what failed; the test says so.
                print(f"no picture of page {number}: {error}")
