// Hostile files in a real browser: Debian's Chromium, driven by Playwright.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Hostile files in a browser", .timeLimit(.minutes(5)))
    struct BrowserSafety {
        /// `.ci/deps test` installs both.
        static let hasBrowser =
            FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium") && Tool.hasPython("playwright.sync_api")

        /// A file that would call the sink if anything in it ran. `SINK` stands for the sink's origin.
        private struct Hostile: Encodable {
            let name: String
            let type: String
            let content: String
            var url = ""
        }

        private static let script = "fetch('SINK/ran');document.title='ran';alert(1)"

        private static var files: [Hostile] {
            let html = "<html><body onload=\"\(script)\"><script>\(script)</script><img src=SINK/image></body></html>"
            let svg =
                "<svg xmlns='http://www.w3.org/2000/svg' onload=\"\(script)\"><script>\(script)</script>"
                + "<image href='SINK/image' width='9' height='9'/></svg>"
            let action = "app.alert(1); this.submitForm('SINK/ran'); app.launchURL('SINK/ran')"
            let pdf = """
                %PDF-1.4
                1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(\(action))>>>>endobj
                2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
                3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/AA<</O<</S/URI/URI(SINK/ran)>>>>>>endobj
                trailer<</Root 1 0 R>>
                %%EOF

                """
            return [
                Hostile(name: "page.html", type: "text/html", content: html),
                Hostile(name: "drawing.svg", type: "image/svg+xml", content: svg),
                Hostile(name: "paper.pdf", type: "application/pdf", content: pdf),
                Hostile(name: "page.jpg", type: "image/jpeg", content: html),
                Hostile(name: "code.js", type: "text/javascript", content: script),
                // A GIF by its first bytes, and a script and a page as well.
                Hostile(name: "polyglot.gif", type: "image/gif", content: "GIF89a=1;\(script)//\(html)"),
                Hostile(name: "polyglot.pdf", type: "application/pdf", content: "\(html)\n\(pdf)"),
                Hostile(
                    name: "refresh.txt", type: "text/plain", content: "<meta http-equiv=refresh content='0;SINK/ran'>"),
                Hostile(name: "style.css", type: "text/css", content: "body{background:url(SINK/ran)}"),
            ]
        }

        @Test(
            "run nothing, opened as pages, frames, objects, scripts and styles; pictures show with our cookie",
            .enabled(if: Tool.permits(hasBrowser), "needs Chromium and Playwright"))
        func runNothing() async throws {
            let nodes = try await TestNodes.shared()
            let caller = Connection(nodes.a.address)
            let ann = try await caller.register("Ann")
            let sink = Address(port: try Sockets.freePort())
            var files = Self.files
            for index in files.indices {
                let file = files[index]
                let content = Data(file.content.replacing("SINK", with: sink.description).utf8)
                let id = newID()
                let answer = try await caller.put(content, id, name: file.name, type: file.type, as: ann)
                #expect(answer.status == 201, "\(file.name): \(answer)")
                _ = try await caller.ready(id, as: ann)
                files[index].url = nodes.a.address.description + (try await caller.link(id, as: ann))
            }
            let image = Data(try TestPictures.shared().bytes("orientation1.png"))
            let picture = try await caller.uploaded(image, as: ann)["id"].string ?? ""
            let plan: [String: JSON] = [
                "sink": .init(sink.port), "origin": .string(nodes.a.address.description), "token": .string(ann.token),
                "picture": .string(Attachments.path(picture)),
                "files": try JSON(parsing: try JSONEncoder().encode(files)),
            ]
            let output = try await PythonScript.run(
                "browser.py", [], input: JSON.object(plan).data, within: .seconds(240))
            let result = try JSON(parsing: output)
            // The same HTML, SVG and script run when a careless server sends them: the check can see it.
            #expect(Set(result["control"].items.compactMap(\.string)) == ["page.html", "drawing.svg", "code.js"])
            #expect(result["ran"] == [], "\(result)")
            #expect(result["picture"] == 150 && result["pictureAfterLogout"] == 0, "\(result)")
        }
    }
}
