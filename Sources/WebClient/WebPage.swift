// The files of the web client as a browser requests them: by path, with the version in the paths. No HTTP here.
import Basics
import Cryptography

/// All files of the web client, made once at start.
///
/// The sources write `/app/dev/` for the folder of the page. Here it becomes `/app/VERSION/`, where VERSION is a digest of
/// all files. So a browser may keep those files for ever, and a new version is loaded as a whole or not at all.
package struct WebPage: Sendable {
    /// 16 hexadecimal digits of the SHA-256 of all names and contents.
    package let version: String
    /// The files by the paths of their URLs.
    package let files: [String: WebFile]
    /// What a person sees at an address that nothing has. Nil if the page has no such file.
    package let notFound: WebFile?

    /// The page of this build. Made at first use: that takes about 0.1 s.
    package static let embedded = WebPage(EmbeddedPage.files)

    /// - Parameter sources: the files of the folder `page`, by their paths in it, in the order of the paths.
    package init(_ sources: [(name: String, text: String)]) {
        let version = Self.version(of: sources)
        let names = sources.map(\.name).filter { !Source.isElsewhere($0) }
        let folder = "/app/\(version)/"
        let paths = names.map { folder + Self.sentName(of: $0) }
        var files: [String: WebFile] = [:]
        var notFound: WebFile?
        for (name, text) in sources {
            switch name {
            case Source.index:
                files["/"] = WebFile(
                    name: name, text: Self.index(text, folder: folder, modules: Self.firstModules(of: sources)),
                    isOfVersion: false)
            case Source.serviceWorker:
                let shell = "self.parleyShell = \(Self.shell(version: version, paths: paths));\n"
                files["/" + name] = WebFile(
                    name: name, text: shell + SourceText.withoutComments(text, isModule: true),
                    isOfVersion: false)
            case Source.notFound:
                notFound = WebFile(
                    name: name, text: text.replacing("/app/dev/", with: folder), isOfVersion: false)
            case _ where name.hasSuffix(Source.encoded):
                let sent = WebFile(encoded: text, name: Self.sentName(of: name), isOfVersion: true)
                files[folder + Self.sentName(of: name)] = sent
                // Browsers look here for an icon of what is no page.
                if name == Source.icon + Source.encoded { files["/favicon.ico"] = sent?.ofNoVersion }
            default:
                let sent =
                    switch name.split(separator: ".").last {
                    case "js": SourceText.withoutComments(text, isModule: true)
                    case "css": SourceText.withoutComments(text)
                    default: text
                    }
                files[folder + name] = WebFile(name: name, text: sent, isOfVersion: true)
            }
        }
        (self.version, self.files, self.notFound) = (version, files, notFound)
    }

    /// Files that are not sent as they are.
    private enum Source {
        static let index = "index.html"
        static let serviceWorker = "service-worker.js"
        static let notFound = "not-found.html"
        /// The end of the name of a picture: the build embeds texts, so its bytes are in Base64.
        static let encoded = ".base64"
        static let icon = "icon-180.png"

        /// Whether the file is not in the folder of the version.
        static func isElsewhere(_ name: String) -> Bool { [index, serviceWorker, notFound].contains(name) }
    }

    private static func sentName(of name: String) -> String {
        name.hasSuffix(Source.encoded) ? String(name.dropLast(Source.encoded.utf8.count)) : name
    }

    private static func version(of sources: [(name: String, text: String)]) -> String {
        var digest = SHA256()
        for (name, text) in sources {
            // The lengths keep two different lists from being the same bytes.
            digest.update(Array("\(name.utf8.count) \(text.utf8.count) \(name)\(text)".utf8))
        }
        return digest.finalize().prefix(8).hexadecimal
    }

    /// The first page, with a link for each module that it needs at once: the browser loads all of them together, and does
    /// not have to read one to know the next.
    private static func index(_ text: String, folder: String, modules: [String]) -> String {
        let links = modules.map { #"<link rel="modulepreload" href="\#(folder)\#($0)">"# }
        return
            text
            .replacing("<!-- modules -->", with: links.joined(separator: "\n"))
            .replacing("/app/dev/", with: folder)
    }

    /// The names of `main.js` and all modules that it imports, directly or through others, sorted. What is imported by
    /// `import()` is loaded later. `first_modules` of dev-server.py does the same.
    private static func firstModules(of sources: [(name: String, text: String)]) -> [String] {
        let texts = Dictionary(sources.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        var found: Set<String> = []
        var waiting = ["main.js"]
        while let name = waiting.popLast() {
            guard let text = texts[name], found.insert(name).inserted else { continue }
            for line in text.split(separator: "\n") {
                // The last line of an import: `import … from './a.js';`, or `} from './a.js';` after several lines.
                guard line.hasPrefix("import ") || line.hasPrefix("} from "), line.hasSuffix("';") else { continue }
                let path = line.dropLast(2).drop { $0 != "'" }.dropFirst()
                waiting.append(Self.name(of: path, from: name))
            }
        }
        return found.sorted()
    }

    /// The name of the file that the module `name` calls `path`, such as `core/chat.js` for `../core/chat.js` in `ui/a.js`.
    private static func name(of path: Substring, from name: String) -> String {
        var parts = name.split(separator: "/").dropLast()
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// What the service worker keeps, as JSON. Names of files need no escape; a test checks that.
    private static func shell(version: String, paths: [String]) -> String {
        #"{"version": "\#(version)", "files": [\#(paths.map { "\"\($0)\"" }.joined(separator: ", "))]}"#
    }
}
