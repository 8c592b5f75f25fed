"""The inbox, its dialogs, and the search."""
import re
import secrets

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.processes import eventually


class Inbox(BrowserTest):
    def test_newest_activity_comes_first_and_the_open_one_is_marked(self):
        ann, ben, cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        with_ben, with_cleo = ann.direct(ben), ann.direct(cleo)
        ben.send(with_ben, "first")
        cleo.send(with_cleo, "second")
        chat = self.signed_in(ann)
        links = chat.navigation.get_by_role("list").get_by_role("link")
        expect(links).to_have_count(2)
        expect(links.nth(0)).to_have_accessible_name(starting("Cleo"))
        ben.send(with_ben, "third")
        expect(links.nth(0)).to_have_accessible_name(starting("Ben"))
        expect(links.nth(0)).to_have_accessible_name(re.compile("2 unread"))
        expect(chat.page).to_have_title(starting("(3) "))
        chat.enter("Cleo")
        expect(chat.conversation("Cleo")).to_have_attribute("aria-current", "page")
        expect(chat.conversation("Ben")).not_to_have_attribute("aria-current", "page")
        expect(chat.page).to_have_title(re.compile("Parley"))

    def test_one_person_makes_a_direct_conversation_more_make_a_group(self):
        ann, ben, cleo = self.account("Ann"), self.account("Bentley"), self.account("Cleopatra")
        chat = self.signed_in(ann)
        chat.start_conversation("Bentley")
        expect(chat.role("heading", starting("Bentley")).first).to_be_visible()
        chat.start_conversation("Bentley", "Cleopatra", title="The three of us")
        expect(chat.role("heading", starting("The three of us")).first).to_be_visible()
        kinds = {thread["kind"]: thread for thread in ann.call("GET", "/v1/inbox")["threads"]}
        self.assertEqual(kinds["direct"]["peer"]["id"], ben.id)
        self.assertEqual((kinds["group"]["title"], kinds["group"]["member_count"]), ("The three of us", 3))
        expect(self.signed_in(cleo).conversation("The three of us")).to_be_visible()

    def test_a_room_is_joined_by_its_title(self):
        title = f"Kitchen {secrets.token_hex(3)}"
        for name in ("Ann", "Ben"):
            chat = self.signed_in(self.account(name))
            chat.button("Join a room").click()
            dialog = chat.dialog("Join a room")
            dialog.get_by_role("textbox", name="Room title").fill(title)
            dialog.get_by_role("button", name="Join", exact=True).click()
            expect(chat.role("heading", starting(title)).first).to_be_visible()
        chat.send("anybody hungry")
        chat.expect_stored("anybody hungry")

    def test_an_invitation_is_accepted_or_declined(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.group("Chess", ben, invite=True)
        ann.group("Choir", ben, invite=True)
        chat = self.signed_in(ben)
        chat.conversation("Chess").click()
        expect(chat.button("Decline")).to_be_visible()
        expect(chat.role("form", "Send a message")).to_be_hidden()
        chat.button("Accept").click()
        expect(chat.role("form", "Send a message")).to_be_visible()
        chat.send("check")
        chat.expect_stored("check")
        chat.conversation("Choir").click()
        chat.button("Decline").click()
        expect(chat.conversation("Choir")).to_be_hidden()

    def test_search_finds_conversations_then_messages_and_jumps(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.group("Rhubarb club", ben)
        # Three digits: a row's time follows its text, so "message 1" at 20:15 would read as "message 120:15".
        for number in range(1, 121):
            ann.send(thread, "the rhubarb recipe" if number == 10 else f"message {number:03}")
        ben.read(thread, 120)
        eventually("the search to know the message",
                   lambda: ben.call("GET", "/v1/search?q=rhubarb")["results"], seconds=20)
        chat = self.signed_in(ben)
        chat.search.fill("rhubarb")
        links = chat.results.get_by_role("link")
        expect(links).to_have_count(2)
        expect(links.nth(0)).to_have_accessible_name(starting("Rhubarb club"))
        expect(links.nth(1)).to_contain_text("rhubarb recipe")
        links.nth(1).click()
        expect(chat.message("the rhubarb recipe")).to_be_in_viewport()
        expect(chat.message("message 120")).to_have_count(0)
        chat.button("Jump to newest").click()
        expect(chat.message("message 120")).to_be_in_viewport()

    def test_settings_change_the_name_the_theme_and_list_the_devices(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.direct(ben)
        chat = self.signed_in(ann)
        chat.button("Settings").click()
        dialog = chat.dialog("Settings")
        expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_have_value("Ann")
        expect(dialog.get_by_role("list", name="Devices").get_by_role("listitem").first).to_be_visible()
        group = dialog.get_by_role("radiogroup", name="Theme")
        expect(group.get_by_role("radio", name="System")).to_be_checked()
        for theme in ("Dark", "Light"):
            group.get_by_role("radio", name=theme).check()
            scheme = chat.page.evaluate("getComputedStyle(document.documentElement).colorScheme")
            self.assertIn(theme.lower(), scheme)
        dialog.get_by_role("textbox", name="Name", exact=True).fill("Annabel")
        dialog.get_by_role("button", name="Save", exact=True).click()
        eventually("the name to be saved", lambda: ann.call("GET", "/v1/users/me")["name"] == "Annabel")
        expect(self.signed_in(ben).conversation("Annabel")).to_be_visible()

    def test_signing_out_removes_everything_from_the_browser(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        ben.send(thread, "a secret")
        chat = self.signed_in(ann).enter("Ben")
        expect(chat.message("a secret")).to_be_visible()
        chat.button("Settings").click()
        chat.dialog("Settings").get_by_role("button", name="Sign out", exact=True).click()
        expect(chat.role("form", "Sign in")).to_be_visible()
        stored = """async () => {
            const found = [Object.entries(localStorage), Object.entries(sessionStorage)];
            for (const {name, version} of await indexedDB.databases()) {
                const db = await new Promise((done) => {
                    const open = indexedDB.open(name, version); open.onsuccess = () => done(open.result);
                    // The page has deleted it meanwhile: do not create it again, without its tables.
                    open.onupgradeneeded = () => open.transaction.abort(); open.onerror = () => done(null);
                });
                if (!db) continue;
                for (const store of db.objectStoreNames) found.push(await new Promise((done) => {
                    const all = db.transaction(store).objectStore(store).getAll(); all.onsuccess = () => done(all.result);
                }));
                db.close();
            }
            return JSON.stringify(found);
        }"""
        text = chat.page.evaluate(stored)
        for secret in ("a secret", ann.username, ann.id, thread, "Ben"):
            self.assertNotIn(secret, text)
        expect(chat.navigation).to_be_hidden()
        chat.page.reload()
        expect(chat.role("form", "Sign in")).to_be_visible()


class Labels(BrowserTest):
    def test_labels_are_folders_of_the_list_on_all_devices(self):
        ann, ben, cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        order = ann.group("Order 7", ben)
        ann.call("PATCH", f"/v1/threads/{order}", {"labels": ["order"]})
        for person in (ben, cleo):
            ann.direct(person)
        phone, laptop = self.signed_in(ann), self.signed_in(ann)
        links = laptop.navigation.get_by_role("list", name="All conversations").get_by_role("link")
        folders = laptop.role("group", "Folders")
        expect(folders.get_by_role("button")).to_have_text(["order"])
        # By the menu of a row, and in the details.
        laptop.conversation("Ben").click(button="right")
        laptop.page.get_by_role("menuitem", name="Labels…").click()
        dialog = laptop.dialog("Ben")
        shown = dialog.get_by_role("list", name="Labels").get_by_role("listitem")
        for label, labels in (("Work", ["Work"]), (" Work", ["Work"]), ("order", ["Work", "order"])):
            dialog.get_by_role("combobox", name="New label").fill(label)
            dialog.get_by_role("button", name="Add label").click()
            if label == " Work":
                expect(laptop.alert).to_contain_text("each once")
            expect(shown).to_have_text(labels)
        laptop.page.keyboard.press("Escape")
        expect(folders.get_by_role("button")).to_have_text(["order", "Work"])
        laptop.search.fill("Cleo")
        expect(folders).to_be_hidden()
        laptop.search.fill("")
        folders.get_by_role("button", name="order").click()
        expect(links).to_have_count(2)
        folders.get_by_role("button", name="Work").click()
        expect(links).to_have_count(1)
        expect(laptop.conversation("Ben")).to_be_visible()
        laptop.navigation.get_by_role("button", name="Archived").click()
        expect(laptop.navigation).to_contain_text("Nothing in this folder.")
        folders.get_by_role("button", name="Work").click()
        laptop.navigation.get_by_role("button", name="All").click()
        expect(links).to_have_count(3)
        # The same folders elsewhere; the last conversation without the label removes the folder.
        phone.role("group", "Folders").get_by_role("button", name="Work").click()
        phone.enter("Ben")
        phone.button("Conversation details").click()
        details = phone.dialog("Conversation details")
        details.get_by_role("button", name="Remove label Work").click()
        expect(folders.get_by_role("button")).to_have_text(["order"])
        expect(phone.navigation.get_by_role("list", name="All conversations").get_by_role("link")).to_have_count(3)
        # A label of the conversation itself is shown and cannot be removed here.
        phone.page.keyboard.press("Escape")
        phone.enter("Order 7")
        phone.button("Conversation details").click()
        labels = details.get_by_role("list", name="Labels")
        expect(labels.get_by_role("listitem")).to_have_text(["order"])
        expect(labels.get_by_role("button")).to_have_count(0)
