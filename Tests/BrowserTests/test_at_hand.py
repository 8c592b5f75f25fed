"""What is at hand in a conversation: the bar of a message, its menu, who reacted, cards of people, forwarding, reports."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.processes import eventually


class AtHand(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben, self.cleo = self.account("Ann"), self.account("Ben"), self.account("Cleo")
        self.thread = self.ann.group("Garden", self.ben, self.cleo)
        self.ben.send(self.thread, "beans or peas")
        self.cleo.send(self.thread, "both please")

    def react(self, person, number, emoji):
        message = person.messages(self.thread)[number]["id"]
        person.call("PUT", f"/v1/threads/{self.thread}/messages/{message}/reactions/%F0%9F%91%8D")

    def press(self, phone, touch, target):
        """Rests a finger on an element. Returns whether a menu has opened: the page may not be ready for it yet."""
        place = target.bounding_box()
        point = {"x": place["x"] + 5, "y": place["y"] + place["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        phone.page.wait_for_timeout(700)
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        phone.page.wait_for_timeout(1000)
        return phone.role("menu", "Message actions").count()

    def swipe(self, touch, target, by):
        """Moves a finger from the middle of an element along the line."""
        place = target.bounding_box()
        points = [{"x": place["x"] + place["width"] / 2 + by * step / 8, "y": place["y"] + place["height"] / 2}
                  for step in range(9)]
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
        for point in points[1:]:
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def test_a_swipe_towards_the_end_of_the_line_answers(self):
        for locale, way in (("en-GB", 1), ("ar", -1)):
            with self.subTest(locale=locale):
                phone = self.page(self.browser(locale=locale, viewport={"width": 390, "height": 844}, has_touch=True,
                                               is_mobile=True), self.ann).open()
                inputs = phone.page.locator("form input")
                inputs.nth(0).fill(self.ann.username)
                inputs.nth(1).fill(self.ann.PASSWORD)
                inputs.nth(1).press("Enter")
                phone.page.get_by_role("link", name=starting("Garden")).first.tap()
                message = phone.page.get_by_role("article").filter(has_text="beans or peas")
                expect(message).to_be_visible()
                touch = phone.page.context.new_cdp_session(phone.page)
                quotation = phone.page.get_by_role("main").get_by_text("beans or peas")
                self.swipe(touch, message, -way * 100)
                self.swipe(touch, message, way * 30)
                expect(quotation).to_have_count(1)
                # The page may not be ready for it the first time.
                eventually("the answer to begin",
                           lambda: self.swipe(touch, message, way * 100) or quotation.count() == 2)

    def test_the_bar_reacts_with_one_click_and_replies(self):
        chat = self.signed_in(self.ann).enter("Garden")
        chat.box.click()
        message = chat.message("beans or peas")
        message.hover()
        bar = message.get_by_role("toolbar", name="Quick actions")
        bar.get_by_role("button", name="React with 👍").click()
        expect(message.get_by_role("button", name="👍 1", exact=True)).to_have_attribute("aria-pressed", "true")
        # What is being written keeps the focus.
        expect(chat.box).to_be_focused()
        # The last reaction is the first one offered.
        bar.get_by_role("button", name="Add reaction").click()
        picker = chat.dialog("Choose a reaction")
        search = picker.get_by_role("searchbox", name="Search emoji")
        expect(search).to_be_focused()
        chat.page.keyboard.type("rocket")
        expect(picker.get_by_role("button", name="🚀", exact=True)).to_be_visible()
        chat.page.keyboard.press("Enter")
        expect(picker).to_be_hidden()
        expect(message.get_by_role("button", name="🚀 1", exact=True)).to_be_visible()
        other = chat.message("both please")
        other.hover()
        expect(message.get_by_role("toolbar")).to_have_count(0)
        expect(other.get_by_role("toolbar").get_by_role("button").first).to_have_accessible_name("React with 🚀")
        other.get_by_role("button", name="Reply to this message").click()
        chat.send("then both")
        expect(chat.message("then both").get_by_role("link", name=starting("Reply to Cleo"))).to_be_visible()

    def test_a_reaction_says_who_reacted(self):
        for person in (self.ann, self.ben):
            self.react(person, 1, "👍")
        chat = self.signed_in(self.ann).enter("Garden")
        chip = chat.message("both please").get_by_role("button", name="👍 2", exact=True)
        chat.message("both please").hover()
        expect(chat.log.get_by_role("toolbar")).to_be_visible()
        chip.hover()
        expect(chip).to_have_accessible_description("Ben and you reacted with 👍")
        expect(chip).to_have_accessible_name("👍 2")
        chat.act("both please", "Reactions")
        people = chat.dialog("Reactions").get_by_role("list", name="👍 2").get_by_role("listitem")
        expect(people).to_contain_text(["Ben", "Ann"])

    def test_a_right_click_and_a_long_press_open_the_menu(self):
        chat = self.signed_in(self.ann).enter("Garden")
        chat.message("beans or peas").hover()
        expect(chat.log.get_by_role("toolbar")).to_be_visible()
        chat.message("beans or peas").get_by_text("beans or peas").click(button="right")
        menu = chat.role("menu", "Message actions")
        expect(menu.get_by_role("menuitem", name="Reply", exact=True)).to_be_focused()
        # The row of emoji is above the first item.
        chat.page.keyboard.press("ArrowUp")
        expect(menu.get_by_role("menuitem", name="👍", exact=True)).to_be_focused()
        chat.page.keyboard.press("ArrowRight")
        chat.page.keyboard.press("Enter")
        expect(chat.message("beans or peas").get_by_role("button", name="❤️ 1", exact=True)).to_be_visible()
        phone = self.signed_in(self.ben, viewport={"width": 390, "height": 740}, has_touch=True).enter("Garden")
        message = phone.message("both please")
        expect(message).to_be_visible()
        # What the pointer does comes with modules of its own; this one is the last.
        eventually("the module", lambda: phone.page.evaluate(
            "performance.getEntriesByType('resource').some(({name}) => name.endsWith('/message/reactors.js'))"))
        touch = phone.page.context.new_cdp_session(phone.page)
        eventually("the menu", lambda: self.press(phone, touch, message.get_by_text("both please")))
        phone.page.get_by_role("menuitem", name="👍", exact=True).click()
        expect(message.get_by_role("button", name="👍 1", exact=True)).to_be_visible()

    def test_names_pictures_and_mentions_open_a_card(self):
        self.ben.send(self.thread, "hello @Cleo", mentions=[self.cleo.id])
        chat = self.signed_in(self.ann).enter("Garden")
        chat.message("hello").get_by_role("button", name="@Cleo").click()
        card = chat.dialog("Cleo")
        expect(card).to_contain_text(f"@{self.cleo.username}")
        chat.page.keyboard.press("Escape")
        expect(card).to_be_hidden()
        # The bar covers no name.
        chat.message("beans or peas").hover()
        expect(chat.log.get_by_role("toolbar")).to_be_visible()
        chat.message("beans or peas").get_by_role("button", name="Ben", exact=True).click()
        chat.dialog("Ben").get_by_role("button", name="Write a message").click()
        expect(chat.role("heading", "Ben")).to_be_visible()
        expect(chat.box).to_be_focused()

    def test_a_link_leads_to_the_message(self):
        context = self.browser(permissions=["clipboard-read", "clipboard-write"])
        chat = self.page(context, self.ann).open().sign_in().enter("Garden")
        chat.act("beans or peas", "Copy link")
        link = eventually("the link", lambda: chat.page.evaluate("navigator.clipboard.readText()"))
        self.assertRegex(link, rf"^{re.escape(self.origin)}/#/t/{self.thread}/m/")
        chat.page.goto("about:blank")
        chat.page.goto(link)
        expect(chat.message("beans or peas")).to_be_in_viewport()

    def test_a_message_is_forwarded_with_its_files(self):
        file = self.ben.upload("plan.txt", b"the plan", "text/plain")
        self.ben.send(self.thread, "the plan", payload={"attachments": [{"id": file}]})
        direct = self.ann.direct(self.cleo)
        chat = self.signed_in(self.ann).enter("Garden")
        chat.act("the plan", "Forward")
        dialog = chat.dialog("Forward message")
        expect(dialog.get_by_role("searchbox")).to_be_focused()
        chat.page.keyboard.type("cle")
        chat.page.keyboard.press("Enter")
        expect(chat.role("heading", "Cleo")).to_be_visible()
        expect(chat.message("the plan").get_by_role("link", name=starting("plan.txt"))).to_be_visible()
        chat.expect_stored("the plan")
        payload = self.cleo.messages(direct)[0]["payload"]
        self.assertEqual([file], [part["id"] for part in payload["attachments"]])

    def test_a_message_and_a_person_are_reported(self):
        chat = self.signed_in(self.ann).enter("Garden")
        for open_report, title in (
                (lambda: chat.act("beans or peas", "Report"), "Report a message from Ben"),
                (lambda: (chat.act("both please", "Show profile"),
                          chat.dialog("Cleo").get_by_role("button", name="Report").click()), "Report Cleo")):
            open_report()
            dialog = chat.dialog(title)
            dialog.get_by_role("textbox", name="What is wrong?").fill("It is about beans.")
            with chat.page.expect_response("**/v1/reports") as answer:
                dialog.get_by_role("button", name="Send report").click()
            self.assertEqual(answer.value.status, 201)
            expect(dialog).to_be_hidden()

    def test_earlier_versions_of_an_edited_message_are_listed(self):
        message = self.ben.messages(self.thread)[0]["id"]
        self.ben.call("PATCH", f"/v1/threads/{self.thread}/messages/{message}", {"payload": {"text": "beans and peas"}})
        chat = self.signed_in(self.ann).enter("Garden")
        chat.act("beans and peas", "Earlier versions")
        versions = chat.dialog("Earlier versions").get_by_role("listitem")
        expect(versions).to_have_count(2)
        expect(versions.nth(0)).to_contain_text("beans and peas")
        expect(versions.nth(1)).to_contain_text("beans or peas")
