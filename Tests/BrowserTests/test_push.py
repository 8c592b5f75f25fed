"""Web Push: what the service worker does with an alert. No push service is needed: DevTools delivers the alerts."""
import json

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.processes import eventually


class Push(BrowserTest):
    needs_whole_browser = True

    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)
        context = self.browser(permissions=["notifications"])
        self.chat = self.page(context, self.ann).open().sign_in()
        self.chat.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        self.devtools = context.new_cdp_session(self.chat.page)
        registrations = []
        self.devtools.on("ServiceWorker.workerRegistrationUpdated",
                         lambda event: registrations.extend(event["registrations"]))
        self.devtools.send("ServiceWorker.enable")
        eventually("the registration", lambda: self.chat.page.wait_for_timeout(50) or registrations)
        self.registration = registrations[0]["registrationId"]
        self.chat.page.evaluate("""() => {
            globalThis.handled = 0;
            navigator.serviceWorker.addEventListener('message', () => { handled += 1; });
        }""")

    def deliver(self, alert):
        """Delivers an alert and waits until the worker has handled it."""
        handled = self.chat.page.evaluate("handled")
        self.devtools.send("ServiceWorker.deliverPushMessage", {
            "origin": self.origin, "registrationId": self.registration,
            "data": alert if isinstance(alert, str) else json.dumps(alert)})
        eventually("the worker", lambda: self.chat.page.evaluate("handled") > handled)

    def alert(self, seq, **more):
        return {"event": "message", "thread_id": self.thread, "message_id": f"0197{seq:028d}", "seq": seq, "badge": seq,
                "title": "Ben", "body": f"message {seq}", **more}

    def test_an_alert_shows_one_notification_a_thread_and_goes_when_read_elsewhere(self):
        self.deliver(self.alert(1))
        eventually("the notification", lambda: [n["body"] for n in self.chat.notifications] == ["message 1"])
        self.deliver(self.alert(2))
        eventually("the newer one in its place", lambda: [n["body"] for n in self.chat.notifications] == ["message 2"])
        self.assertEqual(self.chat.notifications[0]["title"], "Ben")
        # Another device has read up to the first, then up to the second message.
        self.deliver({"event": "read", "thread_id": self.thread, "read_up_to": 1, "badge": 1})
        self.assertEqual(len(self.chat.notifications), 1)
        self.deliver({"event": "read", "thread_id": self.thread, "read_up_to": 2, "badge": 0})
        eventually("no notification", lambda: self.chat.notifications == [])

    def test_an_alert_without_a_text_and_a_broken_one_do_no_harm(self):
        self.deliver(self.alert(1, title=None, body="New message"))
        eventually("the notification", lambda: [n["body"] for n in self.chat.notifications] == ["New message"])
        self.deliver("no json")
        self.assertEqual(sorted(n["title"] for n in self.chat.notifications), ["Parley", "Parley"])
        expect(self.chat.connection).to_have_text("Connected")

    def test_reading_a_thread_clears_its_notification(self):
        self.ben.send(self.thread, "read me")
        self.deliver(self.alert(1))
        eventually("the notification", lambda: len(self.chat.notifications) == 1)
        self.chat.enter("Ben")
        expect(self.chat.message("read me")).to_be_visible()
        eventually("no notification", lambda: self.chat.notifications == [])
