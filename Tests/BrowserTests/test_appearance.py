"""What is around the texts: directions, labels in narrow windows, titles and icons, addresses that nothing has."""
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.processes import eventually

DIRECTION = "time => getComputedStyle(time).direction"


class Appearance(BrowserTest):
    def test_times_are_written_in_the_direction_of_the_page_whatever_the_text_is(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        for text in ("hello", "مرحبا"):
            ben.send(thread, text)
        for locale, direction in (("en-GB", "ltr"), ("ar-EG", "rtl")):
            chat = self.page(self.browser(locale=locale), ann).open(f"#/t/{thread}")
            chat.page.locator("form input").nth(0).fill(ann.username)
            chat.page.locator("form input[type=password]").fill(ann.PASSWORD)
            chat.page.keyboard.press("Enter")
            times = chat.page.get_by_role("article").locator("time")
            expect(times).to_have_count(2)
            self.assertEqual([time.evaluate(DIRECTION) for time in times.all()], [direction] * 2)
            bodies = chat.page.get_by_role("article").locator(".line")
            self.assertEqual([body.evaluate(DIRECTION) for body in bodies.all()], ["ltr", "rtl"])

    def test_labels_of_the_filters_stay_in_one_line_in_narrow_windows(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.group("Dachboden", ben)
        ben.send(thread, "hallo")
        ann.call("PATCH", f"/v1/threads/{thread}/settings", {"archived": True})
        for locale in ("de-DE", "fr-FR"):
            chat = self.page(self.browser(locale=locale, viewport={"width": 900, "height": 600}), ann).open()
            chat.page.locator("form input").nth(0).fill(ann.username)
            chat.page.locator("form input[type=password]").fill(ann.PASSWORD)
            chat.page.keyboard.press("Enter")
            filters = chat.page.get_by_role("navigation").locator(".segments button")
            expect(filters).to_have_count(3)
            boxes = [button.bounding_box() for button in filters.all()]
            self.assertEqual(len({box["height"] for box in boxes}), 1)
            self.assertLess(boxes[0]["height"], 36)
            group = chat.page.get_by_role("navigation").locator(".segments")
            self.assertTrue(group.evaluate("group => group.scrollWidth <= group.clientWidth"), locale)

    def test_a_last_message_is_cut_at_its_own_end(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ben.send(ann.group("Garden", ben), "a long message that begins with these words " * 5)
        chat = self.page(self.browser(locale="ar"), ann).open()
        chat.page.locator("form input").nth(0).fill(ann.username)
        chat.page.locator("form input[type=password]").fill(ann.PASSWORD)
        chat.page.keyboard.press("Enter")
        text = chat.page.get_by_role("navigation").get_by_text("a long message")
        # The row is drawn again when the conversation has arrived.
        expect(text).to_have_css("direction", "ltr")
        eventually("the text to be cut", lambda: text.evaluate("text => text.scrollWidth > text.clientWidth"))

    def test_the_name_of_the_service_and_the_size_of_a_file_stay_in_one_line(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        name = "a long name of a file that needs several lines in a narrow window.pdf"
        ben.send(thread, payload={"attachments": [{"id": ben.upload(name, b"x" * 1500, "application/pdf")}]})
        service = ann.call("GET", "/v1/service") | {"name": "Donaudampfschifffahrtsgesellschaft"}
        context = self.browser(viewport={"width": 640, "height": 400})
        context.route("**/v1/service", lambda route: route.fulfill(json=service))
        chat = self.page(context, ann).open().sign_in().enter("Ben")
        lines = "text => Math.round(text.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight))"
        for text in (chat.navigation.get_by_text("Donau"), chat.messages.get_by_text("1.5 kB")):
            expect(text).to_be_visible()
            self.assertEqual(text.evaluate(lines), 1)

    def test_the_tab_has_the_conversation_first_and_a_mark_on_its_icon(self):
        ann, ben = self.account("Ann"), self.account("Ben Okafor")
        ann.direct(ben)
        other = ann.group("Garden", ben)
        chat = self.signed_in(ann).enter("Ben Okafor")
        icon = chat.page.locator("link[rel=icon]")
        expect(chat.page).to_have_title("Ben Okafor – Parley")
        expect(icon).to_have_attribute("href", re.compile(r"/icon\.svg$"))
        ben.send(other, "hello")
        expect(chat.page).to_have_title("(1) Ben Okafor – Parley")
        expect(icon).to_have_attribute("href", re.compile(r"/icon-unread\.svg$"))
        for name, size in (("icon-180.png", 180), ("icon-512.png", 512)):
            address = icon.evaluate("(link, name) => new URL(name, link.href).href", name)
            width = chat.page.evaluate("address => { const image = new Image(); image.src = address;"
                                       " return image.decode().then(() => image.naturalWidth); }", address)
            self.assertEqual(width, size)

    def test_an_address_that_nothing_has_is_a_page_with_a_way_home(self):
        chat = self.page(self.browser(locale="de-DE"))
        answer = chat.page.goto(f"{self.origin}/some/page")
        self.assertEqual(answer.status, 404)
        expect(chat.role("heading", "Diese Seite gibt es nicht")).to_be_visible()
        chat.page.get_by_role("link").click()
        expect(chat.role("form", "Anmelden")).to_be_visible()
