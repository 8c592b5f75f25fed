// The files of docker/: what one says of another, without an engine.

import Foundation
import TestSupport
import Testing
import Yams

@Suite("The files for containers", .timeLimit(.minutes(1)))
struct ContainerFiles {
    private func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.file("docker/" + name), encoding: .utf8)
    }

    /// The text with each `${NAME:-default}` replaced by its default, and `${NAME:?…}` by a value.
    private func services() throws -> [String: [String: Any]] {
        let defaults = try text("compose.yaml")
            .replacing(/\$\{\w+:-([^}]*)\}/) { $0.1 }
            .replacing(/\$\{\w+:\?[^}]*\}/, with: "value")
        // Unlike `compose`, `load` follows the merge keys.
        let file = try #require(try Yams.load(yaml: defaults) as? [String: Any])
        return try #require(file["services"] as? [String: [String: Any]])
    }

    @Test("name the nodes of compose in both proxies and for Prometheus")
    func nodes() throws {
        let nodes = try services().keys.filter { $0.hasPrefix("parley-") }.sorted()
        #expect(nodes == ["parley-1", "parley-2"])
        #expect(try text("Caddyfile").contains("to \(nodes.map { $0 + ":8080" }.joined(separator: " "))\n"))
        let nginx = try text("nginx.conf").matches(of: #/server (parley-\d+):8080 /#).map { String($0.1) }
        #expect(nginx == nodes)
        #expect(try text("compose.yaml").contains("targets: [\(nodes.map { $0 + ":9090" }.joined(separator: ", "))]"))
    }

    @Test("run the image of this version, with an exact version of every other image")
    func images() throws {
        let description = try Yams.compose(
            yaml: String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8))
        let version = try #require(description?["info"]?["version"]?.string)
        for (name, service) in try services() {
            let image = try #require(service["image"] as? String, "\(name)")
            #expect(image.contains(/:v?\d+\.\d+/), "\(image)")
            if name.hasPrefix("parley-") { #expect(image == "parley:\(version)") }
        }
    }

    @Test("mount files that exist, and publish ports on this machine only")
    func mounts() throws {
        var files: [String] = []
        for (name, service) in try services() {
            for volume in service["volumes"] as? [String] ?? [] where volume.hasPrefix("./") {
                files.append(String(volume.dropFirst(2).prefix { $0 != ":" }))
            }
            for port in service["ports"] as? [String] ?? [] {
                #expect(port.hasPrefix("127.0.0.1:"), "\(name): \(port)")
            }
            #expect(service["cap_drop"] as? [String] == ["ALL"], "\(name)")
        }
        #expect(files.contains("Caddyfile") && files.contains("nginx.conf"))
        for file in files {
            #expect(FileManager.default.fileExists(atPath: Repository.file("docker/" + file).path), "\(file)")
        }
    }

    @Test("check a node's health by its own executable")
    func health() throws {
        let file = try text("Dockerfile")
        #expect(file.contains(/(?m)^HEALTHCHECK [^\n]*\\\n *CMD \["parley", "health"\]$/))
        #expect(!file.contains("curl libcurl4") && !file.contains("CMD curl"))
    }
}
