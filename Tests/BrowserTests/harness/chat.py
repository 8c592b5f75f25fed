"""The web client as a person uses it: by roles and accessible names, as web-client.md lists them."""
import re

from playwright.sync_api import expect


def starting(text):
    return re.compile("^" + re.escape(text))


class Chat:
    """One page of a browser, and the parts of the web client in it."""

    def __init__(self, page, origin, person=None):
        self.page, self.origin, self.person = page, origin, person

    # Everywhere
    def open(self, fragment=""):
        self.page.goto(f"{self.origin}/{fragment}")
        return self

    def role(self, role, name=None, **more):
        return self.page.get_by_role(role, name=name, exact=isinstance(name, str), **more)

    def button(self, name):
        return self.role("button", name)

    def dialog(self, name):
        return self.role("dialog", name)

    @property
    def alert(self):
        return self.page.get_by_role("alert")

    @property
    def connection(self):
        return self.role("status", "Connection")

    @property
    def notifications(self):
        """What the browser shows now. Chromium forgets a notification if a page lists them at the moment at which it is
        shown: wait until that is over, and then list them."""
        return self.page.evaluate(
            "navigator.serviceWorker.ready.then(async (registration) =>"
            " (await registration.getNotifications()).map(({title, body, tag}) => ({title, body, tag})))")

    # Signed out
    def sign_in(self, username=None, password=None):
        form = self.role("form", "Sign in")
        form.get_by_role("textbox", name="Username").fill(username or self.person.username)
        form.get_by_label("Password").fill(password or self.person.PASSWORD)
        form.get_by_role("button", name="Sign in", exact=True).click()
        expect(self.navigation).to_be_visible()
        return self

    def create_account(self, name, username, password):
        self.button("Create account").click()
        form = self.role("form", "Create account")
        form.get_by_role("textbox", name="Name", exact=True).fill(name)
        form.get_by_role("textbox", name="Username").fill(username)
        form.get_by_label("Password").fill(password)
        form.get_by_role("button", name="Create account").click()
        expect(self.navigation).to_be_visible()
        return self

    # Inbox
    @property
    def navigation(self):
        return self.role("navigation", "Conversations")

    @property
    def search(self):
        return self.navigation.get_by_role("searchbox", name="Search", exact=True)

    @property
    def results(self):
        return self.role("list", "Search results")

    def conversation(self, title):
        return self.navigation.get_by_role("link", name=starting(title)).first

    def start_conversation(self, *people, title=""):
        self.button("New conversation").click()
        dialog = self.dialog("New conversation")
        for name in people:
            dialog.get_by_role("searchbox", name="Find people").fill(name)
            dialog.get_by_role("checkbox", name=starting(name)).first.check()
        if title:
            dialog.get_by_role("textbox", name="Title").fill(title)
        dialog.get_by_role("button", name="Start").click()
        expect(dialog).to_be_hidden()

    # Conversation
    def enter(self, title):
        """Opens a conversation and waits until its messages can be read."""
        self.conversation(title).click()
        expect(self.role("heading", starting(title)).first).to_be_visible()
        expect(self.log).to_be_visible()
        return self

    @property
    def log(self):
        return self.role("log", "Messages")

    @property
    def messages(self):
        return self.log.get_by_role("article")

    def message(self, text):
        return self.messages.filter(has_text=text).last

    @property
    def box(self):
        return self.role("textbox", "Message")

    def send(self, text):
        self.box.fill(text)
        self.box.press("Enter")
        expect(self.message(text)).to_be_visible()
        return self.message(text)

    def open_menu(self, text):
        message = self.message(text)
        message.hover()
        message.get_by_role("button", name="Message actions").click()

    def act(self, text, action):
        """Chooses an action in the menu of a message."""
        self.open_menu(text)
        self.page.get_by_role("menuitem", name=action, exact=True).click()

    def expect_stored(self, text):
        """Waits until a message of one's own has arrived at the service."""
        expect(self.message(text)).to_have_attribute("data-seq", re.compile(r"^\d+$"))

    def expect_state(self, text, state):
        """Waits for `Sending`, `Sent`, `Delivered`, `Read` …, as text or as a picture of that name."""
        message = self.message(text)
        expect(message.get_by_text(state, exact=True).or_(message.get_by_role("img", name=state, exact=True)).first
               ).to_be_attached()

    @property
    def scroll(self):
        return self.log.evaluate(
            "log => ({top: Math.round(log.scrollTop), below: Math.round(log.scrollHeight - log.clientHeight - log.scrollTop)})")
