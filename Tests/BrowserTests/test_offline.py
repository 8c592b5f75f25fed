"""Networks and nodes that go away, and several tabs."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.processes import eventually
from harness.world import World

TEXTS = [f"offline {number}" for number in range(1, 6)]


class Offline(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)

    def test_five_messages_sent_offline_survive_a_reload_and_arrive_once_in_order(self):
        self.ben.send(self.thread, "before")
        chat = self.signed_in(self.ann).enter("Ben")
        expect(chat.message("before")).to_be_visible()
        self.wait_for_service_worker(chat)
        context = chat.page.context
        context.set_offline(True)
        expect(chat.connection).to_have_text("Offline")
        for text in TEXTS:
            chat.send(text)
        chat.expect_state(TEXTS[-1], "Sending")
        chat.page.reload()
        expect(chat.message("before")).to_be_visible()
        for text in TEXTS:
            expect(chat.message(text)).to_be_visible()
        self.assertEqual(self.ben.texts(self.thread), ["before"])
        context.set_offline(False)
        for text in TEXTS:
            chat.expect_stored(text)
        expect(chat.connection).to_have_text("Connected")
        self.assertEqual(self.ben.texts(self.thread), ["before", *TEXTS])
        expect(chat.messages).to_have_count(6)
        shown = chat.messages.evaluate_all("rows => rows.map((row) => Number(row.dataset.seq))")
        self.assertEqual(shown, [1, 2, 3, 4, 5, 6])

    def test_what_happened_meanwhile_is_there_when_the_network_returns(self):
        for number in range(30):
            self.ben.send(self.thread, f"first {number}")
        chat = self.signed_in(self.ann).enter("Ben")
        expect(chat.message("first 0")).to_be_visible()
        expect(chat.connection).to_have_text("Connected")
        chat.page.context.set_offline(True)
        expect(chat.connection).to_have_text("Offline")
        for number in range(130):
            self.ben.send(self.thread, f"later {number}")
        chat.page.context.set_offline(False)
        expect(chat.connection).to_have_text("Connected")
        expect(chat.page).to_have_title(re.compile(r"^\(1\d\d\) "))
        if chat.button("Jump to newest").is_visible():
            chat.button("Jump to newest").click()
        expect(chat.message("later 129")).to_be_in_viewport()
        eventually("the newest to be read", lambda: self.ann.unread() == 0)

    def test_a_message_that_the_service_refuses_can_be_retried_and_discarded(self):
        chat = self.signed_in(self.ann).enter("Ben")
        self.ben.call("PUT", f"/v1/users/me/blocks/{self.ann.id}")
        chat.send("are you there")
        failed = chat.message("are you there")
        chat.expect_state("are you there", "Failed")
        self.ben.call("DELETE", f"/v1/users/me/blocks/{self.ann.id}")
        failed.get_by_role("button", name="Retry").click()
        chat.expect_stored("are you there")
        self.ben.call("PUT", f"/v1/users/me/blocks/{self.ann.id}")
        chat.send("never mind")
        chat.message("never mind").get_by_role("button", name="Discard").click()
        expect(chat.messages.filter(has_text="never mind")).to_have_count(0)
        self.assertEqual(self.ben.texts(self.thread), ["are you there"])


class KilledNode(BrowserTest):
    def setUp(self):
        super().setUp()
        self.node = World.own_node(f"killed_{self.id().rsplit('.', 1)[1][:20]}")
        self.addCleanup(self.node.end)

    def test_nothing_is_lost_and_no_error_outlives_the_reconnect(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        one, other = self.signed_in(ann).enter("Ben"), self.signed_in(ben).enter("Ann")
        one.send("before")
        expect(other.message("before")).to_be_visible()
        self.node.kill()
        expect(one.connection).not_to_have_text("Connected")
        one.send("into the dark")
        other.send("from the other side")
        self.node.start()
        for chat in (one, other):
            expect(chat.connection).to_have_text("Connected", timeout=20_000)
            expect(chat.alert).to_be_hidden()
            for text in ("into the dark", "from the other side"):
                chat.expect_stored(text)
        self.assertCountEqual(ben.texts(thread), ["before", "into the dark", "from the other side"])


class Tabs(BrowserTest):
    def setUp(self):
        super().setUp()
        self.node = World.own_node(f"tabs_{self.id().rsplit('.', 1)[1][:20]}")
        self.addCleanup(self.node.end)

    def waiting(self):
        return self.node.metric("parley_polls_waiting")

    def test_seven_tabs_wait_on_one_connection_and_all_follow(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        first = self.signed_in(ann).enter("Ben")
        tabs = [first] + [self.page(first.page.context, ann).open(f"#/t/{thread}") for _ in range(6)]
        for tab in tabs:
            expect(tab.log).to_be_visible()
            expect(tab.connection).to_have_text("Connected")
        ben.send(thread, "to all of you")
        for tab in tabs:
            expect(tab.message("to all of you")).to_be_visible()
        for _ in range(10):
            first.page.wait_for_timeout(200)
            self.assertLessEqual(self.waiting(), 1)
        eventually("one poll", lambda: self.waiting() == 1)
        # The tab that polls goes away; another one takes over. The first tab was the first to ask for the lock.
        tabs.pop(0).page.close()
        ben.send(thread, "to the rest")
        for tab in tabs:
            expect(tab.message("to the rest")).to_be_visible()
        eventually("one poll", lambda: self.waiting() == 1)
        tabs[-1].send("from the last")
        for tab in tabs:
            expect(tab.message("from the last")).to_have_count(1)

    def test_signing_out_in_one_tab_signs_out_all(self):
        ann = self.account("Ann")
        first = self.signed_in(ann)
        second = self.page(first.page.context, ann).open()
        expect(second.navigation).to_be_visible()
        first.button("Settings").click()
        first.dialog("Settings").get_by_role("button", name="Sign out", exact=True).click()
        for tab in (first, second):
            expect(tab.role("form", "Sign in")).to_be_visible()
