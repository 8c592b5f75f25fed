// What a picture tells of its maker: nothing is left of it in what the service stores.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Pictures with private metadata", .timeLimit(.minutes(3)))
    struct PrivatePictures {
        @Test("lose location, serial number, previews, comments and trailers; pixels and orientation stay")
        func stripped() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let pictures = try await TestPictures.shared()
            let names = try pictures.names.filter { !$0.hasPrefix("small.") }
            #expect(names.count >= 20)
            // The originals have what the check looks for.
            await #expect(throws: PythonScript.Failure.self) {
                _ = try await PythonScript.run("pictures.py", ["clean", pictures.path])
            }

            let (files, thumbnails) = (try TemporaryDirectory(), try TemporaryDirectory())
            let connection = Connection(nodes.b.address)
            for name in names {
                let info = try await Connection(nodes.a.address).uploaded(try pictures[name], name: name, as: ann)
                let id = info["id"].string ?? ""
                #expect(info["width"].int != nil && info["thumbnail"] == true, "\(name): \(info)")
                try await connection.download(id, as: ann).body.write(to: URL(filePath: "\(files.path)/\(name)"))
                let thumbnail = try await connection.download(id, "/thumbnail", as: ann)
                try thumbnail.body.write(to: URL(filePath: "\(thumbnails.path)/\(name)"))
            }
            _ = try await PythonScript.run("pictures.py", ["check", pictures.path, files.path])
            _ = try await PythonScript.run("pictures.py", ["clean", thumbnails.path])
        }

        @Test("a thumbnail that the owner uploads loses its metadata, too")
        func ownThumbnail() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let connection = Connection(nodes.a.address)
            let directory = try TemporaryDirectory()
            for name in ["orientation-6.jpg", "texts.png", "with-lossy.webp"] {
                // A box that says MP4.
                let film = Data([0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 2, 0])
                let id = try await connection.uploaded(film, as: ann)["id"].string ?? ""
                let put = try await connection.transfer(
                    "PUT", Attachments.path(id, "/thumbnail"), try await TestPictures.shared()[name], as: ann)
                #expect(put.status < 300, "\(name): \(put)")
                try await connection.download(id, "/thumbnail", as: ann).body
                    .write(to: URL(filePath: "\(directory.path)/\(name)"))
            }
            _ = try await PythonScript.run("pictures.py", ["clean", directory.path])
        }
    }
}
