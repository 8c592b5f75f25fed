"""Everything around the conversation: what one does with it as a whole, its people, and the account."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.processes import eventually


class Conversations(BrowserTest):
    def choose(self, chat, title, action):
        """Chooses an action in the menu of a conversation in the inbox."""
        chat.conversation(title).hover()
        chat.navigation.get_by_role("button", name=f"Options for {title}").click()
        chat.page.get_by_role("menuitem", name=action, exact=True).click()

    def own_view(self, person, thread):
        return next(each for each in person.call("GET", "/v1/inbox")["threads"] if each["id"] == thread)

    def test_pin_mute_archive_and_unread_marks(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        old, new = ann.group("Older", ben), ann.group("Newer", ben)
        ben.send(old, "one")
        ben.send(new, "two")
        chat = self.signed_in(ann)
        links = chat.navigation.get_by_role("list").get_by_role("link")
        expect(links.nth(0)).to_have_accessible_name(starting("Newer"))
        self.choose(chat, "Older", "Pin")
        expect(links.nth(0)).to_have_accessible_name(re.compile("^Older.*pinned"))
        self.choose(chat, "Newer", "Mute for 1 hour")
        expect(chat.conversation("Newer")).to_have_accessible_name(re.compile("muted"))
        self.choose(chat, "Newer", "Unmute")
        expect(chat.conversation("Newer")).not_to_have_accessible_name(re.compile("muted"))
        self.choose(chat, "Newer", "Mark as read")
        expect(chat.conversation("Newer")).not_to_have_accessible_name(re.compile("unread"))
        eventually("the server to know", lambda: self.own_view(ann, new)["unread_count"] == 0)
        self.choose(chat, "Newer", "Mark as unread")
        expect(chat.conversation("Newer")).to_have_accessible_name(re.compile("1 unread"))
        self.choose(chat, "Newer", "Archive")
        expect(links).to_have_count(1)
        chat.navigation.get_by_role("button", name="Archived").click()
        expect(links.nth(0)).to_have_accessible_name(starting("Newer"))
        self.choose(chat, "Newer", "Move to inbox")
        chat.navigation.get_by_role("button", name="Unread").click()
        expect(links).to_have_count(2)
        eventually("the server to know", lambda: self.own_view(ann, old)["me"]["pinned"]
                   and not self.own_view(ann, new)["me"]["archived"])

    def test_leaving_asks_first(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.group("Short project", ben)
        chat = self.signed_in(ben).enter("Short project")
        self.choose(chat, "Short project", "Leave")
        chat.role("alertdialog", "Leave").get_by_role("button", name="Cancel").click()
        expect(chat.conversation("Short project")).to_be_visible()
        self.choose(chat, "Short project", "Leave")
        chat.role("alertdialog", "Leave").get_by_role("button", name="Leave conversation").click()
        expect(chat.conversation("Short project")).to_be_hidden()
        expect(chat.log).to_be_hidden()

    def test_a_new_conversation_has_the_focus_in_its_message(self):
        ann, ben = self.account("Ann"), self.account("Bertrand")
        chat = self.signed_in(ann)
        chat.start_conversation("Bertrand")
        expect(chat.box).to_be_focused()
        chat.page.keyboard.type("straight away")
        chat.page.keyboard.press("Enter")
        chat.expect_stored("straight away")
        chat.conversation("Bertrand").click()
        expect(chat.box).to_be_focused()

    def test_the_inbox_shows_typing_presence_and_drafts(self):
        ann, ben, cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        with_ben = ann.direct(ben)
        ann.direct(cleo)
        chat = self.signed_in(ann).enter("Cleo")
        chat.box.fill("not finished")
        other = self.signed_in(ben).enter("Ann")
        expect(chat.conversation("Ben")).to_have_accessible_name(re.compile("online"))
        other.box.press_sequentially("hello")
        expect(chat.conversation("Ben")).to_have_accessible_name(re.compile("Ben is typing…"))
        chat.enter("Ben")
        expect(chat.conversation("Cleo")).to_have_accessible_name(re.compile("Draft: not finished"))
        self.assertEqual(ann.messages(with_ben), [])

    def test_hostile_titles_and_names_are_text(self):
        hostile = '<img src=x onerror="document.title=1">'
        ann, ben = self.account("Ann"), self.account(hostile)
        ann.group(f"(9) {hostile}", ben)
        ben.direct(ann)
        chat = self.signed_in(ann)
        expect(chat.conversation(hostile)).to_be_visible()
        chat.enter(f"(9) {hostile}")
        expect(chat.page).to_have_title(re.compile(r"^Parley"))
        chat.button("Conversation details").click()
        expect(chat.dialog("Conversation details").get_by_text(hostile).first).to_be_visible()
        self.assertEqual(chat.page.locator("img[onerror], script:not([type=module])").count(), 0)


class Details(BrowserTest):
    def details(self, chat):
        chat.button("Conversation details").click()
        return chat.dialog("Conversation details")

    def choose(self, chat, dialog, name, action):
        dialog.get_by_role("button", name=f"Options for {name}").click()
        chat.page.get_by_role("menuitem", name=action, exact=True).click()

    def members(self, person, thread):
        members = person.call("GET", f"/v1/threads/{thread}/members")["members"]
        return {member["user"]["name"]: (member["role"], member["status"]) for member in members}

    def test_an_owner_changes_title_and_members(self):
        ann, ben, cleo, dina = (self.account(name) for name in ("Ann", "Ben", "Persephone", "Dinara"))
        thread = ann.group("Garden", ben)
        chat = self.signed_in(ann).enter("Garden")
        dialog = self.details(chat)
        dialog.get_by_role("textbox", name="Title").fill("Orchard")
        dialog.get_by_role("button", name="Rename").click()
        expect(chat.conversation("Orchard")).to_be_visible()
        for name, button in (("Persephone", "Add"), ("Dinara", "Invite")):
            dialog.get_by_role("button", name="Add people").click()
            adding = chat.dialog("Add people")
            adding.get_by_role("searchbox", name="Find people").fill(name)
            adding.get_by_role("checkbox", name=starting(name)).first.check()
            adding.get_by_role("button", name=button, exact=True).click()
            expect(adding).to_be_hidden()
        item = dialog.get_by_role("listitem")
        expect(item.filter(has_text="Dinara")).to_contain_text("Invited")
        self.choose(chat, dialog, "Ben", "Make admin")
        expect(item.filter(has_text="Ben")).to_contain_text("Admin")
        self.choose(chat, dialog, "Dinara", "Withdraw invitation")
        expect(item.filter(has_text="Dinara")).to_have_count(0)
        self.choose(chat, dialog, "Persephone", "Remove from conversation")
        chat.role("alertdialog", "Remove from conversation").get_by_role("button", name="Remove").click()
        expect(item.filter(has_text="Persephone")).to_have_count(0)
        expect(dialog).to_be_visible()
        members = self.members(ann, thread)
        self.assertEqual(members["Ben"], ("admin", "joined"))
        self.assertNotIn("joined", members.get("Persephone", ()))

    def test_a_member_sees_people_and_changes_nothing(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.group("Garden", ben)
        chat = self.signed_in(ben).enter("Garden")
        dialog = self.details(chat)
        expect(dialog.get_by_role("listitem").filter(has_text="Ann")).to_contain_text("Owner")
        for button in ("Rename", "Add people", "Change picture"):
            expect(dialog.get_by_role("button", name=button)).to_have_count(0)
        expect(dialog.get_by_role("combobox", name="Keep messages")).to_be_disabled()
        dialog.get_by_role("button", name="Options for Ann").click()
        expect(chat.page.get_by_role("menuitem")).to_have_text(["Write a message"])
        chat.page.keyboard.press("Escape")
        expect(dialog).to_be_visible()
        expect(dialog.get_by_role("button", name="Options for Ann")).to_be_focused()

    def test_messages_disappear_after_the_chosen_time(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        chat = self.signed_in(ann).enter("Ben")
        self.details(chat).get_by_role("combobox", name="Keep messages").select_option("7 days")
        eventually("the thread to keep messages for a week", lambda: ann.call("GET", f"/v1/threads/{thread}")["retention"]
                   == {"keep": "seconds", "seconds": 604_800})

    def test_blocking_a_person_and_unblocking(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.direct(ben)
        chat = self.signed_in(ann).enter("Ben")
        dialog = self.details(chat)
        dialog.get_by_role("button", name="Block Ben").click()
        chat.role("alertdialog", "Block Ben").get_by_role("button", name="Block").click()
        expect(dialog.get_by_role("button", name="Unblock Ben")).to_be_visible()
        self.assertEqual([user["id"] for user in self.blocked(ann)], [ben.id])
        chat.page.keyboard.press("Escape")
        chat.button("Settings").click()
        chat.button("Blocked people").click()
        chat.dialog("Blocked people").get_by_role("button", name="Unblock Ben").click()
        expect(chat.dialog("Blocked people")).to_contain_text("You have blocked nobody.")
        self.assertEqual(self.blocked(ann), [])

    def blocked(self, person):
        answer = person.call("GET", "/v1/users/me/blocks")["blocks"]
        return [block.get("user", block) for block in answer]


class Account(BrowserTest):
    def settings(self, chat):
        chat.button("Settings").click()
        return chat.dialog("Settings")

    def test_status_presence_and_notifications_are_saved(self):
        ann = self.account("Ann")
        chat = self.signed_in(ann)
        dialog = self.settings(chat)
        dialog.get_by_role("textbox", name="Status").fill("In the workshop")
        dialog.get_by_role("checkbox", name="Show others when I am online").uncheck()
        dialog.get_by_role("combobox", name="Notifications show").select_option("Only the sender")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        me = ann.call("GET", "/v1/users/me")
        self.assertEqual(me["status_text"], "In the workshop")
        self.assertEqual(me["preferences"], {"push": "sender_only", "share_presence": False})

        def shows_what_was_saved():
            dialog = self.settings(chat)
            is_checked = dialog.get_by_role("checkbox", name="Show others when I am online").is_checked()
            chat.page.keyboard.press("Escape")
            return not is_checked

        eventually("the settings to show what was saved", shows_what_was_saved)

    def test_each_choice_is_stored_when_it_is_made_also_by_escape(self):
        ann = self.account("Ann")
        chat = self.signed_in(ann)
        dialog = self.settings(chat)
        dialog.get_by_role("checkbox", name="Show others when I am online").uncheck()
        expect(dialog.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
        self.assertEqual(ann.call("GET", "/v1/users/me")["preferences"]["share_presence"], False)
        dialog.get_by_role("textbox", name="Name").fill("")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")
        dialog.get_by_role("textbox", name="Name").fill("Ann the Second")
        chat.page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        eventually("the name", lambda: ann.call("GET", "/v1/users/me")["name"] == "Ann the Second")

    def test_the_theme_survives_a_reload_and_ends_with_signing_out(self):
        chat = self.signed_in(self.account("Ann"))
        self.settings(chat).get_by_role("radio", name="Dark").check()
        chat.page.reload()
        expect(chat.navigation).to_be_visible()
        scheme = "getComputedStyle(document.documentElement).colorScheme"
        self.assertEqual(chat.page.evaluate(scheme), "dark")
        self.settings(chat).get_by_role("button", name="Sign out", exact=True).click()
        expect(chat.role("form", "Sign in")).to_be_visible()
        self.assertEqual(chat.page.evaluate(scheme), "light dark")

    def test_another_device_is_signed_out(self):
        ann = self.account("Ann")
        phone, laptop = self.signed_in(ann), self.signed_in(ann)
        dialog = self.settings(laptop)
        devices = dialog.get_by_role("list", name="Devices").get_by_role("listitem")
        # The account itself was created by a third one.
        expect(devices).to_have_count(3)
        expect(devices.nth(0)).to_contain_text("This device")
        dialog.get_by_role("button", name="Remove all other devices").click()
        laptop.role("alertdialog", "Remove all other devices").get_by_role("button", name="Remove all").click()
        expect(devices).to_have_count(1)
        expect(phone.role("form", "Sign in")).to_be_visible()
        expect(dialog).to_be_visible()

    def test_a_new_password(self):
        ann = self.account("Ann")
        chat = self.signed_in(ann)
        self.settings(chat).get_by_role("button", name="Password").click()
        dialog = chat.dialog("Password")
        dialog.get_by_label("Current password").fill("not this one")
        dialog.get_by_label("New password").fill("a hill of toast")
        dialog.get_by_role("button", name="Change password").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_label("Current password").fill(ann.PASSWORD)
        dialog.get_by_role("button", name="Change password").click()
        expect(dialog).to_be_hidden()
        self.page(self.browser(), ann).open().sign_in(password="a hill of toast")

    def test_the_account_is_erased_after_its_word_is_typed(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        ann.send(thread, "stays")
        chat = self.signed_in(ann)
        self.settings(chat).get_by_role("button", name="Erase account").click()
        dialog = chat.dialog("Erase account")
        dialog.get_by_role("button", name="Erase account").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_role("textbox").fill("erase")
        dialog.get_by_role("button", name="Erase account").click()
        expect(chat.role("form", "Sign in")).to_be_visible()
        self.assertEqual(ben.texts(thread), ["stays"])

    def test_the_data_can_be_downloaded(self):
        ann = self.account("Ann")
        chat = self.signed_in(ann)
        with chat.page.expect_download() as download:
            self.settings(chat).get_by_role("button", name="Download my data").click()
        self.assertIn(ann.username, open(download.value.path()).read())

    def test_a_refused_sign_in_says_why(self):
        ann = self.account("Ann")
        chat = self.page(self.browser(), ann).open()
        form = chat.role("form", "Sign in")
        form.get_by_role("textbox", name="Username").fill(ann.username)
        form.get_by_label("Password").fill("wrong password")
        form.get_by_role("button", name="Sign in", exact=True).click()
        expect(chat.alert).to_contain_text("password")
