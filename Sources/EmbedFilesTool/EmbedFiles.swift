// Writes text files as Swift source, at build time, so that the executable carries them.
import Foundation

/// Arguments: the file to write, the name of the enum, then for each constant its name, `=`, and the files in it,
/// one an argument. A file's constant is an array of (name, text) in the order given.
@main
struct EmbedFiles {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        guard let output = arguments.popFirst(), let name = arguments.popFirst() else {
            throw CocoaError(.fileNoSuchFile)
        }
        var source = "// Made at build time from the files named below.\n\nenum \(name) {\n"
        var isOpen = false
        for argument in arguments {
            if argument.hasSuffix("=") {
                if isOpen { source += "    ]\n" }
                source += "    static let \(argument.dropLast()): [(name: String, text: String)] = [\n"
                isOpen = true
            } else {
                let text = try String(contentsOfFile: argument, encoding: .utf8)
                source += "        (\(literal(URL(filePath: argument).lastPathComponent)), \(literal(text))),\n"
            }
        }
        source += (isOpen ? "    ]\n" : "") + "}\n"
        try source.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// A Swift string literal of one line: cheap to compile, whatever the text holds.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": literal += "\\\\"
            case "\"": literal += "\\\""
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case "\0": literal += "\\0"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
