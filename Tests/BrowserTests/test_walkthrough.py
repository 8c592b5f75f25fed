"""The walk-through by clicking, and one account on two devices."""
import re
import secrets
import time

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.pictures import png


class WalkThrough(BrowserTest):
    def test_two_people_chat_within_a_minute_of_opening_the_page(self):
        began = time.monotonic()
        tail = secrets.token_hex(4)
        ann, ben = self.page(self.browser()).open(), self.page(self.browser()).open()
        ann.create_account("Ann Walker", f"ann{tail}", "a river of tea")
        ben.create_account("Ben Walker", f"ben{tail}", "a hill of toast")
        expect(ann.connection).to_have_text("Connected")

        ann.role("button", "New conversation").click()
        dialog = ann.dialog("New conversation")
        dialog.get_by_role("searchbox", name="Find people").fill(f"ben{tail}")
        dialog.get_by_role("checkbox", name=starting("Ben Walker")).check()
        dialog.get_by_role("button", name="Start").click()
        expect(ann.role("heading", starting("Ben Walker")).first).to_be_visible()

        with ann.page.expect_file_chooser() as chooser:
            ann.button("Attach files").click()
        chooser.value.set_files([{"name": "smile.png", "mimeType": "image/png", "buffer": png(32, 32)}])
        expect(ann.role("list", "Files to send").get_by_text("smile.png")).to_be_visible()
        ann.send("Hello Ben")

        # Nothing had to be reloaded. Receiving a message does not mark it read.
        link = ben.conversation("Ann Walker")
        expect(link).to_have_accessible_name(starting("Ann Walker"))
        expect(link).to_have_accessible_name(re.compile("1 unread"))
        expect(ben.page).to_have_title(starting("(1) "))
        link.click()
        expect(ben.message("Hello Ben")).to_be_visible()
        expect(ben.log.get_by_role("img", name="smile.png")).to_be_visible()
        expect(ben.page).not_to_have_title(starting("("))
        ann.expect_state("Hello Ben", "Read")

        ben.send("Hello Ann")
        expect(ann.message("Hello Ann")).to_be_visible()
        self.assertLess(time.monotonic() - began, 60)

    def test_a_second_device_shows_the_same_and_follows_the_first(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        ben.send(thread, "from before")
        first, second = self.signed_in(ann), self.signed_in(ann)
        expect(second.page).to_have_title(starting("(1) "))
        first.enter("Ben")
        expect(first.message("from before")).to_be_visible()
        # Read on one device is read on the other.
        expect(second.page).not_to_have_title(starting("("))
        second.enter("Ben")
        first.send("from the first")
        expect(second.message("from the first")).to_be_visible()
        second.send("from the second")
        expect(first.message("from the second")).to_be_visible()
        # Signing out one device leaves the other.
        first.button("Settings").click()
        expect(first.role("list", "Devices").get_by_role("listitem")).not_to_have_count(0)
        first.dialog("Settings").get_by_role("button", name="Sign out", exact=True).click()
        expect(first.role("form", "Sign in")).to_be_visible()
        second.send("still here")
        second.expect_stored("still here")

    def test_a_refused_sign_in_shows_the_reason_and_a_reload_keeps_a_session(self):
        ann = self.account("Ann")
        chat = self.page(self.browser(), ann).open()
        form = chat.role("form", "Sign in")
        form.get_by_role("textbox", name="Username").fill(ann.username)
        form.get_by_label("Password").fill("a wrong guess")
        form.get_by_role("button", name="Sign in", exact=True).click()
        expect(chat.alert).to_contain_text("password")
        chat.sign_in()
        expect(chat.alert).to_be_hidden()
        chat.page.reload()
        expect(chat.navigation).to_be_visible()
        expect(chat.connection).to_have_text("Connected")
