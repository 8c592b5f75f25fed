// The files of the web client by their paths, with small pages made up here, and the page of this build.
import CZlib
import Foundation
import Testing

@testable import WebClient

@Suite("The files of the web client", .timeLimit(.minutes(1)))
struct WebPageTests {
    private static let sources = [
        ("index.html", "<!-- modules -->\n<script type=\"module\" src=\"/app/dev/main.js\"></script>"),
        ("language/en.json", "{}"), ("main.js", "import {\n    a,\n} from './ui/a.js';"),
        ("service-worker.js", "addEventListener('x', f);"), ("ui/a.js", "const b = () => import('./b.js');"),
        ("ui/b.js", "import * as a from '../ui/a.js';"),
    ]

    private func page(_ sources: [(String, String)] = sources) -> WebPage {
        WebPage(sources.map { (name: $0.0, text: $0.1) })
    }

    private func text(_ path: String, of page: WebPage) throws -> String {
        String(decoding: try #require(page.files[path]).bytes, as: UTF8.self)
    }

    @Test("have the version in their paths, except the first page and the service worker")
    func paths() {
        let page = page()
        let folder = "/app/\(page.version)/"
        #expect(
            Set(page.files.keys) == [
                "/", "/service-worker.js", folder + "language/en.json", folder + "main.js", folder + "ui/a.js",
                folder + "ui/b.js",
            ])
        #expect(page.files.filter { !$0.value.isOfVersion }.keys.sorted() == ["/", "/service-worker.js"])
        #expect(page.version.utf8.count == 16)
    }

