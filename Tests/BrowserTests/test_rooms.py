"""Rooms and the list of conversations: the directory, creating, what the list looks like, days and dates."""
import datetime
import secrets

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting


class Rooms(BrowserTest):
    def test_a_room_is_looked_at_before_it_is_joined_and_a_mistake_makes_none(self):
        title = f"Kitchen {secrets.token_hex(3)}"
        ann = self.account("Ann")
        ann.call("POST", "/v1/rooms", {"title": title})
        ben = self.account("Ben")
        chat = self.signed_in(ben)
        chat.button("Join a room").click()
        dialog = chat.dialog("Join a room")
        dialog.get_by_role("textbox", name="Room title").fill(title.replace("Kitchen", "Kitcen"))
        dialog.get_by_role("button", name="Join", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("There is no room")
        room = dialog.get_by_role("list", name="Rooms").get_by_role("button", name=starting(title))
        expect(room).to_contain_text("1 member")
        room.click()
        self.assertEqual(ben.call("GET", "/v1/inbox")["threads"], [])
        dialog.get_by_role("button", name=f"Join {title}").click()
        expect(chat.role("heading", title)).to_be_visible()
        self.assertEqual([room["title"] for room in ben.call("GET", f"/v1/rooms?query={title[:3]}")["rooms"]
                          if title[-6:] in room["title"]], [title])

    def test_creating_is_apart_from_joining(self):
        title = f"Bakery {secrets.token_hex(3)}"
        chat = self.signed_in(self.account("Ann"))
        chat.button("Join a room").click()
        chat.dialog("Join a room").get_by_role("button", name="Create a room").click()
        dialog = chat.dialog("Create a room")
        dialog.get_by_role("textbox", name="Title of the new room").fill(title)
        dialog.get_by_role("textbox", name="Topic").fill("Bread and cake")
        dialog.get_by_role("button", name="Create", exact=True).click()
        expect(chat.role("heading", title)).to_be_visible()
        expect(chat.role("main").get_by_text("Bread and cake")).to_be_visible()
        chat.button("Join a room").click()
        chat.dialog("Join a room").get_by_role("button", name="Create a room").click()
        dialog.get_by_role("textbox", name="Title of the new room").fill(title)
        dialog.get_by_role("button", name="Create", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("exists already")


class Lists(BrowserTest):
    def test_the_list_is_grouped_and_compact_on_this_device(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ann.send(ann.group("Garden", ben), "hello")
        ann.send(ann.direct(ben), "hello")
        chat = self.signed_in(ann)
        expect(chat.navigation.get_by_role("heading")).to_have_count(0)
        height = chat.conversation("Garden").bounding_box()["height"]
        for look in ("Group by kind", "Compact list"):
            chat.button("List options").click()
            chat.page.get_by_role("menuitem", name=look).click()
        expect(chat.navigation.get_by_role("heading")).to_have_text(["Groups", "Direct conversations"])
        chat.page.reload()
        expect(chat.navigation.get_by_role("heading")).to_have_count(2)
        self.assertLess(chat.conversation("Garden").bounding_box()["height"], 0.7 * height)

    def test_people_are_suggested_and_enter_chooses(self):
        ann, ben, cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        ann.group("Garden", ben, cleo)
        chat = self.signed_in(ann)
        expect(chat.conversation("Garden")).to_be_visible()
        chat.button("New conversation").click()
        dialog = chat.dialog("New conversation")
        # Members of the group, with nothing typed.
        expect(dialog.get_by_role("checkbox", name=starting("Cleo"))).to_be_visible()
        search = dialog.get_by_role("searchbox", name="Find people")
        search.fill(ben.username)
        search.press("Enter")
        expect(dialog.get_by_role("checkbox", name=starting("Ben"))).to_be_checked()
        expect(search).to_have_value("")
        dialog.get_by_role("button", name="Start").click()
        expect(chat.role("heading", "Ben")).to_be_visible()


class Days(BrowserTest):
    def test_the_day_stays_in_view_and_leads_to_a_date(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        for number in range(80):
            ben.send(thread, f"message {number:02}")
        ann.read(thread, 80)
        chat = self.signed_in(ann).enter("Ben")
        expect(chat.message("message 79")).to_be_in_viewport()
        day = chat.button("Today")
        expect(day).to_be_visible()
        day.click()
        dialog = chat.dialog("Jump to date")
        dialog.get_by_label("Jump to date").fill(datetime.date.today().isoformat())
        dialog.get_by_role("button", name="Go").click()
        expect(chat.message("message 00")).to_be_in_viewport()
        expect(dialog).to_be_hidden()
