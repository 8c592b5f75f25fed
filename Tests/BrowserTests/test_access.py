"""Accessibility: axe on every screen in both themes, the keyboard alone, small screens, languages."""
import json
import pathlib
import re

import axe_playwright_python
from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.pictures import png

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


class Screens(BrowserTest):
    """Each screen of the client, as axe sees it."""

    def check(self, chat, screen):
        chat.page.evaluate(AXE)
        # An animation that is half way shows colours that nobody sees for long.
        chat.page.evaluate("Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {})))")
        found = json.loads(chat.page.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then((found) => JSON.stringify(found.violations))"))
        for violation in found:
            if violation["impact"] in ("serious", "critical"):
                places = [node["html"][:160] for node in violation["nodes"]][:3]
                self.violations.append(f"{screen}: {violation['id']}: {violation['help']}: {places}")

    def visit_all(self, **options):
        self.violations = []
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.group("Garden", ben)
        picture = ben.upload("beans.png", png(400, 300), "image/png")
        ben.send(thread, "**Beans** https://example.org `code`\n> quoted\n- list",
                 payload={"attachments": [{"id": picture}]})
        first = ann.messages(thread)[0]["id"]
        ann.send(thread, "lovely", reply_to=first)
        ann.call("PUT", f"/v1/threads/{thread}/messages/{first}/reactions/%F0%9F%91%8D")
        ann.group("Chess", invite=False)
        ben.group("Choir", ann, invite=True)
        chat = self.page(self.browser(**options), ann).open()
        self.check(chat, "sign in")
        chat.button("Create account").click()
        self.check(chat, "create account")
        chat.button("Back to sign in").click()
        chat.sign_in()
        expect(chat.conversation("Garden")).to_be_visible()
        self.check(chat, "inbox")
        chat.search.fill("Garden")
        expect(chat.results).to_be_visible()
        self.check(chat, "search results")
        chat.search.fill("")
        for button in ("New conversation", "Join a room", "Settings"):
            chat.button(button).click()
            expect(chat.dialog(button)).to_be_visible()
            self.check(chat, button)
            chat.page.keyboard.press("Escape")
            expect(chat.dialog(button)).to_be_hidden()
        chat.conversation("Choir").click()
        expect(chat.button("Accept")).to_be_visible()
        self.check(chat, "invitation")
        if chat.button("Back to conversations").is_visible():
            chat.button("Back to conversations").click()
        chat.enter("Garden")
        expect(chat.message("lovely")).to_be_visible()
        self.check(chat, "conversation")
        chat.message("lovely").hover()
        chat.message("lovely").get_by_role("button", name="Message actions").click()
        expect(chat.page.get_by_role("menu")).to_be_visible()
        self.check(chat, "menu")
        chat.page.keyboard.press("Escape")
        chat.act("lovely", "React")
        expect(chat.dialog("Choose a reaction").get_by_role("heading").first).to_be_visible()
        self.check(chat, "emoji picker")
        chat.page.keyboard.press("Escape")
        chat.act("lovely", "Edit")
        self.check(chat, "editing")
        chat.page.keyboard.press("Escape")
        chat.act("lovely", "Reply")
        self.check(chat, "replying")
        chat.act("lovely", "Forward")
        expect(chat.dialog("Forward message").get_by_text("2 members")).to_be_visible()
        self.check(chat, "forwarding")
        chat.page.keyboard.press("Escape")
        chat.button("Search here").click()
        expect(chat.page.get_by_role("searchbox", name="Search here")).to_be_focused()
        chat.page.keyboard.type("lovely")
        expect(chat.role("list", "Found messages").get_by_role("link").first).to_be_visible()
        self.check(chat, "search here")
        chat.page.keyboard.press("Escape")
        chat.log.get_by_role("button", name="Ben", exact=True).first.click()
        expect(chat.dialog("Ben")).to_be_visible()
        self.check(chat, "card")
        chat.page.keyboard.press("Escape")
        chat.page.keyboard.press("Control+/")
        expect(chat.dialog("Keyboard shortcuts")).to_be_visible()
        self.check(chat, "shortcuts")
        chat.page.keyboard.press("Escape")
        chat.act("lovely", "Delete for everyone")
        expect(chat.role("alertdialog", "Delete message")).to_be_visible()
        self.check(chat, "deleting")
        chat.page.keyboard.press("Escape")
        chat.log.get_by_role("button", name="Open beans.png").click()
        expect(chat.dialog("beans.png")).to_be_visible()
        self.check(chat, "picture")
        chat.page.keyboard.press("Escape")
        chat.page.context.set_offline(True)
        expect(chat.connection).to_have_text("Offline")
        chat.send("later")
        self.check(chat, "offline")
        self.assertEqual(self.violations, [])

    def test_axe_finds_nothing_serious_in_the_light_theme(self):
        self.visit_all(color_scheme="light")

    def test_axe_finds_nothing_serious_in_the_dark_theme(self):
        self.visit_all(color_scheme="dark")

    def test_axe_finds_nothing_serious_on_a_phone(self):
        self.visit_all(viewport={"width": 360, "height": 740}, has_touch=True)


class Keyboard(BrowserTest):
    def test_a_conversation_by_keyboard_alone(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        ben.send(thread, "from Ben")
        chat = self.page(self.browser(), ann).open()
        keyboard = chat.page.keyboard
        self.tab_to(chat, chat.role("textbox", "Username"))
        keyboard.type(ann.username)
        keyboard.press("Tab")
        keyboard.type(ann.PASSWORD)
        keyboard.press("Enter")
        expect(chat.navigation).to_be_visible()
        keyboard.press("Control+k")
        expect(chat.search).to_be_focused()
        keyboard.type("Ben")
        expect(chat.results.get_by_role("link").first).to_be_visible()
        keyboard.press("Enter")
        expect(chat.box).to_be_focused()
        keyboard.type("first line")
        keyboard.press("Shift+Enter")
        keyboard.type("second line")
        keyboard.press("Enter")
        expect(chat.message("first line")).to_be_visible()
        chat.expect_stored("first line")
        self.assertEqual(ben.texts(thread)[-1], "first line\nsecond line")
        expect(chat.box).to_have_value("")
        # ↑ in the empty box edits the newest own message.
        keyboard.press("ArrowUp")
        expect(chat.role("textbox", "Edit message")).to_be_focused()
        keyboard.press("Control+a")
        keyboard.type("one line")
        keyboard.press("Enter")
        expect(chat.message("one line")).to_contain_text("Edited")
        # The log is one tab stop; its menu works by arrows.
        chat.box.focus()
        self.tab_to(chat, chat.message("one line"), "Shift+Tab")
        keyboard.press("ArrowUp")
        expect(chat.message("from Ben")).to_be_focused()
        keyboard.press("Enter")
        expect(chat.page.get_by_role("menuitem").first).to_be_focused()
        keyboard.press("ArrowDown")
        expect(chat.page.get_by_role("menuitem", name="React", exact=True)).to_be_focused()
        keyboard.press("Escape")
        expect(chat.message("from Ben")).to_be_focused()
        keyboard.press("ArrowDown")
        expect(chat.message("one line")).to_be_focused()

    def test_escape_closes_the_topmost_and_focus_returns(self):
        ann = self.account("Ann")
        chat = self.signed_in(ann)
        for name in ("New conversation", "Join a room", "Settings"):
            chat.button(name).focus()
            chat.page.keyboard.press("Enter")
            expect(chat.dialog(name)).to_be_visible()
            chat.page.keyboard.press("Escape")
            expect(chat.dialog(name)).to_be_hidden()
            expect(chat.button(name)).to_be_focused()

    def test_focus_is_always_visible(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ben.send(ann.direct(ben), "hello")
        chat = self.signed_in(ann).enter("Ben")
        chat.page.evaluate("document.activeElement?.blur()")
        for _ in range(14):
            chat.page.keyboard.press("Tab")
            invisible = chat.page.evaluate("""() => {
                const style = getComputedStyle(document.activeElement);
                const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
                return document.activeElement !== document.body && !ring && style.boxShadow === 'none'
                    ? document.activeElement.outerHTML.slice(0, 200) : '';
            }""")
            self.assertEqual(invisible, "")

    def tab_to(self, chat, target, key="Tab"):
        for _ in range(30):
            if target.evaluate("element => element === document.activeElement"):
                return
            chat.page.keyboard.press(key)
        self.fail(f"{key} does not reach {target}")


class Phone(BrowserTest):
    def test_one_pane_at_a_time_nothing_sideways_and_large_controls(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        ben.send(thread, "a" * 300 + " and https://example.org/" + "long/" * 60)
        chat = self.signed_in(ann, viewport={"width": 360, "height": 740}, has_touch=True)
        self.check_layout(chat)
        chat.conversation("Ben").click()
        expect(chat.message("aaa")).to_be_visible()
        expect(chat.navigation).to_be_hidden()
        self.check_layout(chat)
        chat.button("Back to conversations").click()
        expect(chat.navigation).to_be_visible()
        expect(chat.log).to_be_hidden()
        chat.conversation("Ben").click()
        expect(chat.box).to_be_visible()
        chat.page.go_back()
        expect(chat.navigation).to_be_visible()
        chat.button("Settings").click()
        expect(chat.dialog("Settings")).to_be_visible()
        self.check_layout(chat)

    def check_layout(self, chat):
        self.assertEqual(chat.page.evaluate("document.documentElement.scrollWidth"), 360)
        small = chat.page.evaluate("""() => [...document.querySelectorAll('button, a[href], input, textarea, select')]
            .filter((control) => control.checkVisibility({visibilityProperty: true, opacityProperty: true}))
            .map((control) => [control, control.getBoundingClientRect()])
            // A link within a text is as high as its line (WCAG 2.2, 2.5.8).
            .filter(([control]) => getComputedStyle(control).display !== 'inline')
            .filter(([control]) => control.type !== 'file')
            .filter(([, box]) => box.width > 1 && (box.width < 24 || box.height < 24))
            .map(([control, box]) => `${control.outerHTML.slice(0, 120)} ${box.width} × ${box.height}`)""")
        self.assertEqual(small, [])


class Languages(BrowserTest):
    def check(self, language, direction, *texts):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        for number in range(3):
            ben.send(thread, f"message {number}")
        chat = self.page(self.browser(locale=language), ann).open()
        root = chat.page.locator("html")
        expect(root).to_have_attribute("lang", re.compile("^" + language.split("-")[0]))
        expect(root).to_have_attribute("dir", direction)
        chat.page.locator("form input").nth(0).fill(ann.username)
        chat.page.locator("form input[type=password]").fill(ann.PASSWORD)
        chat.page.keyboard.press("Enter")
        link = chat.page.get_by_role("link", name=starting("Ben"))
        expect(link).to_be_visible()
        link.click()
        expect(chat.page.get_by_role("article").first).to_be_visible()
        shown = chat.page.locator("body").inner_text()
        names = chat.page.evaluate(
            "[...document.querySelectorAll('[aria-label], [placeholder], [title]')].flatMap((element) =>"
            " [element.ariaLabel, element.getAttribute('placeholder'), element.title]).filter(Boolean).join('\\n')")
        # A key that has no text would be shown as it is.
        self.assertEqual(re.findall(r"\b(?:shell|inbox|conversation|details|labels|search|settings|emoji|notice|problem|time|connection)\.\w+", shown + names), [])
        for text in texts:
            self.assertIn(text, shown + names)
        for english in ("New conversation", "Join a room", "Search", "Attach files"):
            self.assertNotIn(english, shown + names)
        return chat

    def test_german(self):
        self.check("de-DE", "ltr", "Einstellungen")

    def test_arabic_is_mirrored(self):
        chat = self.check("ar-EG", "rtl")
        inbox = chat.page.get_by_role("navigation").bounding_box()
        main = chat.page.get_by_role("main").bounding_box()
        self.assertGreater(inbox["x"], main["x"])
        # A Latin message keeps its own direction within the mirrored page.
        self.assertEqual(chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)

    def test_french_is_one_file(self):
        self.check("fr-FR", "ltr", "Réglages")

    def test_another_language_gets_english(self):
        chat = self.page(self.browser(locale="fi-FI")).open()
        expect(chat.page.locator("html")).to_have_attribute("lang", re.compile("^en"))
        expect(chat.role("form", "Sign in")).to_be_visible()
