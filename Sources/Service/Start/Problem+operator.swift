// Problems as the person reads them who runs a command or starts a node.
import Domain

extension Problem {
    /// A sentence without the advice for HTTP clients.
    ///
    /// - Parameter database: the database's name at the start of the sentence.
    func sentence(database: String = "the database") -> String {
        switch code {
        // What else is unavailable says so itself.
        case .unavailable where detail == Problem.databaseUnavailable.detail:
            "\(database) is unavailable; the log lines above have the reason."
        case .overloaded: "\(database) is busy or too slow; try again."
        case .internalError: "\(database) can't be used: \(detail)"
        case .invalid where !fields.isEmpty: fields.map { "\($0.field): \($0.detail)" }.joined(separator: " ")
        default: description
        }
    }
}
