// The Swift file that carries the texts. Reading them is EmbedFilesTool's.

enum SwiftSource {
    struct Constant {
        enum Value {
            case file(String)
            case folder([(name: String, text: String)])
        }

        let name: String
        let value: Value
    }

    /// One enum with one constant a file or folder. Types are written out and each text is one literal, so that the
    /// compiler has nothing to infer.
    static func text(enumName: String, constants: [Constant]) -> String {
        var source = "// Written by EmbedFilesTool at each build from what embed.json names.\n\n"
        source += "package enum \(enumName) {\n"
        for constant in constants {
            switch constant.value {
            case .file(let text):
                source += "    package static let \(constant.name): String = \(literal(text))\n"
            case .folder(let files):
                source += "    package static let \(constant.name): [(name: String, text: String)] = [\n"
                for file in files {
                    source += "        (name: \(literal(file.name)), text: \(literal(file.text))),\n"
                }
                source += "    ]\n"
            }
        }
        return source + "}\n"
    }

    /// A literal on one line, whatever the text holds: all but printable ASCII is escaped, so neither quotes nor line
    /// ends nor invisible characters can mean anything.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }
}
