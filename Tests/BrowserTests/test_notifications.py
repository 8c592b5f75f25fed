"""Notifications of a tab in the background, which need no push service."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.processes import eventually

# A headless browser shows all its tabs: these tests hide them as a person does who opens another window over them.
HIDE = """() => {
    Object.defineProperty(document, 'visibilityState', { get: () => globalThis.isSeen ? 'visible' : 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}"""
# Counts the notifications that a page has shown.
COUNT = """() => {
    globalThis.notified = 0;
    // about:blank knows no service workers.
    const registration = globalThis.ServiceWorkerRegistration?.prototype;
    if (!registration) return;
    const show = registration.showNotification;
    registration.showNotification = async function (...options) {
        await show.apply(this, options);
        globalThis.notified += 1;
    };
}"""
SEEN = "isSeen => { globalThis.isSeen = isSeen; document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); }"


class Notifications(BrowserTest):
    needs_whole_browser = True

    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)
        self.context = self.browser(permissions=["notifications"])
        self.context.add_init_script(f"({COUNT})()")
        self.chat = self.page(self.context, self.ann).open().sign_in()
        self.chat.page.evaluate("navigator.serviceWorker.ready.then(() => true)")

    def turn_on(self):
        self.chat.button("Settings").click()
        dialog = self.chat.dialog("Settings")
        dialog.get_by_role("button", name="Turn notifications on").click()
        expect(dialog.get_by_role("button", name="Turn notifications off")).to_be_visible()
        return dialog

    def wait_for_notifications(self, count):
        """Waits until the pages have shown so many."""
        eventually(f"{count} notifications", lambda: sum(
            page.evaluate("notified") for page in self.context.pages) == count)

    def shown(self):
        return [[shown["title"], shown["body"]] for shown in self.chat.notifications]

    def test_a_message_is_shown_while_no_tab_is_seen_and_goes_when_it_is_read(self):
        self.turn_on()
        self.chat.page.keyboard.press("Escape")
        self.ben.send(self.thread, "while it is seen")
        expect(self.chat.conversation("Ben")).to_have_accessible_name(re.compile("1 unread"))
        self.chat.page.evaluate(HIDE)
        self.ben.send(self.thread, "in the background")
        self.wait_for_notifications(1)
        self.assertEqual(self.shown(), [["Ben", "in the background"]])
        self.chat.page.evaluate(SEEN, True)
        self.chat.enter("Ben")
        expect(self.chat.message("in the background")).to_be_visible()
        eventually("no notification", lambda: self.shown() == [])

    def test_one_tab_that_is_seen_is_enough_for_none(self):
        self.turn_on()
        self.chat.page.keyboard.press("Escape")
        other = self.page(self.context, self.ann).open()
        expect(other.navigation).to_be_visible()
        self.chat.page.evaluate(HIDE)
        self.ben.send(self.thread, "one")
        expect(other.conversation("Ben")).to_have_accessible_name(re.compile("1 unread"))
        other.page.evaluate(HIDE)
        eventually("the browser to know", lambda: not self.chat.page.evaluate(
            "navigator.locks.query().then(({held}) => held.some(({name}) => name === 'parley-seen'))"))
        self.ben.send(self.thread, "two")
        self.wait_for_notifications(1)
        self.assertEqual(self.shown(), [["Ben", "two"]])

    def test_the_account_says_how_much_and_the_hours_say_when(self):
        dialog = self.turn_on()
        dialog.get_by_role("combobox", name="Notifications show").select_option("Only the sender")
        dialog.get_by_role("checkbox", name="Play a sound").uncheck()
        dialog.get_by_role("checkbox", name="Do not disturb").check()
        # All hours but this one, on every clock.
        hours = self.chat.page.evaluate(
            "[1, -1].map((step) => new Date(Date.now() + step * 3600000).toTimeString().slice(0, 5))")
        dialog.get_by_label("From", exact=True).fill(hours[0])
        dialog.get_by_label("To", exact=True).fill(hours[1])
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        self.chat.page.evaluate(HIDE)
        self.ben.send(self.thread, "not the text")
        self.wait_for_notifications(1)
        self.assertEqual(self.shown(), [["Ben", "New message"]])
        self.chat.page.evaluate(SEEN, True)
        self.chat.button("Settings").click()
        dialog.get_by_label("From", exact=True).fill(hours[1])
        dialog.get_by_label("To", exact=True).fill(hours[0])
        dialog.get_by_role("button", name="Send a test notification").click()
        self.wait_for_notifications(2)
        self.assertIn(["Parley", "Notifications work in this browser."], self.shown())
        self.chat.page.keyboard.press("Escape")
        self.chat.page.evaluate(SEEN, False)
        self.ben.send(self.thread, "at night")
        expect(self.chat.conversation("Ben")).to_have_accessible_name(re.compile("2 unread"))
        self.assertNotIn(["Ben", "at night"], self.shown())
        self.assertEqual(len(self.shown()), 2)

    def test_the_question_comes_after_the_first_message_once(self):
        # A browser in which the person has not decided yet.
        context = self.browser()
        context.add_init_script("""
            globalThis.asked = 0;
            let permission = 'default';
            Object.defineProperty(Notification, 'permission', { get: () => permission });
            Notification.requestPermission = async () => { globalThis.asked += 1; return permission = 'granted'; };
        """)
        chat = self.page(context, self.ben).open().sign_in().enter("Ann")
        offer = chat.role("region", "Notifications")
        expect(offer).to_have_count(0)
        chat.send("the first")
        expect(offer).to_contain_text("Be notified of new messages")
        self.assertEqual(chat.page.evaluate("asked"), 0)
        offer.get_by_role("button", name="Not now").click()
        expect(chat.box).to_be_focused()
        chat.send("the second")
        chat.expect_stored("the second")
        expect(offer).to_have_count(0)
        self.assertEqual(chat.page.evaluate("asked"), 0)

    def test_a_level_holds_for_a_conversation_on_all_devices(self):
        other = self.signed_in(self.ann)
        self.chat.enter("Ben")
        self.chat.button("Conversation details").click()
        self.chat.dialog("Conversation details").get_by_role("combobox", name="Notifications").select_option("None")
        eventually("the level", lambda: self.ann.call("GET", f"/v1/threads/{self.thread}")["me"]["notify"] == "none")
        self.chat.page.keyboard.press("Escape")
        self.chat.button("Settings").click()
        self.chat.page.keyboard.press("Escape")
        self.ben.send(self.thread, "hello")
        expect(other.conversation("Ben")).to_have_accessible_name(re.compile("1 unread"))
        expect(other.page).not_to_have_title(re.compile(r"^\("))
