// A question that is answered by one line of text.
import Foundation
import Parley

enum Prompt: Hashable, Sendable {
    case attach(ThreadID)
    case save(Attachment)
    case rename(ThreadID)
    case topic(ThreadID)
    /// The user's own labels of a thread, as they are.
    case labels(ThreadID, [String])
    case react(MessageID)
    /// The title of a group or room that is to be made.
    case group, room

    var question: String {
        switch self {
        case .attach: "Path of the file to attach"
        case .save(let attachment): "Save \(PlainText.line(attachment.name)) as"
        case .rename: "New title"
        case .topic: "What the conversation is about. Leave it empty for no topic"
        case .labels: "Your labels, with commas. Leave it empty for none"
        case .react: "Emoji"
        case .group: "Title of the group"
        case .room: "Title of the room. It is created if there is none"
        }
    }

    var asksForPath: Bool {
        switch self {
        case .attach, .save: true
        case .rename, .topic, .labels, .react, .group, .room: false
        }
    }

    /// Whether an empty line is an answer.
    var acceptsNothing: Bool {
        switch self {
        case .topic, .labels: true
        case .attach, .save, .rename, .react, .group, .room: false
        }
    }

    /// The labels of an answer: "a, b".
    static func labels(in text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

struct PromptScreen: Screen {
    let prompt: Prompt
    private var field: TextField

    init(_ prompt: Prompt) {
        self.prompt = prompt
        if case .labels(_, let labels) = prompt {
            field = TextField(labels.map(PlainText.line).joined(separator: ", "))
        } else if case .save(let attachment) = prompt {
            // A name of somebody else must not choose a directory, nor hide the file.
            let name = PlainText.line(attachment.name).replacing("/", with: "_").drop { $0 == "." }
            field = TextField(name.isEmpty ? "file" : String(name))
        } else {
            field = TextField()
        }
    }

    var title: String { prompt.question }
    var acceptsText: Bool { true }

    var hints: [Hint] {
        [Hint("Enter", "accept")] + (prompt.asksForPath ? [Hint("Tab", "complete")] : []) + [Hint("Esc", "cancel")]
    }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        switch key {
        case .escape: return [.close]
        case .enter:
            let text = field.text.trimmingCharacters(in: .whitespaces)
            guard !text.isEmpty || prompt.acceptsNothing else { return [] }
            return switch prompt {
            case .group: [.show(.people(.group(title: text)))]
            case .room: [.joinRoom(title: text)]
            default: [.close, .answer(prompt, text)]
            }
        case .tab where prompt.asksForPath: return [.complete(path: field.text)]
        default:
            _ = field.handle(key)
            return []
        }
    }

    /// Takes what the file system knows about the path.
    mutating func complete(_ path: String, with completion: String) {
        if field.text == path { field.set(completion) }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        canvas.write(prompt.question + ":", column: 2, row: rows.lowerBound + 1)
        let row = rows.lowerBound + 3
        let layout = field.layout(width: canvas.size.columns - 5)
        let first = max(0, layout.row - max(0, rows.upperBound - row - 1))
        for (offset, line) in layout.lines[first...].enumerated() where row + offset < rows.upperBound {
            canvas.write(offset == 0 ? ">" : " ", column: 2, row: row + offset, style: .bold)
            canvas.write(line, column: 4, row: row + offset)
        }
        canvas.cursor = .init(column: 4 + layout.column, row: row + layout.row - first)
        return []
    }
}

/// Completes paths as shells do.
enum PathCompletion {
    /// The longest path that all files beginning so have in common; the path itself if there is none.
    /// - Parameter list: the names in a directory, those of directories with "/" at the end.
    static func complete(_ path: String, home: String, list: (String) -> [String]) -> String {
        let path = expand(path, home: home)
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let (directory, prefix) = (String(path[..<slash]), String(path[slash...]))
        let names = list(directory.isEmpty ? "." : directory)
            .filter { $0.hasPrefix(prefix) && (!$0.hasPrefix(".") || prefix.hasPrefix(".")) }
        guard var common = names.first else { return path }
        for name in names.dropFirst() { common = common.commonPrefix(with: name) }
        return directory + common
    }

    /// Replaces "~/" at the beginning.
    static func expand(_ path: String, home: String) -> String {
        path == "~" ? home + "/" : path.hasPrefix("~/") ? home + path.dropFirst() : path
    }
}
