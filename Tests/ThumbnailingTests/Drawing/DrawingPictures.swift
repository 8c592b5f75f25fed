// Thumbnails of all kinds of pictures, compared with Pillow's.
import Linux
import Logging
import TestSupport
import Testing
import Thumbnailing

@Suite("A thumbnail", .timeLimit(.minutes(1)))
struct DrawingPictures {
    @Test("looks like Pillow's of the same picture, for every format and orientation")
    func pillow() async throws {
        let pillow = try await Pillow("make")
        let names = try pillow.names
        var drawn: [String: Thumbnail] = [:]
        for name in names {
            guard case .drawn(let thumbnail) = try await draw(pillow.bytes(name)) else {
                Issue.record("\(name) was not drawn")
                continue
            }
            drawn[name] = thumbnail
            try pillow.write(thumbnail.bytes, to: name + ".thumbnail")
        }
        let lines = try await pillow.run("compare").split(separator: "\n")
        #expect(lines.count == names.count && names.count > 35)
        for line in lines {
            let fields = line.split(separator: " ").map(String.init)
            let name = fields[0]
            let thumbnail = try #require(drawn[name])
            let isTransparent = ["alpha", "transparent", "part"].contains { name.contains($0) }
            #expect(thumbnail.format == (isTransparent ? .webP : .jpeg), "\(line)")
            #expect(fields[1] == (isTransparent ? "WEBP" : "JPEG"), "\(line)")
            #expect([thumbnail.width, thumbnail.height] == [Int(fields[2]), Int(fields[3])], "\(line)")
            let difference = try #require(Double(fields[4]))
            #expect((0...Self.differenceMax).contains(difference), "\(line)")
            #expect((1...Thumbnail.thumbhashByteCountMax).contains(thumbnail.thumbhash.count))
        }
    }

    /// Of a channel, on average. A wrong orientation makes 80 and more.
    private static let differenceMax = 5.0

    @Test("has no metadata")
    func metadata() async throws {
        let pillow = try await Pillow("make")
        for name in ["orientation-6.jpg", "orientation-8.webp", "alpha.webp"] {
            guard case .drawn(let thumbnail) = try await draw(pillow.bytes(name)) else {
                Issue.record("\(name) was not drawn")
                continue
            }
            for mark in ["Exif", "EXIF", "XMP", "ICCP"] {
                #expect(!thumbnail.bytes.contains(Array(mark.utf8)), "\(name) has \(mark)")
            }
        }
    }

    @Test("is missing for a file that is damaged or no picture, and for a GIF or JPEG it has what can be read")
    func damaged() async throws {
        let pillow = try await Pillow("make")
        for name in ["colour.png", "interlaced.png", "lossy.webp", "lossless.webp", "animated.webp", "colour.gif"] {
            let bytes = try pillow.bytes(name)
            for share in [0.001, 0.01, 0.1, 0.5, 0.9] {
                let drawing = try await draw(Array(bytes.prefix(Int(Double(bytes.count) * share))))
                let isPartial = if case .drawn = drawing { true } else { false }
                let mayBePartial = name.hasSuffix("gif") || name.hasPrefix("animated")
                #expect(drawing == .unreadable || (mayBePartial && isPartial), "\(name) cut at \(share): \(drawing)")
            }
        }
        let jpeg = try pillow.bytes("progressive.jpg")
        guard case .drawn = try await draw(Array(jpeg.prefix(jpeg.count / 2))) else {
            Issue.record("half a JPEG was not drawn")
            return
        }
        for text in ["", "GIF89a", "RIFF", "\u{89}PNG", "<svg xmlns='http://www.w3.org/2000/svg'/>"] {
            #expect(try await draw(Array(text.utf8)) == .unreadable)
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
