// Attachments in messages: what may be sent, and what the stored message and its event have. Pictures: what is known
// of them once they are ready.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Messages with files", .timeLimit(.minutes(3)))
    struct MessagesWithFiles: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        private var a: Connection { Connection(nodes.a.address) }
        private var b: Connection { Connection(nodes.b.address) }

        @Test("a ready picture has its size as displayed, a thumbhash and a thumbnail")
        func picture() async throws {
            let pictures = try await TestPictures.shared()
            // 480 × 320 pixels are stored. Orientations from 5 on turn them by a quarter.
            for orientation in 1...8 {
                let info = try await a.uploaded(
                    try pictures["orientation-\(orientation).jpg"], name: "a.jpg", as: ann)
                let (width, height) = orientation < 5 ? (480, 320) : (320, 480)
                #expect(info["width"].int == width && info["height"].int == height, "\(orientation): \(info)")
                #expect(info["content_type"] == "image/jpeg" && info["thumbnail"] == true, "\(info)")
                let hash = info["thumbhash"].string.flatMap { Data(base64Encoded: $0) }
                #expect((5...40).contains(hash?.count ?? 0), "\(info)")
                let id = info["id"].string ?? ""
                let thumbnail = try await b.download(id, "/thumbnail", as: ann)
                #expect(
                    thumbnail.status == 200 && thumbnail.headers["content-type"] == "image/jpeg", "\(thumbnail.headers)"
                )
                #expect(thumbnail.headers["etag"] == "\"\(thumbnail.digest)\"")
                let whole = try await b.download(id, as: ann)
                #expect(whole.headers["etag"] == "\"\(whole.digest)\"" && info["size"].int == whole.body.count)
            }
        }

        @Test("the owner's own thumbnail wins, and may be JPEG, PNG or WebP of up to 256 KiB")
        func ownThumbnail() async throws {
            let pictures = try await TestPictures.shared()
            let id = try await a.uploaded(TestFile.random(5_000).bytes, as: ann)["id"].string ?? ""
            let path = Attachments.path(id, "/thumbnail")
            #expect(try await b.get(path, as: ann).status == 404)
            for name in ["small.png", "small.webp", "small.jpg"] {
                let picture = try pictures[name]
                let put = try await a.transfer("PUT", path, picture, as: ann)
                #expect([200, 201].contains(put.status) && put.json["thumbnail"] == true, "\(name): \(put)")
                #expect(try await b.get(path, as: ann).status == 200)
            }
            let wrong = [Data("<svg/>".utf8), try pictures["small.gif"], TestFile.random(262_145).bytes]
            for (bytes, statuses) in zip(wrong, [[415, 422], [415, 422], [413]]) {
                let answer = try await a.transfer("PUT", path, bytes, as: ann)
                #expect(statuses.contains(answer.status), "\(answer)")
            }
            #expect(try await a.transfer("PUT", path, try pictures["small.png"], as: bob).status == 404)
        }

        @Test("message and event have the whole object for each attachment, in the order sent")
        func embedded() async throws {
            let picture = try await a.uploaded(
                try await TestPictures.shared()["orientation-6.jpg"], name: "A \"photo\" \\ ü.jpg", as: ann)
            let file = try await a.uploaded(TestFile.random(1_000).bytes, name: "b.bin", as: ann)
            let ids = [picture, file].compactMap { $0["id"].string }
            let sent = try await a.share(ids, in: thread, as: ann, more: ["id": .string(newID())])
            #expect(sent.status == 201, "\(sent)")
            let expected: JSON = .array(
                [picture, file].map { attachment in
                    .object(
                        Dictionary(
                            uniqueKeysWithValues: attachment.keys.subtracting(["state", "created_at"]).map {
                                ($0, attachment[$0])
                            }))
                })
            #expect(sent.json["payload"]["attachments"] == expected, "\(sent)")
            let event = try await b.syncUntilTold(bob, from: start, wait: 5).told.first
            #expect(event?["data"]["payload"]["attachments"] == expected, "\(String(describing: event))")
            let id = sent.json["id"].string ?? ""
            let path = "/v1/threads/\(thread)/messages"
            #expect(try await b.get("\(path)/\(id)", as: bob).json["payload"]["attachments"] == expected)
            #expect(try await b.get(path, as: bob).json["messages"][0]["payload"]["attachments"] == expected)
            let inbox = try await b.get("/v1/inbox", as: bob).json["threads"][0]
            #expect(inbox["last_message"]["payload"]["attachments"] == expected, "\(inbox)")
            for id in ids { #expect(try await b.download(id, as: bob).status == 200) }
        }

        @Test("the same message again: 200; with another attachment: 409")
        func retry() async throws {
            let file = TestFile.random(1_000).bytes
            let ids = [try await a.uploaded(file, as: ann), try await a.uploaded(file, as: ann)]
                .compactMap { $0["id"].string }
            let message = newID()
            let first = try await a.share([ids[0]], in: thread, as: ann, id: message)
            #expect(first.status == 201, "\(first)")
            let second = try await b.share([ids[0]], in: thread, as: ann, id: message)
            #expect(second.status == 200 && second.json == first.json, "\(second)")
            #expect(try await b.share([ids[1]], in: thread, as: ann, id: message).status == 409)
        }

        @Test("text may come with attachments; encrypted messages have them, too")
        func types() async throws {
            let id = try await a.uploaded(TestFile.random(1_000).bytes, as: ann)["id"].string ?? ""
            let attachments: JSON = [["id": .string(id)]]
            for body in [
                ["payload": ["text": "look", "attachments": attachments]],
                ["type": "encrypted", "payload": ["ciphertext": "aGVsbG8=", "attachments": attachments]],
            ] as [JSON] {
                let sent = try await a.post("/v1/threads/\(thread)/messages", body, as: ann)
                #expect(sent.status == 201 && sent.json["payload"]["attachments"][0]["size"] == 1_000, "\(sent)")
            }
        }

        @Test("not ready: 409; unknown, another's, too many, or another form: 422")
        func refusals() async throws {
            let receiving = newID()
            _ = try await a.begin(receiving, as: ann)
            let early = try await a.share([receiving], in: thread, as: ann)
            #expect(early.status == 409 && early.code == "attachment_not_ready", "\(early)")
            #expect(try await a.share([receiving], in: thread, as: bob).status == 422)

            let own = try await a.uploaded(TestFile.random(10).bytes, as: ann)["id"].string ?? ""
            for (ids, person) in [([newID()], ann), ([own], bob), ([own, newID()], ann), (["x"], ann)] {
                let answer = try await a.share(ids, in: thread, as: person)
                #expect(answer.status == 422 && !answer.json["errors"].items.isEmpty, "\(answer)")
            }
            var eleven: [String] = []
            for _ in 0..<11 {
                eleven.append(try await a.uploaded(TestFile.random(10).bytes, as: ann)["id"].string ?? "")
            }
            #expect(try await a.share(eleven, in: thread, as: ann).status == 422)
            #expect(try await a.share(eleven.dropLast(), in: thread, as: ann).status == 201)
            for attachments in [["id"], [["id": .string(own), "colour": 3]], [[:]], "x", [["id": 1]]] as [JSON] {
                let answer = try await a.post(
                    "/v1/threads/\(thread)/messages", ["payload": ["attachments": attachments]], as: ann)
                #expect(answer.status == 422, "\(attachments): \(answer)")
            }
        }

        @Test("profile and thread accept the caller's own ready picture, and nothing else")
        func pictures() async throws {
            let picture = try await a.uploaded(try await TestPictures.shared()["small.png"], as: ann)["id"].string ?? ""
            let file = try await a.uploaded(TestFile.random(10).bytes, as: ann)["id"].string ?? ""
            let group = try await a.thread("group", by: ann, with: [bob])
            for (path, field) in [("/v1/users/me", "profile_image"), ("/v1/threads/\(group)", "image")] {
                for wrong in ["attachment:\(newID())", "attachment:x", "attachment:\(file)"] {
                    let answer = try await a.call("PATCH", path, [field: .string(wrong)], as: ann)
                    #expect([409, 422].contains(answer.status), "\(wrong): \(answer)")
                }
                let set = try await a.call("PATCH", path, [field: "attachment:\(picture)"], as: ann)
                #expect(set.status == 200 && set.json[field] == "attachment:\(picture)", "\(set)")
            }
            let stolen = try await a.call("PATCH", "/v1/users/me", ["profile_image": "attachment:\(picture)"], as: bob)
            #expect(stolen.status == 422, "\(stolen)")
        }
    }
}
