// The web client of the built executable: served by default, gone by a setting.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The setting of the web client", .timeLimit(.minutes(2)))
    struct WebClientSetting {
        @Test("decides whether the executable serves it; the API is the same without it")
        func decides() async throws {
            let nodes = try await TestNodes.shared()
            let page = try await nodes.a.client.get("/")
            #expect(page.status == 200 && page.text.contains("<title>Parley"))

            let node = try await Node.start(database: nodes.database, settings: ["PARLEY_WEB": "off"])
            for path in ["/", "/service-worker.js"] {
                let answer = try await node.client.get(path)
                #expect(answer.status == 404 && answer.json["code"] == "not_found", "\(path)")
            }
            #expect(try await node.client.get("/health/live").status == 200)
            try await node.stop()
        }
    }
}
