"""Coming in: forgotten passwords, the address of an account, invitations."""
import functools
import re
import secrets

from playwright.sync_api import expect

from harness.api import Api
from harness.case import BrowserTest
from harness.world import World


@functools.cache
def node_with_mail():
    return World.own_node("accounts", PARLEY_SMTP_URL=f"smtp://127.0.0.1:{World.relay().port}",
                          PARLEY_MAIL_FROM="parley@example.org", PARLEY_ADMIN_TOKEN=Api.ADMIN_TOKEN)


@functools.cache
def node_by_invitation():
    return World.own_node("invited", PARLEY_REGISTRATION="invited", PARLEY_ADMIN_TOKEN=Api.ADMIN_TOKEN)


class Passwords(BrowserTest):
    def setUp(self):
        super().setUp()
        self.node = node_with_mail()
        self.ann = self.account("Ann")
        self.address = f"ann-{secrets.token_hex(4)}@example.org"

    def give_address(self):
        self.ann.call("PUT", "/v1/users/me/email", {"email": self.address})
        self.ann.call("POST", "/v1/users/me/email", {"code": World.relay().code(self.address)})

    def test_a_forgotten_password_is_set_by_a_mailed_code(self):
        self.give_address()
        chat = self.page(self.browser(), self.ann).open()
        expect(chat.role("form", "Sign in").get_by_label("Username or e-mail address")).to_be_visible()
        chat.button("Forgot password?").click()
        form = chat.role("form", "Forgot password?")
        form.get_by_label("E-mail address").fill(self.address)
        form.get_by_role("button", name="Send code").click()
        form = chat.role("form", "Set a new password")
        expect(form).to_contain_text(self.address)
        form.get_by_label("Code").fill(World.relay().code(self.address, 2))
        form.get_by_label("New password").fill("short")
        form.get_by_role("button", name="Set a new password").click()
        expect(form.get_by_label("New password")).to_have_attribute("aria-invalid", "true")
        form.get_by_label("New password").fill("a lake of coffee")
        form.get_by_role("button", name="Set a new password").click()
        expect(chat.navigation).to_be_visible()
        # The address and the new password sign in.
        chat = self.page(self.browser(), self.ann).open().sign_in(self.address, "a lake of coffee")
        expect(chat.navigation).to_be_visible()

    def test_a_forgotten_password_is_set_by_the_operators_code(self):
        code = Api.operator(self.node.port).call("POST", f"/v1/admin/users/{self.ann.id}/password-reset")["code"]
        chat = self.page(self.browser(), self.ann).open()
        chat.button("Forgot password?").click()
        chat.button("I have a code from the operator").click()
        form = chat.role("form", "Set a new password")
        form.get_by_label("Username or e-mail address").fill(self.ann.username)
        form.get_by_label("Code").fill("AAAA-BBBB-CCCC-DDDD")
        form.get_by_label("New password").fill("a lake of coffee")
        form.get_by_role("button", name="Set a new password").click()
        expect(chat.alert).to_contain_text("code is wrong")
        form.get_by_label("Code").fill(code.lower())
        form.get_by_role("button", name="Set a new password").click()
        expect(chat.navigation).to_be_visible()
        self.page(self.browser(), self.ann).open().sign_in(password="a lake of coffee")

    def test_the_address_of_an_account_is_set_and_removed_in_the_settings(self):
        chat = self.signed_in(self.ann)

        def open_email():
            chat.button("Settings").click()
            chat.dialog("Settings").get_by_role("button", name="E-mail address").click()
            return chat.dialog("E-mail address")

        dialog = open_email()
        dialog.get_by_label("E-mail address").fill(self.address)
        dialog.get_by_role("button", name="Send code").click()
        entering = chat.dialog("Enter the code")
        expect(entering).to_contain_text(self.address)
        right = World.relay().code(self.address)
        entering.get_by_label("Code").fill("000000" if right != "000000" else "000001")
        entering.get_by_role("button", name="Continue").click()
        expect(entering.get_by_label("Code")).to_have_accessible_description("The code is wrong or has expired.")
        entering.get_by_label("Code").fill(right)
        entering.get_by_role("button", name="Continue").click()
        expect(chat.dialog("E-mail address").get_by_role("status")).to_contain_text("is the address of your account")
        self.page(self.browser(), self.ann).open().sign_in(self.address)
        chat.page.keyboard.press("Escape")
        chat.page.keyboard.press("Escape")
        open_email().get_by_role("button", name="Remove address").click()
        chat.role("alertdialog", "Remove address").get_by_role("button", name="Remove", exact=True).click()
        expect(chat.dialog("E-mail address").get_by_role("status")).to_contain_text("no address")
        chat = self.page(self.browser(), self.ann).open()
        form = chat.role("form", "Sign in")
        form.get_by_label("Username or e-mail address").fill(self.address)
        form.get_by_label("Password").fill(self.ann.PASSWORD)
        form.get_by_role("button", name="Sign in", exact=True).click()
        expect(chat.alert).to_contain_text("wrong")


class Invitations(BrowserTest):
    def setUp(self):
        super().setUp()
        self.node = node_by_invitation()

    def invitation(self):
        return Api.operator(self.node.port).call("POST", "/v1/admin/invitations", {})["code"]

    def test_a_link_opens_the_form_with_its_code_once(self):
        code = self.invitation()
        chat = self.page(self.browser(), None).open(f"#/invite/{code}")
        form = chat.role("form", "Create account")
        expect(form.get_by_label("Invitation code")).to_have_value(code)
        form.get_by_label("Name", exact=True).fill("Zoe")
        form.get_by_label("Username").fill(f"zoe{secrets.token_hex(4)}")
        form.get_by_label("Password").fill("a river of tea")
        form.get_by_role("button", name="Create account").click()
        expect(chat.navigation).to_be_visible()
        expect(chat.page).not_to_have_url(re.compile("invite"))
        # The same link in a browser whose sign-in page is open.
        chat = self.page(self.browser(), None).open()
        expect(chat.role("form", "Sign in")).to_be_visible()
        chat.page.evaluate("code => location.hash = '#/invite/' + code", code)
        form = chat.role("form", "Create account")
        form.get_by_label("Name", exact=True).fill("Yann")
        form.get_by_label("Username").fill(f"yann{secrets.token_hex(4)}")
        form.get_by_label("Password").fill("a river of tea")
        form.get_by_role("button", name="Create account").click()
        expect(form.get_by_label("Invitation code")).to_have_accessible_description("This invitation is not valid any more.")
