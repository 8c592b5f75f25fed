// The text of the mail with a code. Nothing in it comes from the client that requested it: anyone may request a code
// for any address.
import Credentials
import Domain
import Outbound
import Store

struct CodeMail {
    let appName: String
    let from: MailAddress
    let mail: ClaimedMail
    let code: OneTimeCode

    func message(time: Int) -> MailMessage? {
        guard let to = MailAddress(address: mail.address.text) else { return nil }
        // Another attempt has another code. With the same message id, mail servers might drop it as a duplicate.
        return MailMessage(
            from: from, to: to, subject: "Your code for \(appName)", id: "\(mail.id).\(mail.attempt)", time: time,
            text: text, html: html)
    }

    private var purpose: String { mail.registers ? "to sign up for" : "to sign in to" }

    private var text: String {
        """
        Your code \(purpose) \(appName):

            \(code.text)

        It works once, within ten minutes, and only if it is the last code that you were sent.

        If you didn't request a code, ignore this mail: without the code nobody can sign in. Never share it with anyone.

        """
    }

    private var html: String {
        let app = Self.escaped(appName)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Your code for \(app)</title></head>
            <body style="font-family: sans-serif; line-height: 1.5; max-width: 32em; margin: 2em auto; padding: 0 1em">
            <p>Your code \(purpose) \(app):</p>
            <p style="font-size: 2em; font-family: monospace; letter-spacing: 0.2em"><strong>\(code.text)</strong></p>
            <p>It works once, within ten minutes, and only if it is the last code that you were sent.</p>
            <p>If you didn't request a code, ignore this mail: without the code nobody can sign in. Never share it with
            anyone.</p>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
