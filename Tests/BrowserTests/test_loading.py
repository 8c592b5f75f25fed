"""What the page loads at first, and the parts that it loads when they are needed."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest

# The first load shows the inbox and a conversation. What the mouse and the keys do follows within the second, and is counted,
# too. The sizes are those before compression, as a node sends them.
MODULES_MAX, BYTES_MAX = 80, 210_000


class Loading(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)
        self.ben.send(self.thread, "before")

    def test_the_inbox_and_a_conversation_need_few_bytes(self):
        chat = self.signed_in(self.ann, service_workers="block")
        # Until the account is on the device, parts are loaded that a later start does not need.
        chat.page.goto(f"{self.origin}/#/t/{self.thread}")
        expect(chat.message("before")).to_be_visible()
        expect(chat.connection).to_have_text("Connected")
        modules = {}
        chat.page.on("response", lambda answer: modules.update(
            {answer.url: answer} if answer.url.endswith(".js") else {}))
        chat.page.reload()
        expect(chat.message("before")).to_be_visible()
        expect(chat.connection).to_have_text("Connected")
        chat.page.wait_for_timeout(1_000)
        count, size = len(modules), sum(len(answer.body()) for answer in modules.values())
        print(f"first load: {count} modules, {size} bytes")
        self.assertLessEqual(count, MODULES_MAX)
        self.assertLessEqual(size, BYTES_MAX)

    def test_all_parts_open_offline(self):
        chat = self.signed_in(self.ann).enter("Ben")
        expect(chat.message("before")).to_be_visible()
        self.wait_for_service_worker(chat)
        chat.page.context.set_offline(True)
        chat.page.reload()
        expect(chat.message("before")).to_be_visible()
        for button, dialog in (("Settings", "Settings"), ("New conversation", "New conversation"),
                               ("Insert emoji", "Choose an emoji")):
            chat.button(button).click()
            expect(chat.dialog(dialog)).to_be_visible()
            chat.page.keyboard.press("Escape")
            expect(chat.button(button)).to_be_focused()

    def test_a_part_that_cannot_be_loaded_says_so_and_loads_after_a_reload(self):
        chat = self.signed_in(self.ann, service_workers="block").enter("Ben")
        expect(chat.message("before")).to_be_visible()
        chat.page.route(re.compile(r"/settings\.js"), lambda route: route.abort())
        chat.button("Settings").click()
        expect(chat.alert).to_contain_text("could not be loaded")
        chat.button("New conversation").click()
        expect(chat.dialog("New conversation")).to_be_visible()
        chat.page.unroute_all()
        chat.page.reload()
        chat.button("Settings").click()
        expect(chat.dialog("Settings")).to_be_visible()
