// The name of the service in the page: in its title, and in the app that a browser makes of it.

extension WebPage {
    private static let usualName = "Parley"

    /// The page of this build under the name of a service. A name of its own takes about 0.1 s at each call.
    package static func embedded(named name: String) -> WebPage {
        name == usualName ? embedded : WebPage(renamed(EmbeddedPage.files, to: name))
    }

    /// Returns the sources with another name in the pages and in the manifest. Other files get the name from
    /// `GET /v1/service`.
    static func renamed(
        _ sources: [(name: String, text: String)], to name: String
    ) -> [(name: String, text: String)] {
        sources.map { source in
            let written: String
            switch source.name.split(separator: ".").last {
            case "html": written = escapedForHTML(name)
            case "webmanifest": written = escapedForJSON(name)
            default: return source
            }
            let text = source.text.replacing(">\(usualName)<", with: ">\(written)<")
            return (source.name, text.replacing("\"\(usualName)\"", with: "\"\(written)\""))
        }
    }

    private static func escapedForHTML(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    /// A name is one line, so it has no control characters.
    private static func escapedForJSON(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
