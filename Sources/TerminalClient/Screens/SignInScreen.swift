// Signing in, in each way that the service has.
import Foundation
import Parley

struct SignInScreen: Screen {
    enum Way: Hashable, Sendable, CaseIterable {
        case password, register, code, registerByMail, newPassword, token

        var title: String {
            switch self {
            case .password: "Sign in with a password"
            case .register: "Create an account with a password"
            case .code: "Sign in with a code by e-mail"
            case .registerByMail: "Create an account with an e-mail address"
            case .newPassword: "Set a forgotten password"
            case .token: "Sign in with a token of your own server"
            }
        }

        /// Whether the service has this way. All are shown until the service has answered.
        fileprivate func isOffered(by service: ServiceInfo?) -> Bool {
            guard let service else { return true }
            return switch self {
            case .password: service.signIn.contains(.password)
            case .register: service.registration != .closed
            case .code: service.signIn.contains(.code)
            case .registerByMail: service.registration != .closed && service.signIn.contains(.code)
            case .newPassword: service.signIn.contains(.password)
            case .token: service.signIn.contains(.token)
            }
        }

        fileprivate var names: [Name] {
            switch self {
            case .password: [.username, .password]
            case .register: [.username, .name, .password, .invitation]
            case .code: [.email, .code]
            case .registerByMail: [.email, .name, .invitation]
            case .newPassword: [.account, .code, .new]
            case .token: [.token]
            }
        }
    }

    fileprivate enum Name: String, Hashable, Sendable {
        case username = "Username"
        case name = "Name"
        case password = "Password"
        case email = "E-mail"
        case account = "Account"
        case new = "New one"
        case code = "Code"
        /// May stay empty: most services need none.
        case invitation = "Invitation"
        case token = "Token"
    }

    let server: String
    private(set) var way = Way.password
    /// Why the last try failed, or why the user is signed out.
    var message: String?
    /// What the service offers; nil until the service has answered.
    private(set) var service: ServiceInfo?
    /// Whether an answer is awaited.
    var isBusy = false
    private var fields: [Name: TextField]
    private var focus = 0

    init(server: String, username: String = "", message: String? = nil) {
        self.server = server
        self.message = message
        fields = [.username: TextField(username)]
        for secret in [Name.password, .new, .token] { fields[secret] = TextField(isSecret: true) }
        if !username.isEmpty { focus = 1 }
    }

    var title: String { "Parley" }
    var acceptsText: Bool { true }

    var hints: [Hint] {
        let ways = ways
        let place = ways.firstIndex(of: way).map { "another way (\($0 + 1)/\(ways.count))" }
        return [Hint("Enter", "continue"), Hint("Tab", "next field")]
            + (ways.count > 1 ? [Hint("F2", place ?? "another way")] : [])
            + [Hint("F1", "help"), Hint("Ctrl-C", "quit")]
    }

    /// Leaves out the ways that the service does not have.
    mutating func offer(_ service: ServiceInfo) {
        self.service = service
        guard !way.isOffered(by: service), let first = ways.first else { return }
        way = first
        focus = 0
    }

    private var ways: [Way] { Way.allCases.filter { $0.isOffered(by: service) } }

    /// Shows that a code is on its way.
    mutating func awaitCode() {
        if way != .newPassword { way = .code }
        focus = 1
        isBusy = false
        message = "If the address can be used, a code was mailed to it. The code is valid for 10 minutes."
    }

    /// Shows why the server refused. Secrets have to be typed again.
    mutating func fail(_ reason: String) {
        isBusy = false
        message = reason
        for (index, name) in way.names.enumerated() where [.password, .code, .new, .token].contains(name) {
            fields[name]?.set("")
            focus = index
        }
        if way == .newPassword { focus = 1 }
    }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        guard !isBusy else { return [] }
        let names = way.names
        switch key {
        case .tab, .down: focus = (focus + 1) % names.count
        case .backTab, .up: focus = (focus + names.count - 1) % names.count
        case .function(2), .control("t"):
            let all = ways
            guard !all.isEmpty else { break }
            way = all[((all.firstIndex(of: way) ?? 0) + 1) % all.count]
            focus = 0
            message = nil
        case .enter:
            if focus + 1 < names.count, names[focus + 1] != .invitation, value(names[focus + 1]).isEmpty,
                !(mailsCodes && names[focus + 1] == .code)
            {
                if !value(names[focus]).isEmpty { focus += 1 }
            } else {
                return submit()
            }
        default: _ = fields[names[focus], default: TextField()].handle(key)
        }
        return []
    }

    private mutating func submit() -> [Action] {
        if mailsCodes, value(.code).isEmpty {
            let address = value(way == .code ? .email : .account)
            guard !address.isEmpty else { return [] }
            isBusy = true
            return [.requestCode(email: address)]
        }
        guard let missing = way.names.firstIndex(where: { $0 != .invitation && value($0).isEmpty }) else {
            isBusy = true
            message = nil
            return [.signIn(form)]
        }
        focus = missing
        return []
    }

    private var form: SignInForm {
        switch way {
        case .password: .password(username: value(.username), password: value(.password))
        case .register:
            .register(
                username: value(.username), password: value(.password), name: value(.name), invitation: invitation)
        case .code: .code(email: value(.email), code: value(.code))
        case .registerByMail: .registerByMail(email: value(.email), name: value(.name), invitation: invitation)
        case .newPassword: .newPassword(of: value(.account), code: value(.code), to: value(.new))
        case .token: .token(value(.token))
        }
    }

    /// Whether an empty code asks for one: of an account that is named by its address.
    private var mailsCodes: Bool { way == .code || way == .newPassword && value(.account).contains("@") }

    private var invitation: String? { value(.invitation).isEmpty ? nil : value(.invitation) }

    private func value(_ name: Name) -> String {
        let text = fields[name]?.text ?? ""
        // Spaces at the ends of a password count.
        return name == .password || name == .new ? text : text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        var row = rows.lowerBound + 1
        let name = service.map { "\(server) (\($0.name))" } ?? server
        canvas.write("Server  \(PlainText.line(name))", column: 3, row: row, style: .dim)
        canvas.write(way.title, column: 3, row: row + 2, style: .bold)
        row += 4
        for (index, name) in way.names.enumerated() {
            let field = fields[name] ?? TextField()
            canvas.write(name.rawValue, column: 3, row: row, style: index == focus ? .bold : .plain)
            let layout = field.layout(width: canvas.size.columns - 18)
            canvas.write(layout.lines[layout.row], column: 14, row: row)
            if index == focus, !isBusy { canvas.cursor = .init(column: 14 + layout.column, row: row) }
            row += 1
        }
        if way == .newPassword, !mailsCodes {
            canvas.write(
                "Account: your e-mail address, or your username if the operator gave you a code.", column: 14, row: row,
                style: .dim)
            row += 1
        } else if mailsCodes, value(.code).isEmpty {
            canvas.write("Leave the code empty to have one mailed.", column: 14, row: row, style: .dim)
            row += 1
        }
        if way.names.contains(.invitation), value(.invitation).isEmpty {
            canvas.write("Leave the invitation empty if the service needs none.", column: 14, row: row, style: .dim)
            row += 1
        }
        row += 1
        if isBusy {
            canvas.write("Waiting for the server…", column: 3, row: row, style: .dim)
        } else if let message {
            for (offset, line) in PlainText.lines(message).wrapped(to: canvas.size.columns - 6).enumerated() {
                canvas.write(line, column: 3, row: row + offset, style: .warning)
            }
        }
        return []
    }
}
