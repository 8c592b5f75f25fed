"""The keyboard alone: what a team does every day, the list, and completion."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.pictures import png
from harness.processes import eventually


class Daily(BrowserTest):
    """The ten daily acts of the web client's page in the documentation, without a mouse."""

    def setUp(self):
        super().setUp()
        self.ann, self.ben, self.cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        self.thread = self.ann.group("Garden", self.ben, self.cleo)
        self.ben.send(self.thread, "beans or peas")
        self.chat = self.signed_in(self.ann)
        self.keys = self.chat.page.keyboard
        # The keys of the page come with a module of their own.
        eventually("the module", lambda: self.chat.page.evaluate(
            "performance.getEntriesByType('resource').some(({name}) => name.endsWith('/shell/keys.js'))"))

    def tab_to(self, control, key="Tab"):
        """Presses the key until a control has the focus."""
        expect(control).to_be_visible()
        for _ in range(60):
            if control.evaluate("control => control === document.activeElement"):
                return
            self.keys.press(key)
        self.fail(f"{key} does not reach {control}")

    def open_garden(self):
        self.keys.press("Control+k")
        self.keys.type("garden")
        expect(self.chat.results.get_by_role("link").first).to_be_visible()
        self.keys.press("Enter")
        expect(self.chat.box).to_be_focused()
        expect(self.chat.message("beans or peas")).to_be_visible()

    def test_react_reply_mention_and_correct_a_typo(self):
        self.open_garden()
        self.keys.press("Shift+F6")
        message = self.chat.message("beans or peas")
        expect(message).to_be_focused()
        self.keys.press("Enter")
        menu = self.chat.role("menu", "Message actions")
        expect(menu.get_by_role("menuitem", name="Reply", exact=True)).to_be_focused()
        self.keys.press("ArrowUp")
        self.keys.press("Enter")
        expect(message.get_by_role("button", name="👍 1", exact=True)).to_be_visible()
        expect(message).to_be_focused()
        self.keys.press("Enter")
        expect(menu.get_by_role("menuitem", name="Reply", exact=True)).to_be_focused()
        self.keys.press("Enter")
        expect(self.chat.box).to_be_focused()
        # The first sign lists everybody, and the list has the keys.
        self.keys.type("@")
        options = self.chat.page.get_by_role("option")
        expect(options).to_have_count(2)
        self.keys.type("cl")
        expect(options).to_have_count(1)
        self.keys.press("Enter")
        self.keys.type("paes :rocket")
        expect(options.first).to_contain_text("rocket")
        self.keys.press("Tab")
        self.keys.press("Enter")
        own = self.chat.message("paes")
        expect(own).to_contain_text("@Cleo paes 🚀")
        expect(own.get_by_role("link", name=starting("Reply to Ben"))).to_be_visible()
        self.chat.expect_stored("paes")
        self.assertEqual(self.ben.messages(self.thread)[-1]["mentions"], [self.cleo.id])
        self.keys.press("ArrowUp")
        expect(self.chat.role("textbox", "Edit message")).to_be_focused()
        self.keys.press("Control+a")
        self.keys.type("peas")
        self.keys.press("Enter")
        expect(self.chat.message("peas").last).to_contain_text("Edited")

    def test_find_a_colleague_of_the_directory(self):
        name = f"Zoe {self.cleo.username}"
        zoe = self.account(name)
        self.keys.press("Control+k")
        self.keys.type(name)
        expect(self.chat.results.get_by_role("button", name=starting(name))).to_be_visible()
        self.keys.press("Enter")
        expect(self.chat.role("heading", name)).to_be_visible()
        expect(self.chat.box).to_be_focused()
        self.keys.type("hello Zoe")
        self.keys.press("Enter")
        self.chat.expect_stored("hello Zoe")
        self.assertEqual(zoe.call("GET", "/v1/inbox")["unread_total"], 1)

    def test_find_a_message_of_this_conversation(self):
        for number in range(70):
            self.cleo.send(self.thread, f"filler {number:02}")
        eventually("the search to know the message",
                   lambda: self.ann.call("GET", "/v1/search?q=beans")["results"], seconds=20)
        self.chat.conversation("Garden").click()
        expect(self.chat.message("filler")).to_be_visible()
        self.keys.press("Control+Shift+f")
        search = self.chat.page.get_by_role("searchbox", name="Search here")
        expect(search).to_be_focused()
        self.keys.type("beans from:cleo")
        expect(self.chat.page.get_by_role("status").filter(has_text="Nothing found.")).to_be_visible()
        self.keys.press("Control+a")
        self.keys.type("beans from:ben")
        found = self.chat.role("list", "Found messages").get_by_role("link")
        expect(found).to_have_count(1)
        self.keys.press("Enter")
        expect(self.chat.message("beans or peas")).to_be_in_viewport()
        eventually("the word to be marked", lambda: self.chat.page.evaluate(
            "[...CSS.highlights.get('found') ?? []].map(String)") == ["beans"])
        self.keys.press("Escape")
        expect(search).to_have_count(0)
        expect(self.chat.box).to_be_focused()

    def test_mark_all_read_and_mute_for_a_day(self):
        link = self.chat.conversation("Garden")
        expect(link).to_have_accessible_name(re.compile("1 unread"))
        self.keys.press("Shift+Escape")
        expect(link).not_to_have_accessible_name(re.compile("unread"))
        # The list is one stop of the Tab key; the menu of the conversation is the next one.
        self.tab_to(link)
        self.keys.press("Tab")
        self.keys.press("Enter")
        menu = self.chat.role("menu")
        expect(menu).to_be_visible()
        self.keys.press("ArrowDown")
        while "Mute for 1 day" not in self.chat.page.evaluate("document.activeElement.textContent"):
            self.keys.press("ArrowDown")
        self.keys.press("Enter")
        expect(link).to_have_accessible_name(re.compile("muted"))

    def test_send_a_picture(self):
        self.chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.open_garden()
        self.chat.page.evaluate(
            "bytes => navigator.clipboard.write([new ClipboardItem({'image/png': new Blob([new Uint8Array(bytes)],"
            " {type: 'image/png'})})])", list(png(300, 200)))
        self.keys.press("Control+v")
        expect(self.chat.role("list", "Files to send").get_by_role("listitem")).to_have_count(1)
        self.keys.press("Enter")
        expect(self.chat.messages.last.get_by_role("img")).to_be_visible()
        eventually("the picture to arrive", lambda: [
            (file["width"], file["height"]) for message in self.ben.messages(self.thread)
            for file in message["payload"].get("attachments", [])] == [(300, 200)])

    def test_people_who_are_known_after_the_sign_are_listed(self):
        held = []
        self.chat.page.route(re.compile("/members"), lambda route: held.append(route), times=1)
        self.open_garden()
        eventually("the call", lambda: self.chat.page.wait_for_timeout(20) or held)
        self.keys.type("@")
        expect(self.chat.box).to_have_attribute("aria-autocomplete", "list")
        held[0].continue_()
        expect(self.chat.page.get_by_role("option")).to_have_count(2)

    def test_invite(self):
        dan = self.account(f"Dan {self.ben.username}")
        self.open_garden()
        self.tab_to(self.chat.role("main").get_by_role("button", name="Add people"), "Shift+Tab")
        self.keys.press("Enter")
        dialog = self.chat.dialog("Add people")
        expect(dialog.get_by_role("searchbox", name="Find people")).to_be_focused()
        self.keys.type(dan.name)
        self.keys.press("Enter")
        expect(dialog.get_by_role("checkbox", name=starting(dan.name))).to_be_checked()
        self.tab_to(dialog.get_by_role("button", name="Invite"))
        self.keys.press("Enter")
        expect(dialog).to_be_hidden()
        self.assertEqual(dan.call("GET", "/v1/inbox")["threads"][0]["me"]["status"], "invited")

    def test_keys_without_a_focus_and_between_conversations(self):
        direct = self.ann.direct(self.cleo)
        self.cleo.send(direct, "hello")
        self.open_garden()
        expect(self.chat.conversation("Cleo")).to_be_visible()
        expect(self.chat.conversation("Garden")).to_have_attribute("aria-current", "page")
        self.keys.press("Alt+ArrowUp")
        expect(self.chat.role("heading", "Cleo")).to_be_visible()
        self.keys.press("Alt+ArrowDown")
        expect(self.chat.role("heading", "Garden")).to_be_visible()
        expect(self.chat.message("beans or peas")).to_be_visible()
        expect(self.chat.box).to_be_focused()
        self.keys.press("Shift+F6")
        expect(self.chat.message("beans or peas")).to_be_focused()
        self.keys.type("no mouse")
        expect(self.chat.box).to_have_value("no mouse")
        self.chat.box.fill("")
        self.keys.press("Control+/")
        expect(self.chat.dialog("Keyboard shortcuts")).to_contain_text("Ctrl + K")
        self.keys.press("Escape")
        expect(self.chat.box).to_be_focused()

    def test_enter_in_the_list_leads_to_the_text(self):
        self.ann.send(self.ann.direct(self.cleo), "hello")
        expect(self.chat.conversation("Cleo")).to_be_visible()
        links = self.chat.navigation.get_by_role("list").get_by_role("link")
        self.assertEqual([link.get_attribute("tabindex") for link in links.all()], ["0", "-1"])
        links.first.focus()
        self.keys.press("ArrowDown")
        expect(self.chat.conversation("Garden")).to_be_focused()
        self.keys.press("Enter")
        expect(self.chat.role("heading", "Garden")).to_be_visible()
        expect(self.chat.box).to_be_focused()
