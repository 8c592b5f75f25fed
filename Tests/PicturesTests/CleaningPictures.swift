import Foundation
import TestSupport
import Testing

@testable import Pictures

/// Other programs judge: Pillow decodes pixels, exiftool searches metadata.
@Suite("Cleaning pictures", .timeLimit(.minutes(1)))
struct CleaningPictures {
    private static let cleaned = Result { try TestPictures.shared().map { try cleaning($1) } }

    private static func cleaning(_ bytes: [UInt8]) throws -> [UInt8] { try CleanPicture(cleaning: bytes).bytes }

    @Test("leaves pixels, display, colour profile and animation as they were")
    func pixels() throws {
        let (before, after) = (try TestPictures.shared(), try Self.cleaned.get())
        #expect(try before.all().count >= 45)
        let differences = try before.differences(from: after)
        #expect(differences.isEmpty, "\(differences)")
    }

    @Test("leaves no tag that exiftool finds, but those of pixels, colours and orientation")
    func tags() throws {
        let groups = [
            "ExifTool", "System", "File", "JFIF", "Adobe", "PNG", "PNG-pHYs", "GIF", "RIFF", "ICC-", "ICC_Profile",
            "Composite", "IFD0",
        ]
        let forbidden = ["Comment", "Author", "XMP", "Text", "ModifyDate", "Serial", "GPS", "Thumbnail"]
        func isLeft(_ line: String) -> Bool {
            let tag = line.split(separator: ": ")[1]
            if tag == "SourceFile" || tag == "System:FileModifyDate" { return false }
            if tag.hasPrefix("IFD0:") { return tag != "IFD0:Orientation" }
            return !groups.contains { tag.hasPrefix($0) } || forbidden.contains { tag.contains($0) }
        }
        // The same search finds plenty before.
        let before = try TestPictures.shared().tags().filter(isLeft)
        for group in [
            "GPS:GPSLatitude", "ExifIFD:SerialNumber", "IFD1:ThumbnailImage", "XMP-dc:Creator", "IPTC:Keywords",
        ] {
            #expect(before.count { $0.hasSuffix(group) } >= 8, "\(group)")
        }
        let left = try Self.cleaned.get().tags().filter(isLeft)
        #expect(left.isEmpty, "\(left)")
    }

    @Test("leaves no text of metadata in any byte")
    func texts() throws {
        for (name, bytes) in try Self.cleaned.get().all() {
            #expect(!Data(bytes).contains(secret: TestPictures.secret), "\(name)")
        }
    }

    @Test("changes nothing the second time")
    func twice() throws {
        for (name, bytes) in try Self.cleaned.get().all() {
            let type = try #require(MediaType.sniff(bytes))
            var scanner = try #require(PictureScanner(type))
            try scanner.scan(bytes)
            let picture = try scanner.finish()
            #expect(picture.isClean, "\(name)")
            #expect(picture.cleanByteCount == bytes.count, "\(name)")
            var cleaner = PictureCleaner(picture)
            var output: [UInt8] = []
            try cleaner.clean(bytes, into: &output)
            #expect(output == bytes, "\(name)")
        }
    }

    @Test("returns the same bytes, however the input is cut into pieces", arguments: [1, 2, 7, 300, 20_000])
    func pieces(byteCountMax: Int) throws {
        var random = SplitMix64(freshFor: "pictures in pieces of at most \(byteCountMax) bytes")
        let whole = try Self.cleaned.get()
        for (name, bytes) in try TestPictures.shared().all() where byteCountMax > 2 || bytes.count < 10_000 {
            let (picture, output) = try clean(pieces: bytes.pieces(ofAtMost: byteCountMax, &random))
            #expect(try output == whole.bytes(name), "\(name)")
            #expect(output.count == picture.cleanByteCount, "\(name)")
            #expect(!picture.isClean || output == bytes, "\(name)")
        }
    }

    @Test("keeps no metadata of a picture that was cut off, if it keeps it as a picture")
    func cutOff() throws {
        var readable = 0
        for (name, bytes) in try TestPictures.shared().all() {
            for hundredth in 0..<100 {
                let part = Array(bytes.prefix(bytes.count * hundredth / 100))
                guard let picture = try? CleanPicture(cleaning: part) else { continue }
                readable += 1
                #expect(!Data(picture.bytes).contains(secret: TestPictures.secret), "\(name), \(hundredth) %")
                #expect(try Self.cleaning(picture.bytes) == picture.bytes, "\(name), \(hundredth) %")
            }
        }
        #expect(readable > 1_000)
    }

    @Test("of a JPEG that was cut off inside its pixels leaves what was there of them")
    func cutOffPixels() throws {
        let bytes = try TestPictures.shared().bytes("orientation6.jpg")
        let part = Array(bytes.dropLast(500))
        let picture = try CleanPicture(cleaning: part)
        #expect(picture.header.orientation == 6)
        #expect(picture.bytes == Array(try Self.cleaning(bytes).dropLast(500)))
    }

    @Test("of a WebP that was cut off inside its metadata, and states a byte too many, states the right size")
    func cutOffWebP() throws {
        let head = Array("RIFF".utf8) + [49, 0, 0, 0] + Array("WEBP".utf8)
        let features = Array("VP8X".utf8) + [10, 0, 0, 0, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let pixels = Array("VP8L".utf8) + [6, 0, 0, 0, 0x2f, 0, 0, 0, 0, 0]
        let metadata = Array("XMP ".utf8) + [4, 0, 0, 0, 1, 2]
        let picture = try CleanPicture(cleaning: head + features + pixels + metadata)
        #expect(Int(picture.bytes[4]) == picture.bytes.count - 8)
        #expect(try Self.cleaning(picture.bytes) == picture.bytes)
    }
}

extension Data {
    fileprivate func contains(secret: [UInt8]) -> Bool { range(of: Data(secret)) != nil }
}

extension [UInt8] {
    /// Cuts the bytes at random places.
    func pieces(ofAtMost byteCountMax: Int, _ random: inout SplitMix64) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = self[...]
        while !rest.isEmpty {
            pieces.append(Array(rest.prefix(1 + random.below(byteCountMax))))
            rest = rest.dropFirst(pieces[pieces.count - 1].count)
        }
        return pieces
    }
}

/// Cleans a picture in both passes, piece by piece.
func clean(pieces: [[UInt8]]) throws -> (picture: ScannedPicture, output: [UInt8]) {
    let type = try #require(MediaType.sniff(Array(pieces.joined())))
    var scanner = try #require(PictureScanner(type))
    for piece in pieces { try scanner.scan(piece) }
    let picture = try scanner.finish()
    var cleaner = PictureCleaner(picture)
    var output: [UInt8] = []
    for piece in pieces { try cleaner.clean(piece, into: &output) }
    try cleaner.finish()
    return (picture, output)
}
