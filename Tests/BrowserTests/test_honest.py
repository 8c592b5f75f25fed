"""Nothing is sent or lost without a question, and what goes wrong is said in the reader's language."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.processes import eventually


class Unsent(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)

    def test_a_position_is_shown_and_confirmed_before_it_is_sent(self):
        chat = self.page(self.browser(permissions=["geolocation"],
                                      geolocation={"latitude": 52.5163, "longitude": 13.3777, "accuracy": 25}),
                         self.ann).open().sign_in().enter("Ben")
        dialog = chat.dialog("Share location")
        for answer in ("Cancel", "Send location"):
            chat.button("More to send").click()
            chat.page.get_by_role("menuitem", name="Share location").click()
            expect(dialog).to_contain_text("52.51630, 13.37770")
            expect(dialog).to_contain_text("within 25 m")
            self.assertEqual(self.ben.messages(self.thread), [])
            dialog.get_by_role("button", name=answer).click()
            expect(dialog).to_be_hidden()
        expect(chat.messages).to_have_count(1)
        eventually("the position", lambda: [m["payload"] for m in self.ben.messages(self.thread)] == [
            {"latitude": 52.5163, "longitude": 13.3777, "accuracy_m": 25}])

    def test_files_stay_with_the_draft_of_their_conversation(self):
        cleo = self.account("Cleo")
        self.ann.direct(cleo)
        chat = self.signed_in(self.ann).enter("Ben")
        with chat.page.expect_file_chooser() as chooser:
            chat.button("Attach files").click()
        chooser.value.set_files({"name": "list.txt", "mimeType": "text/plain", "buffer": b"beans"})
        tray = chat.role("list", "Files to send")
        expect(tray.get_by_text("list.txt")).to_be_visible()
        chat.enter("Cleo")
        expect(tray).to_be_hidden()
        expect(chat.conversation("Ben")).to_have_accessible_name(re.compile("Draft: File"))
        chat.page.reload()
        chat.enter("Ben")
        expect(tray.get_by_text("list.txt")).to_be_visible()
        chat.send("with a list")
        chat.expect_stored("with a list")
        expect(tray).to_be_hidden()
        message = self.ben.messages(self.thread)[0]
        self.assertEqual([file["size"] for file in message["payload"]["attachments"]], [5])
        chat.enter("Cleo")
        chat.enter("Ben")
        expect(chat.message("with a list")).to_be_visible()
        expect(tray).to_be_hidden()

    def test_signing_out_asks_when_something_is_not_sent_and_ends_the_session_later(self):
        chat = self.signed_in(self.ann).enter("Ben")
        expect(chat.connection).to_have_text("Connected")
        sessions = len(self.ann.call("GET", "/v1/sessions")["sessions"])
        context = chat.page.context
        self.wait_for_service_worker(chat)
        context.set_offline(True)
        chat.send("not yet")
        chat.box.fill("a beginning")
        expect(chat.connection).to_have_text("Offline")
        chat.button("Settings").click()
        dialog = chat.dialog("Settings")
        question = chat.role("alertdialog", "Sign out and lose unsent messages?")
        dialog.get_by_role("button", name="Sign out", exact=True).click()
        expect(question).to_contain_text("1 unsent message and 1 draft")
        question.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_visible()
        dialog.get_by_role("button", name="Sign out", exact=True).click()
        question.get_by_role("button", name="Sign out").click()
        expect(chat.role("form", "Sign in")).to_be_visible()
        expect(chat.alert).to_have_count(0)
        self.assertEqual(len(self.ann.call("GET", "/v1/sessions")["sessions"]), sessions)
        context.set_offline(False)
        eventually("the session to end", lambda: len(self.ann.call("GET", "/v1/sessions")["sessions"]) == sessions - 1)
        self.assertEqual(self.ben.texts(self.thread), [])

    def test_offline_says_what_is_not_there_searches_what_is_and_keeps_reactions(self):
        for number in range(3):
            self.ben.send(self.thread, f"beans number {number}")
        cleo = self.account("Cleo")
        other = self.ann.direct(cleo)
        for number in range(60):
            cleo.send(other, f"peas {number}")
        chat = self.signed_in(self.ann).enter("Ben")
        expect(chat.message("beans number 0")).to_be_visible()
        self.wait_for_service_worker(chat)
        chat.page.context.set_offline(True)
        expect(chat.connection).to_have_text("Offline")
        chat.message("beans number 1").hover()
        chat.act("beans number 1", "React")
        chat.dialog("Choose a reaction").get_by_role("button", name="👍").first.click()
        reaction = chat.message("beans number 1").get_by_role("button", name="👍 1")
        expect(reaction).to_have_attribute("aria-pressed", "true")
        chat.search.fill("number 2")
        expect(chat.results.get_by_role("link")).to_contain_text(["beans number 2"])
        expect(chat.navigation).to_contain_text("only messages stored on this device")
        chat.search.fill("")
        chat.conversation("Cleo").click()
        expect(chat.log).to_contain_text("Not available offline.")
        chat.page.context.set_offline(False)
        expect(chat.message("peas 40")).to_be_attached()
        eventually("the reaction", lambda: self.ben.messages(self.thread)[1]["reactions"].get("👍", {}).get("count") == 1)


class Words(BrowserTest):
    def test_refusals_are_at_their_fields_in_the_readers_language_before_sending_where_possible(self):
        ben = self.account("Ben")
        chat = self.page(self.browser(locale="de-DE"), None).open()
        requests = []
        chat.page.on("request", lambda request: requests.append(request.url))
        chat.button("Konto erstellen").click()
        form = chat.role("form", "Konto erstellen")
        name, username, password = (form.get_by_label(label, exact=True) for label in ("Name", "Benutzername", "Passwort"))
        username.fill("mit Leerzeichen")
        password.fill("kurz")
        form.get_by_role("button", name="Konto erstellen").click()
        for field, text in ((name, "Füllen Sie dieses Feld aus."), (username, "beginnt mit Buchstabe oder Ziffer"),
                            (password, "mindestens 8 Zeichen")):
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(field).to_have_accessible_description(re.compile(text))
        expect(name).to_be_focused()
        expect(chat.alert).to_have_count(1)
        self.assertEqual([url for url in requests if "register" in url], [])
        name.fill("Zweiter Ben")
        username.fill(ben.username)
        password.fill("lang genug")
        form.get_by_role("button", name="Konto erstellen").click()
        expect(username).to_have_accessible_description(re.compile("ist vergeben"))
        expect(name).not_to_have_attribute("aria-invalid", "true")
        expect(username).to_be_focused()

    def test_a_session_that_ended_elsewhere_says_so(self):
        ann = self.account("Ann")
        phone, laptop = self.signed_in(ann), self.signed_in(ann)
        laptop.button("Settings").click()
        dialog = laptop.dialog("Settings")
        expect(dialog.get_by_role("listitem").first).to_contain_text("Signed in:")
        dialog.get_by_role("button", name="Remove all other devices").click()
        laptop.role("alertdialog", "Remove all other devices").get_by_role("button", name="Remove all").click()
        expect(phone.role("form", "Sign in")).to_be_visible()
        expect(phone.page.get_by_role("status").filter(has_text="You were signed out")).to_be_visible()
        # Who signs out by themselves is told nothing.
        dialog.get_by_role("button", name="Sign out", exact=True).click()
        expect(laptop.role("form", "Sign in")).to_be_visible()
        expect(laptop.page.get_by_text("You were signed out")).to_have_count(0)

    def test_an_address_that_one_may_not_open_says_so(self):
        chat = self.signed_in(self.account("Ann"))
        chat.page.evaluate("location.hash = '#/t/0197aaaa-0000-7000-8000-000000000000'")
        expect(chat.role("heading", "You cannot open this conversation")).to_be_visible()
        chat.page.get_by_role("main").get_by_role("button", name="Back to conversations").click()
        expect(chat.role("heading", "You cannot open this conversation")).to_have_count(0)

    def test_only_what_the_service_has_is_offered(self):
        def offering(**parts):
            context = self.browser()
            answer = {"name": "Gartenfunk", "version": "1", "registration": "open", "sign_in": ["password"], "mail": False,
                      "push": {"apns": False, "fcm": False, "webpush": False}, "edit_history": True,
                      "limits": {"text_bytes": 16384, "payload_bytes": 65536, "attachment_bytes": 1000,
                                 "attachments_per_message": 10, "title_characters": 128}, **parts}
            context.route("**/v1/service", lambda route: route.fulfill(json=answer))
            return self.page(context, self.account("Ann")).open()

        chat = offering(registration="closed")
        expect(chat.page).to_have_title("Gartenfunk")
        expect(chat.role("form", "Sign in")).to_be_visible()
        for name in ("Create account", "Sign in by e-mail"):
            expect(chat.button(name)).to_have_count(0)
        chat.sign_in()
        expect(chat.navigation).to_contain_text("Gartenfunk")
        chat = offering(registration="invited", mail=True)
        expect(chat.button("Sign in by e-mail")).to_be_visible()
        chat.button("Create account").click()
        expect(chat.role("form", "Create account").get_by_label("Invitation code")).to_be_visible()


class Inbox(BrowserTest):
    def test_nothing_unread_hides_in_the_archive_and_an_invitation_counts(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.group("Attic", ben)
        ann.call("PATCH", f"/v1/threads/{thread}/settings",
                 {"archived": True, "muted_until": "2099-01-01T00:00:00.000Z"})
        ben.send(thread, "quietly")
        chat = self.signed_in(ann)
        links = chat.navigation.get_by_role("list").get_by_role("link")
        unread = chat.navigation.get_by_role("button", name="Unread")
        unread.click()
        expect(links).to_have_count(1)
        expect(chat.conversation("Attic")).to_have_accessible_name(re.compile("1 unread.*muted"))
        # A muted conversation is not in the title; an invitation is, once.
        expect(chat.page).not_to_have_title(starting("("))
        ben.group("Choir", ann, invite=True)
        expect(chat.page).to_have_title(starting("(1) "))
        expect(links).to_have_count(2)
        ann.call("PATCH", f"/v1/threads/{thread}/settings", {"muted_until": None})
        expect(chat.page).to_have_title(starting("(2) "))
        expect(chat.navigation.get_by_role("button", name="Archived")).to_have_text("Archived 1")
        ann.call("PATCH", f"/v1/threads/{thread}/settings", {"archived": False})
        expect(chat.navigation.get_by_role("button", name="Archived")).to_have_text("Archived")

    def test_a_new_user_finds_the_first_steps_and_themselves(self):
        ann = self.account("Ann Example")
        chat = self.signed_in(ann)
        expect(chat.page.get_by_role("main")).to_contain_text("Welcome.")
        chat.button("Start a conversation").click()
        expect(chat.dialog("New conversation")).to_be_visible()
        chat.page.keyboard.press("Escape")
        chat.button("Settings").click()
        expect(chat.dialog("Settings")).to_contain_text(f"@{ann.username}")

    def test_the_name_of_a_row_and_of_a_message_is_short(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ben.send(ann.direct(ben), "word " * 500)
        chat = self.signed_in(ann).enter("Ben")
        row = chat.conversation("Ben")
        length = row.evaluate("link => link.ariaLabel.length")
        self.assertLess(length, 180)
        expect(chat.messages.first).to_have_accessible_name(re.compile("^Ben, word word"))
        self.assertLess(chat.messages.first.evaluate("row => row.ariaLabel.length"), 140)
