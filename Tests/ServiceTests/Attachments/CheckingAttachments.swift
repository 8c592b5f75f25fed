// What becomes of a complete upload.
import Basics
import Cryptography
import Domain
import Foundation
import Store
import TestSupport
import Testing

@testable import Service

@Suite("Checking an attachment", .timeLimit(.minutes(1)))
struct CheckingAttachments {
    /// Uploads bytes, checks them, and returns the setup.
    private func checked(
        _ bytes: [UInt8], thumbnailer: String? = nil
    ) async throws -> (id: AttachmentID, setup: AttachmentSetup) {
        let setup = try await AttachmentSetup(thumbnailer: thumbnailer)
        let id = try await setup.upload(bytes)
        let job = try #require(try await setup.store.claimAttachment(id, leaseSeconds: 60))
        try await setup.processor.process(job, in: HeldSlot {})
        #expect(setup.metrics.checked[.ready] == 1, "\(setup.lines.all)")
        return (id, setup)
    }

    @Test(
        "makes a picture ready without metadata, with its size as displayed, a thumbnail and a thumbhash",
        arguments: ["orientation6.jpg", "orientation6.png", "animated.gif", "orientation6.webp"])
    func picture(name: String) async throws {
        let bytes = try TestPictures.shared().bytes(name)
        let (id, setup) = try await checked(bytes)
        let info = try await setup.info(id)
        let served = try await setup.served(id)
        #expect(bytes.contains(TestPictures.secret) && !served.contains(TestPictures.secret))
        #expect(info["size"] as? Int == served.count)
        let size = [info["width"] as? Int, info["height"] as? Int]
        #expect(size == (name == "animated.gif" ? [150, 100] : [100, 150]))
        #expect(info["thumbnail"] as? Bool == true)
        let hash = Data(base64Encoded: try #require(info["thumbhash"] as? String))
        #expect((1...25).contains(try #require(hash).count))
        let thumbnail = try await setup.served(id, .thumbnail)
        #expect(thumbnail.count > 100 && !thumbnail.contains(TestPictures.secret))
        #expect(setup.metrics.thumbnails[.drawn] == 1)
        #expect(try await setup.query("select count(*) from attachment_chunks where variant = 2") == "0")
        await setup.close()
    }

    @Test("streams a large picture: the same outcome")
    func largePicture() async throws {
        let bytes = try [UInt8].noisyPicture(width: 1_700, height: 1_100)
        #expect(bytes.count > AttachmentBytes.heldByteCountMax)
        let (id, setup) = try await checked(bytes)
        let served = try await setup.served(id)
        #expect(served.count > AttachmentBytes.heldByteCountMax && !served.contains(TestPictures.secret))
        let info = try await setup.info(id)
        #expect(info["width"] as? Int == 1_700 && info["height"] as? Int == 1_100)
        #expect(info["thumbnail"] as? Bool == true)
        await setup.close()
    }

    @Test("remembers the digest of the bytes as uploaded, for a repeated PUT")
    func uploadedDigest() async throws {
        let bytes = try TestPictures.shared().bytes("orientation6.jpg")
        let (id, setup) = try await checked(bytes)
        let again = try await setup.store.beginUpload(
            id, owner: AttachmentSetup.owner, name: "file", declaredType: nil, length: bytes.count,
            rules: AttachmentSetup.rules)
        guard case .complete(bytes.count, let digest) = again else {
            Issue.record("\(again)")
            return
        }
        #expect(digest == SHA256.digest(bytes))
        await setup.close()
    }

    @Test("keeps files that are no pictures as they are")
    func otherFiles() async throws {
        let html = Array("<html><script>alert(1)</script>".utf8)
        let large = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 7) }
        for bytes in [html, large, []] {
            let (id, setup) = try await checked(bytes)
            let info = try await setup.info(id)
            #expect(try await setup.served(id) == bytes)
            #expect(info["content_type"] as? String == "application/octet-stream")
            #expect(info["width"] == nil && info["thumbhash"] == nil && info["thumbnail"] as? Bool == false)
            await setup.close()
        }
    }

    @Test("keeps a damaged picture as it is, as a file of unknown type, without size and thumbnail")
    func damaged() async throws {
        let bytes = Array(try TestPictures.shared().bytes("orientation1.png").prefix(20))
        let (id, setup) = try await checked(bytes)
        #expect(try await setup.served(id) == bytes)
        let info = try await setup.info(id)
        #expect(info["content_type"] as? String == "application/octet-stream")
        #expect(info["width"] == nil && info["thumbnail"] as? Bool == false)
        #expect(setup.metrics.unreadable.value == 1)
        await setup.close()
    }

    @Test("makes a picture ready without a thumbnail where parley-thumbnailer is missing or fails")
    func withoutThumbnailer() async throws {
        let bytes = try TestPictures.shared().bytes("orientation6.jpg")
        for (executable, outcome) in [
            ("/nonexistent/parley-thumbnailer", .missing), ("/bin/false", .failed), ("/bin/true", .failed),
        ] as [(String, AttachmentMetrics.ThumbnailOutcome)] {
            let (id, setup) = try await checked(bytes, thumbnailer: executable)
            let info = try await setup.info(id)
            #expect(info["width"] as? Int == 100 && info["height"] as? Int == 150)
            #expect(info["thumbnail"] as? Bool == false && info["thumbhash"] == nil)
            #expect(!(try await setup.served(id)).contains(TestPictures.secret))
            #expect(setup.metrics.thumbnails[outcome] == 1, "\(executable)")
            let isLogged = setup.lines.all.contains { $0.contains("drawing a thumbnail failed") }
            #expect(isLogged == (outcome == .failed))
            await setup.close()
        }
    }
}
