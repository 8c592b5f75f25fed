// The texts of mails without a code. Nothing in them comes from a client.
import Outbound
import Store

/// Notifies the owner of an address.
struct NoticeMail {
    let appName: String
    let from: MailAddress
    let mail: ClaimedMail

    func message(time: Int) -> MailMessage? {
        guard let to = MailAddress(address: mail.address.text), let paragraphs else { return nil }
        return MailMessage(
            from: from, to: to, subject: "Your e-mail address at \(appName)", id: "\(mail.id).\(mail.attempt)",
            time: time, text: paragraphs.joined(separator: "\n\n") + "\n",
            html: MailHTML.page(
                title: "Your e-mail address at \(appName)", paragraphs: paragraphs.map(MailHTML.escaped)))
    }

    /// It is nil for a mail with a code.
    private var paragraphs: [String]? {
        switch mail.purpose {
        case .signIn, .signUp, .confirm: nil
        case .taken:
            [
                "Somebody asked to use this e-mail address for another account at \(appName). Nothing has changed: the "
                    + "address belongs to your account.",
                "If it was you, remove the address from your account first. If it was not you, there is nothing to do. "
                    + "You get this mail at most once a day.",
            ]
        case .replaced:
            [
                "This e-mail address does not belong to your account at \(appName) any more. A device that is signed in "
                    + "has replaced or removed it.",
                "If it was not you, contact the operator of \(appName) at once: somebody uses your account.",
            ]
        }
    }
}

/// HTML in mails.
enum MailHTML {
    /// A page of paragraphs, each of them HTML.
    static func page(title: String, paragraphs: [String]) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head><meta charset="utf-8"><title>\(escaped(title))</title></head>
        <body style="font-family: sans-serif; line-height: 1.5; max-width: 32em; margin: 2em auto; padding: 0 1em">
        \(paragraphs.map { "<p>\($0)</p>" }.joined(separator: "\n"))
        </body>
        </html>

        """
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