    @Test("are named with the version by the first page, which lists the modules that it needs at once")
    func index() throws {
        let page = page()
        #expect(
            try text("/", of: page) == """
                <link rel="modulepreload" href="/app/\(page.version)/main.js">
                <link rel="modulepreload" href="/app/\(page.version)/ui/a.js">
                <script type="module" src="/app/\(page.version)/main.js"></script>
                """)
    }

    @Test("are sent as bytes if they are pictures, and the icon is where browsers look for one")
    func pictures() throws {
        let page = page(Self.sources + [("icon-180.png.base64", "iVBORw0K\nGgo=\n"), ("not-found.html", "/app/dev/a")])
        let icon = try #require(page.files["/app/\(page.version)/icon-180.png"])
        #expect(icon.bytes == [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        #expect(icon.mediaType == "image/png" && icon.isOfVersion)
        let favicon = try #require(page.files["/favicon.ico"])
        #expect(favicon.bytes == icon.bytes && !favicon.isOfVersion)
        #expect(try text("/service-worker.js", of: page).contains("/icon-180.png\""))
        let notFound = try #require(page.notFound)
        #expect(String(decoding: notFound.bytes, as: UTF8.self) == "/app/\(page.version)/a")
        #expect(page.files.keys.allSatisfy { !$0.contains("not-found") })
    }

    @Test("are listed for the service worker, in its first line")
    func shell() throws {
        let page = page()
        let folder = "/app/\(page.version)/"
        #expect(
            try text("/service-worker.js", of: page) == """
                self.parleyShell = {"version": "\(page.version)", "files": \
                ["\(folder)language/en.json", "\(folder)main.js", "\(folder)ui/a.js", \
                "\(folder)ui/b.js"]};
                addEventListener('x',f);

                """)
    }

    @Test("have another version after any change: of a text, of a name, of the service worker")
    func versions() {
        var versions = [page().version]
        for index in Self.sources.indices {
            var (renamed, changed) = (Self.sources, Self.sources)
            renamed[index].0 += "x"
            changed[index].1 += "x"
            versions += [page(renamed).version, page(changed).version]
        }
        // The end of a name and the start of a text are told apart.
        versions += [page([("ab", "c")]).version, page([("a", "bc")]).version]
        #expect(Set(versions).count == versions.count)
        #expect(page().version == page().version)
    }

    @Test(
        "are sent without comments, empty lines and indentation; nothing within a line changes",
        arguments: [
            ("// a\n\nlet a = 1; // kept\n", "let a = 1; // kept\n"),
            ("/** A type.\n * @type {X} */\n    let a = '/* b */';\n", "let a = '/* b */';\n"),
            ("/** @type {X} */ (a).b();\n", "(a).b();\n"), ("/* a\n// b */ c();\nd();", "c();\nd();\n"),
            ("a = b /* c */ / d;\n/*/ e */\nf();\n", "a = b /* c */ / d;\nf();\n"),
            ("const a = /\\/\\*x/;\n\tb();", "const a = /\\/\\*x/;\nb();\n"), ("/* a **/\nb();", "b();\n"),
            ("'Grüße';\n  // 👋\n", "'Grüße';\n"), ("", "\n"),
        ])
    func comments(_ source: String, _ sent: String) {
        #expect(SourceText.withoutComments(source) == sent)
    }

    @Test(
        "are sent without types within lines and spaces beside punctuation, if they are modules",
        arguments: [
            ("const { a, b } = c;\n  f(a ? b : [ 'a, b' ], d);\n", "const{a,b}=c;\nf(a?b:['a, b'],d);\n"),
            ("const a = /** @type {X} */ (/** @type {Y} */ (b));\n", "const a=((b));\n"),
            ("import { a } from './b.js';\n", "import{a}from'./b.js';\n"),
            ("a = 'it\\'s, ' + b;\n", "a = 'it\\'s, ' + b;\n"), ("return x + -y; // c\n", "return x + -y; // c\n"),
            ("a = b + ++c;\n", "a=b + ++c;\n"), ("a = 'b' in c;\n", "a='b'in c;\n"),
            ("f(`a, b`, / = /, \"c, d\");\n", "f(`a, b`, / = /, \"c, d\");\n"), ("/** a */\n", "\n"),
        ])
    func modules(_ source: String, _ sent: String) {
        #expect(SourceText.withoutComments(source, isModule: true) == sent)
    }

    @Test(
        "have the type that browsers require",
        arguments: [
            ("a.js", "text/javascript; charset=utf-8"), ("a.css", "text/css; charset=utf-8"),
            ("a/b.json", "application/json"), ("a.svg", "image/svg+xml"), ("a.html", "text/html; charset=utf-8"),
            ("a.webmanifest", "application/manifest+json"), ("a.exe", "application/octet-stream"),
        ])
    func types(_ name: String, _ type: String) {
        #expect(WebFile.mediaType(of: name) == type)
    }

    @Test("are compressed if that saves a tenth, and decompress to the same bytes")
    func compression() throws {
        let text = String(repeating: "Grüße 👋 ", count: 5_000)
        let file = WebFile(name: "a.js", text: text, isOfVersion: true)
        let gzipped = try #require(file.gzipped)
        #expect(gzipped.count < 1_000 && gzipped.starts(with: [0x1F, 0x8B]))
        #expect(Self.decompress(gzipped, byteCount: file.bytes.count) == file.bytes)
        #expect(WebFile(name: "a.js", text: "short", isOfVersion: true).gzipped == nil)
        #expect(WebFile(name: "a.js", text: "", isOfVersion: true).bytes.isEmpty)
    }

    @Test("of this build have known types and plain names, and the first page names its main module")
    func ofThisBuild() throws {
        let page = WebPage.embedded
        for (path, file) in page.files {
            #expect(file.mediaType != "application/octet-stream", "\(path)")
            #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }, "\(path)")
        }
        let index = try text("/", of: page)
        #expect(index.contains("/app/\(page.version)/main.js") && !index.contains("/app/dev/"))
        #expect(index.utf8.count < 16_384)
        let shell = try text("/service-worker.js", of: page).prefix { $0 != "\n" }
        #expect(shell.contains(page.version))
    }

    @Test("have the name of the service in the title and in the manifest, escaped, and in their version")
    func name() throws {
        let name = #"Ann & "Ben" <\>"#
        let page = WebPage.embedded(named: name)
        #expect(page.version != WebPage.embedded.version)
        #expect(WebPage.embedded(named: "Parley").version == WebPage.embedded.version)
        let index = try text("/", of: page)
        #expect(index.contains(#"<title>Ann &amp; &quot;Ben&quot; &lt;\></title>"#) && !index.contains("\"Parley\""))
        let manifest = try #require(page.files["/app/\(page.version)/manifest.webmanifest"])
        let object = try JSONSerialization.jsonObject(with: Data(manifest.bytes)) as? [String: Any]
        #expect(object?["name"] as? String == name && object?["short_name"] as? String == name)
    }

    private static func decompress(_ gzipped: [UInt8], byteCount: Int) -> [UInt8] {
        var (stream, input) = (z_stream(), gzipped)
        return [UInt8](unsafeUninitializedCapacity: byteCount + 1) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                // 16 + the largest window: a gzip file.
                inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                inflate(&stream, Z_FINISH)
                inflateEnd(&stream)
            }
            count = Int(stream.total_out)
        }
    }
}
