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

    private var purpose: String {
        switch mail.purpose {
        case .signUp: "to sign up for"
        case .confirm: "to use this address with your account at"
        case .signIn, .taken, .replaced: "to sign in to"
        }
    }

    /// What nobody can do without the code.
    private var refusal: String {
        mail.purpose == .confirm ? "nobody can use this address" : "nobody can sign in"
    }

    private var text: String {
        """
        Your code \(purpose) \(appName):

            \(code.text)

        It works once, within ten minutes, and only if it is the last code that you were sent.

        If you didn't request a code, ignore this mail: without the code \(refusal). Never share it with anyone.

        """
    }

    private var html: String {
        let number = "<strong>\(code.text)</strong>"
        return MailHTML.page(
            title: "Your code for \(appName)",
            paragraphs: [
                "Your code \(purpose) \(MailHTML.escaped(appName)):",
                "<span style=\"font-size: 2em; font-family: monospace; letter-spacing: 0.2em\">\(number)</span>",
                "It works once, within ten minutes, and only if it is the last code that you were sent.",
                "If you didn't request a code, ignore this mail: without the code \(refusal). Never share it with anyone.",
            ])
    }
}
