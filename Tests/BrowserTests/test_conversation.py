"""A conversation: where it opens, what counts as read, and what can be done with a message."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.processes import eventually


class Opening(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)

    def test_it_opens_at_the_first_unread_message_below_a_divider(self):
        for number in range(1, 81):
            self.ann.send(self.thread, f"message {number:03}")
        self.ben.read(self.thread, 40)
        ben = self.signed_in(self.ben)
        expect(ben.conversation("Ann")).to_have_accessible_name(re.compile("40 unread"))
        ben.enter("Ann")
        divider = ben.log.get_by_role("separator", name="New messages")
        expect(divider).to_be_visible()
        expect(divider).to_be_in_viewport()
        expect(ben.message("message 041")).to_be_in_viewport()
        expect(ben.message("message 080")).not_to_be_in_viewport()
        # Only what has been in view is read.
        eventually("some messages to be read", lambda: self.ben.unread() < 40)
        self.assertGreater(self.ben.unread(), 0)
        ben.button("Jump to newest").click()
        expect(ben.message("message 080")).to_be_in_viewport()
        eventually("all messages to be read", lambda: self.ben.unread() == 0)
        expect(ben.conversation("Ann")).not_to_have_accessible_name(re.compile("unread"))

    def test_of_a_long_message_the_beginning_is_shown_first(self):
        self.ann.send(self.thread, "\n".join(f"line {number}." for number in range(1, 1001)))
        ben = self.signed_in(self.ben).enter("Ann")
        message = ben.message("line 1.")
        expect(message).to_contain_text("line 200.")
        expect(message).not_to_contain_text("line 201.")
        # What is in view stays there.
        more = message.get_by_role("button", name="Show more")
        more.scroll_into_view_if_needed()
        more.focus()
        before = ben.scroll["top"]
        ben.page.keyboard.press("Enter")
        expect(message).to_contain_text("line 1000.")
        expect(more).to_have_count(0)
        eventually("the view to be where it was", lambda: abs(ben.scroll["top"] - before) < 5)
        self.assertGreater(ben.scroll["below"], 1000)
        # The keyboard stays in the message.
        expect(message).to_be_focused()

    def test_with_nothing_unread_it_opens_at_the_newest(self):
        for number in range(1, 61):
            self.ann.send(self.thread, f"message {number:03}")
        self.ben.read(self.thread, 60)
        ben = self.signed_in(self.ben).enter("Ann")
        expect(ben.message("message 060")).to_be_in_viewport()
        expect(ben.log.get_by_role("separator", name="New messages")).to_have_count(0)
        expect(ben.button("Jump to newest")).to_be_hidden()

    def test_scrolled_up_new_messages_move_nothing(self):
        for number in range(1, 61):
            self.ann.send(self.thread, f"message {number:03}")
        self.ben.read(self.thread, 60)
        ben = self.signed_in(self.ben).enter("Ann")
        expect(ben.message("message 060")).to_be_in_viewport()
        # The inbox has the last message; there is room to scroll when the ones before it have come.
        expect(ben.message("message 030")).to_be_attached()
        ben.log.hover()
        ben.page.mouse.wheel(0, -1200)
        expect(ben.button("Jump to newest")).to_be_visible()
        ben.page.wait_for_timeout(500)
        before = ben.scroll["top"]
        self.ann.send(self.thread, "message new")
        expect(ben.conversation("Ann")).to_have_accessible_name(re.compile("1 unread"))
        ben.page.wait_for_timeout(500)
        self.assertLess(abs(ben.scroll["top"] - before), 3)
        self.assertEqual(self.ben.unread(), 1)
        ben.button("Jump to newest").click()
        expect(ben.message("message new")).to_be_in_viewport()
        expect(ben.button("Jump to newest")).to_be_hidden()

    def test_older_messages_load_without_a_jump(self):
        for number in range(1, 151):
            self.ann.send(self.thread, f"message {number:03}")
        self.ben.read(self.thread, 150)
        ben = self.signed_in(self.ben).enter("Ann")
        expect(ben.message("message 150")).to_be_in_viewport()
        ben.log.hover()
        for _ in range(200):
            if ben.messages.filter(has_text="message 001").count() and ben.scroll["top"] <= 1:
                break
            ben.page.mouse.wheel(0, -600)
            ben.page.wait_for_timeout(30)
        expect(ben.message("message 001")).to_be_in_viewport()
        shown = ben.messages.evaluate_all("rows => rows.map(row => Number(row.dataset.seq))")
        self.assertEqual(shown, list(range(shown[0], shown[0] + len(shown))))


class Receipts(BrowserTest):
    def test_the_newest_own_message_says_how_far_it_got(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.direct(ben)
        chat = self.signed_in(ann).enter("Ben")
        chat.send("is anyone there")
        chat.expect_state("is anyone there", "Sent")
        other = self.signed_in(ben)
        chat.expect_state("is anyone there", "Delivered")
        other.enter("Ann")
        chat.expect_state("is anyone there", "Read")

    def test_a_group_counts_its_readers(self):
        ann, ben, cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        ann.group("Garden", ben, cleo)
        chat = self.signed_in(ann).enter("Garden")
        chat.send("who waters the beans")
        for reader in (ben, cleo):
            self.signed_in(reader).enter("Garden")
        chat.expect_state("who waters the beans", "Read by 2")

    def test_typing_shows_and_ends(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.direct(ben)
        one, other = self.signed_in(ann).enter("Ben"), self.signed_in(ben).enter("Ann")
        expect(one.role("status", "Typing")).to_have_text("")
        other.box.press_sequentially("hel", delay=50)
        expect(one.role("status", "Typing")).to_have_text("Ben is typing…")
        other.box.press("Enter")
        expect(one.message("hel")).to_be_visible()
        expect(one.role("status", "Typing")).to_have_text("")


class Messages(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)
        self.ann.send(self.thread, "the original")
        self.ben.send(self.thread, "from Ben")
        self.chat = self.signed_in(self.ann).enter("Ben")
        self.other = self.signed_in(self.ben).enter("Ann")

    def test_a_message_has_its_attributes_sender_time_and_text(self):
        message = self.chat.message("the original")
        stored = self.ann.messages(self.thread)[0]
        expect(message).to_have_attribute("data-id", stored["id"])
        expect(message).to_have_attribute("data-seq", "1")
        expect(message).to_contain_text("Ann")
        expect(message.locator("time")).to_have_attribute("datetime", re.compile("^20"))
        expect(self.chat.message("from Ben")).to_contain_text("Ben")

    def test_a_reply_names_its_original_and_scrolls_to_it(self):
        for number in range(60):
            self.ann.send(self.thread, f"filler {number}")
        expect(self.chat.message("filler 59")).to_be_visible()
        original = self.ben.messages(self.thread)[1]
        self.ann.send(self.thread, "the answer", reply_to=original["id"])
        link = self.chat.message("the answer").get_by_role("link", name=starting("Reply to Ben"))
        expect(link).to_be_visible()
        link.click()
        # The reply quotes the original.
        expect(self.chat.messages.filter(has_text="from Ben").first).to_be_in_viewport()

    def test_replying_by_the_menu_can_be_cancelled_and_sent(self):
        self.chat.act("from Ben", "Reply")
        self.chat.button("Cancel reply").click()
        expect(self.chat.button("Cancel reply")).to_be_hidden()
        self.chat.act("from Ben", "Reply")
        self.chat.send("an answer")
        expect(self.other.message("an answer").get_by_role("link", name=starting("Reply to Ben"))).to_be_visible()
        expect(self.chat.button("Cancel reply")).to_be_hidden()

    def test_an_edit_shows_everywhere_and_is_marked(self):
        self.chat.act("the original", "Edit")
        box = self.chat.role("textbox", "Edit message")
        expect(box).to_have_value("the original")
        box.fill("not kept")
        box.press("Escape")
        expect(box).to_be_hidden()
        self.chat.act("the original", "Edit")
        box.fill("the better one")
        self.chat.button("Save").click()
        for chat in (self.chat, self.other):
            expect(chat.message("the better one")).to_contain_text("Edited")

    def test_the_menu_has_what_applies(self):
        message = self.other.message("the original")
        message.hover()
        message.get_by_role("button", name="Message actions").click()
        items = self.other.page.get_by_role("menuitem")
        for name, count in (("Reply", 1), ("React", 1), ("Copy text", 1), ("Delete for me", 1), ("Edit", 0),
                            ("Delete for everyone", 0)):
            expect(self.other.page.get_by_role("menuitem", name=name, exact=True)).to_have_count(count)
        self.other.page.keyboard.press("Escape")
        expect(items).to_have_count(0)

    def test_deleting_for_everyone_leaves_a_tombstone_and_for_me_nothing_elsewhere(self):
        self.chat.act("the original", "Delete for everyone")
        dialog = self.chat.role("alertdialog", "Delete message")
        dialog.get_by_role("button", name="Cancel").click()
        expect(self.chat.message("the original")).to_be_visible()
        self.chat.act("the original", "Delete for everyone")
        dialog.get_by_role("button", name="Delete").click()
        for chat in (self.chat, self.other):
            expect(chat.messages.filter(has_text="Message deleted")).to_have_count(1)
            expect(chat.messages.filter(has_text="the original")).to_have_count(0)
        self.chat.act("from Ben", "Delete for me")
        if (confirm := self.chat.role("alertdialog")).count():
            confirm.get_by_role("button", name="Delete").click()
        expect(self.chat.messages.filter(has_text="from Ben")).to_have_count(0)
        expect(self.other.message("from Ben")).to_be_visible()

    def test_reactions_count_and_can_be_taken_back(self):
        self.chat.act("from Ben", "React")
        dialog = self.chat.dialog("Choose a reaction")
        first = dialog.get_by_role("button").filter(has_text=re.compile("👍|❤️|😂|🎉|😮|😢"))
        expect(first.nth(0)).to_have_accessible_name("👍")
        dialog.get_by_role("button", name="👍", exact=True).first.click()
        mine = self.chat.message("from Ben").get_by_role("button", name="👍 1")
        expect(mine).to_have_attribute("aria-pressed", "true")
        theirs = self.other.message("from Ben").get_by_role("button", name="👍 1")
        expect(theirs).to_have_attribute("aria-pressed", "false")
        theirs.click()
        expect(self.chat.message("from Ben").get_by_role("button", name="👍 2")).to_be_visible()
        self.chat.message("from Ben").get_by_role("button", name="👍 2").click()
        expect(theirs).to_have_attribute("aria-pressed", "true")

    def test_a_draft_stays_with_its_conversation(self):
        cleo = self.account("Cleo")
        self.ann.direct(cleo)
        self.chat.box.fill("not sent yet")
        self.chat.enter("Cleo")
        expect(self.chat.box).to_have_value("")
        self.chat.enter("Ben")
        expect(self.chat.box).to_have_value("not sent yet")
        self.chat.page.reload()
        expect(self.chat.box).to_have_value("not sent yet")

    def test_links_are_links_and_nothing_else_is(self):
        self.ben.send(self.thread, "see https://example.org/a?b=c and mailto:ann@example.org or javascript:alert(1)")
        message = self.chat.message("see https://example.org")
        links = message.get_by_role("link")
        expect(links).to_have_count(2)
        expect(links.first).to_have_attribute("href", "https://example.org/a?b=c")
        for link in links.all():
            expect(link).to_have_attribute("rel", re.compile("noopener.*noreferrer|noreferrer.*noopener"))
