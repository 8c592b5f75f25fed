// Objects of the database with a secret that only the answer has.
import Domain

extension JSONText {
    /// The object with one more member, a string, at its end. The text must be an object with members.
    /// - Parameter name: without characters that JSON escapes.
    func adding(_ name: StaticString, _ value: String) -> JSONText {
        var writer = JSONWriter(reserving: utf8.count + value.utf8.count + 32)
        writer.raw(utf8.dropLast())
        writer.raw(",\"")
        writer.raw(name)
        writer.raw("\":")
        writer.write(value)
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }
}
