import Basics
import Foundation
import TestSupport
import Testing

@testable import Pictures

/// Pictures made by hand, byte by byte.
@Suite("Hostile and unusual pictures", .timeLimit(.minutes(1)))
struct HostilePictures {
    private static let jpegStart: [UInt8] = [0xff, 0xd8]
    private static let jpegEnd: [UInt8] = [0xff, 0xd9]
    private static let html = Array("<html><script>alert(1)</script>".utf8)

    private static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, code, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xff)] + content
    }

    private static func frame(_ code: UInt8, width: UInt16, height: UInt16) -> [UInt8] {
        segment(
            code, [8, UInt8(height >> 8), UInt8(height & 0xff), UInt8(width >> 8), UInt8(width & 0xff), 1, 1, 0x11, 0])
    }

    private static let scan = segment(0xda, [1, 1, 0, 0, 63, 0])

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return UInt32(data.count).bigEndianBytes + body + CRC32.bytes(of: body)
    }

    private static func png(width: UInt32, height: UInt32, _ chunks: [UInt8]) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk("IHDR", width.bigEndianBytes + height.bigEndianBytes + [1, 0, 0, 0, 0]) + chunks
    }

    /// The beginning of a colour profile, and something else.
    private static let profile =
        UInt32(1_000).bigEndianBytes + [UInt8](repeating: 0, count: 32) + Array("acsp".utf8) + html

    private static func profileSegment(_ number: UInt8, of count: UInt8, _ content: [UInt8]) -> [UInt8] {
        segment(0xe2, Array("ICC_PROFILE\0".utf8) + [number, count] + content)
    }

    /// zlib without compression, not ended.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        [0x78, 1, 0, UInt8(bytes.count), 0, ~UInt8(bytes.count), 0xff] + bytes
    }

    private func cleaned(_ bytes: [UInt8]) throws -> [UInt8] { try CleanPicture(cleaning: bytes).bytes }

    @Test("a JPEG's scans stay byte for byte: stuffing, restart markers, tables and lines between scans")
    func scans() throws {
        let data: [UInt8] = [1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 0xff, 0, 0xff, 0xd7, 5]
        for code: UInt8 in [0xc0, 0xc1, 0xc2, 0xc9, 0xca] {
            let picture =
                Self.jpegStart + Self.segment(0xdb, [1, 2, 3]) + Self.frame(code, width: 40, height: 30)
                + Self.segment(0xcc, [1, 2]) + Self.segment(0xdd, [0, 4]) + Self.scan + data + Self.segment(0xc4, [9])
                + Self.scan + data + Self.segment(0xdc, [0, 30]) + Self.jpegEnd
            #expect(try cleaned(picture) == picture)
        }
    }

    @Test("a JPEG's fill bytes go, in scans and between segments")
    func fillBytes() throws {
        let fill: [UInt8] = [0xff, 0xff, 0xff]
        let frame = Self.frame(0xc0, width: 40, height: 30)
        func picture(_ fill: [UInt8]) -> [UInt8] {
            let scan = Self.scan + [1] + fill + [0xff, 0, 2] + fill + [0xff, 0xd4, 3] + fill
            return Self.jpegStart + fill + frame + fill + scan + Self.jpegEnd
        }
        #expect(try cleaned(picture(fill)) == picture([]))
        // Also at the end of a picture that was cut off.
        let start = Self.jpegStart + frame + Self.scan + [1]
        #expect(try cleaned(start + fill) == start)
    }

    @Test("a picture that breaks after its pixels have begun ends there, and keeps nothing that follows")
    func broken() throws {
        let jpeg = Self.jpegStart + Self.frame(0xc0, width: 40, height: 30) + Self.scan + [1, 2]
        for rest: [UInt8] in [
            [0xff, 0xd8] + Self.html, [0xff, 0xe1, 0, 1] + Self.html, [0xff, 0xe1, 1, 0] + Self.html,
        ] {
            #expect(try cleaned(jpeg + rest) == jpeg)
        }
        let png = Self.png(width: 8, height: 8, Self.chunk("IDAT", [1, 2, 3]))
        let metadata = Self.chunk("eXIf", Orientation.leftTop.tiff + Self.html)
        for rest in [
            Self.chunk("ABCD", Self.html), [0xff, 0xff, 0xff, 0xff] + Self.html, Array(metadata.dropLast(2)), [0, 0],
        ] {
            #expect(try cleaned(png + rest) == png)
        }
    }

    @Test("a JPEG's comments, unknown segments and stray bytes go, wherever they are")
    func segments() throws {
        let junk =
            Self.segment(0xfe, Self.html) + Self.segment(0xe3, Self.html) + Self.segment(0xef, [])
            + Self.segment(0xe2, Array("MPF\0".utf8) + Self.html) + Self.segment(0xe0, Array("AVI1".utf8))
            + Self.segment(0xee, Array("Adob".utf8)) + Self.segment(0xe1, Self.html) + Self.segment(0xed, Self.html)
            + Self.html + [0xff, 0] + [0xff, 0xd5] + Self.html
        let frame = Self.frame(0xc0, width: 40, height: 30)
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        let profile = Self.profileSegment(1, of: 1, Self.profile)
        let dirty =
            Self.jpegStart + junk + Self.segment(0xee, adobe + Self.html) + junk + profile + junk + frame + junk
            + Self.scan + [1, 2] + junk + Self.scan + [3] + Self.jpegEnd + junk + Self.html
        let clean = Self.jpegStart + Self.segment(0xee, adobe) + profile + frame + Self.scan + [1, 2] + Self.scan
        #expect(try cleaned(dirty) == clean + [3] + Self.jpegEnd)
    }

    @Test("a JPEG's orientation counts once, and only before its pixels")
    func orientations() throws {
        func exif(_ orientation: Orientation) -> [UInt8] {
            Self.segment(0xe1, Array("Exif\0\0".utf8) + orientation.tiff)
        }
        let frame = Self.frame(0xc0, width: 40, height: 30)
        let end = Self.scan + [1] + Self.jpegEnd
        let twice = try CleanPicture(cleaning: Self.jpegStart + exif(.rightTop) + exif(.bottomLeft) + frame + end)
        #expect(twice.header.orientation == 6)
        #expect(twice.bytes == Self.jpegStart + exif(.rightTop) + frame + end)
        let late = try CleanPicture(cleaning: Self.jpegStart + frame + Self.scan + [1] + exif(.rightTop) + end)
        #expect(late.header.orientation == 1)
        #expect(late.bytes == Self.jpegStart + frame + Self.scan + [1] + end)
        let upright = try CleanPicture(cleaning: Self.jpegStart + exif(.topLeft) + frame + end)
        #expect(upright.bytes == Self.jpegStart + frame + end)
    }

    @Test("a JPEG's colour profile stays in parts that begin like one and follow each other")
    func jpegProfiles() throws {
        let pixels = Self.frame(0xc0, width: 40, height: 30) + Self.scan + [1] + Self.jpegEnd
        func kept(_ parts: [[UInt8]]) throws -> [UInt8] {
            let bytes = try cleaned(Self.jpegStart + parts.joined() + pixels)
            return Array(bytes.dropFirst(2).dropLast(pixels.count))
        }
        let first = Self.profileSegment(1, of: 3, Self.profile)
        let (second, third) = (Self.profileSegment(2, of: 3, Self.html), Self.profileSegment(3, of: 3, Self.html))
        #expect(try kept([first, second, third]) == first + second + third)
        #expect(try kept([first, third, second]) == first + second)
        #expect(try kept([second, third]).isEmpty && kept([first, first]) == first)
        #expect(try kept([first, Self.profileSegment(2, of: 4, Self.html)]) == first)
        // No profile, one of no bytes, one of a size or in parts above the bound.
        let large = UInt32(512 * 1024).bigEndianBytes + Self.profile.dropFirst(4)
        for content in [Self.html + Self.html, [], Array(Self.profile.prefix(39)), large] {
            #expect(try kept([Self.profileSegment(1, of: 1, content)]).isEmpty)
        }
        #expect(try kept([Self.profileSegment(1, of: 9, Self.profile)]).isEmpty)
        let late = Self.jpegStart + pixels.dropLast(2)
        #expect(try cleaned(late + Self.profileSegment(1, of: 1, Self.profile) + Self.jpegEnd) == late + Self.jpegEnd)
    }

    @Test("a PNG's colour profile stays once, with a name, before the pixels and below 512 KiB")
    func pngProfiles() throws {
        let end = Self.chunk("IDAT", [1]) + Self.chunk("IEND", [])
        func isKept(_ data: [UInt8]) throws -> Bool {
            let dirty = Self.png(width: 8, height: 8, Self.chunk("iCCP", data) + end)
            let bytes = try cleaned(dirty)
            #expect(bytes == dirty || bytes == Self.png(width: 8, height: 8, end))
            return bytes == dirty
        }
        let name = Array("name\0\0".utf8)
        #expect(try isKept(name + Self.stored(Self.profile)))
        #expect(
            try !isKept([]) && !isKept(Self.html) && !isKept(Array("name".utf8) + [0, 1] + Self.stored(Self.profile)))
        #expect(try !isKept(name + Self.stored(Self.profile) + [UInt8](repeating: 0, count: 512 * 1024)))
        let profile = Self.chunk("iCCP", name + Self.stored(Self.profile))
        #expect(
            try cleaned(Self.png(width: 8, height: 8, profile + profile + end + profile))
                == Self.png(width: 8, height: 8, profile + end))
    }

    private static func webPChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        Array(type.utf8) + UInt32(data.count).littleEndianBytes + data + (data.count % 2 == 0 ? [] : [0])
    }

    private static func webP(_ flags: UInt8, _ chunks: [UInt8]) -> [UInt8] {
        let body = Array("WEBP".utf8) + webPChunk("VP8X", [flags, 0, 0, 0, 39, 0, 0, 29, 0, 0]) + chunks
        return Array("RIFF".utf8) + UInt32(body.count).littleEndianBytes + body
    }

    @Test("a WebP's colour profile goes unless it begins like one, and so does the flag that announces it")
    func webPProfiles() throws {
        let (chunk, file) = (Self.webPChunk, Self.webP)
        let pixels = chunk("VP8L", [0x2f, 39, 0x40, 7, 0, 1, 2])
        let (profile, other) = (chunk("ICCP", Self.profile), chunk("ICCP", Self.html + Self.html))
        #expect(try cleaned(file(0x20, profile + pixels)) == file(0x20, profile + pixels))
        #expect(try cleaned(file(0x20, profile + other + profile + pixels + profile)) == file(0x20, profile + pixels))
        for dirty in [other, chunk("ICCP", []), chunk("ICCP", Self.profile + [UInt8](repeating: 0, count: 512 * 1024))]
        {
            #expect(try cleaned(file(0x30, dirty + pixels)) == file(0x10, pixels))
        }
    }

    @Test("a GIF's colour profile goes: no browser reads it")
    func gifProfile() throws {
        let start = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
        let end: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0x44, 0, 0x3b]
        let profile = [0x21, 0xff, 11] + Array("ICCRGBG1012".utf8) + [UInt8(Self.profile.count)] + Self.profile + [0]
        #expect(try cleaned(start + profile + end) == start + end)
    }

    @Test("a PNG's frames are counted as its first acTL says, as decoders do")
    func frameCounts() throws {
        func control(_ count: UInt32) -> [UInt8] { Self.chunk("acTL", count.bigEndianBytes + [0, 0, 0, 0]) }
        let end = Self.chunk("IDAT", [1]) + Self.chunk("IEND", [])
        let picture = try CleanPicture(
            cleaning: Self.png(width: 8, height: 8, control(900) + control(1) + end + control(1)))
        #expect(picture.header.frameCount == 900)
        #expect(picture.bytes == Self.png(width: 8, height: 8, control(900) + end))
    }

    @Test("a GIF's XMP goes as a whole, with the bytes that end it for readers of blocks")
    func gif() throws {
        let start = Array("GIF89a".utf8) + [10, 0, 8, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
        let trailer = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        let xmp = [0x21, 0xff, 11] + Array("XMP DataXMP<x:xmpmeta>".utf8) + Self.html + trailer
        let plainText: [UInt8] = [0x21, 1, 12] + [UInt8](repeating: 1, count: 12) + [2, 0x41, 0x42, 0]
        let comment: [UInt8] = [0x21, 0xfe, UInt8(Self.html.count)] + Self.html + [0]
        let loop: [UInt8] = [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 5, 0]
        let buffering: [UInt8] = [5, 2, 0, 0, 0, 9]
        let control: [UInt8] = [0x21, 0xf9, 4, 1, 2, 0, 3, 0]
        let image: [UInt8] = [0x2c, 0, 0, 0, 0, 10, 0, 8, 0, 0, 2, 3, 0x44, 0x55, 0x66, 0]
        let dirty =
            start + xmp + loop + buffering + [0] + comment + control + plainText + image + xmp + [0] + control + image
            + [0x3b] + Self.html
        let picture = try CleanPicture(cleaning: dirty)
        #expect(picture.bytes == start + loop + [0] + control + image + control + image + [0x3b])
        #expect(picture.header.frameCount == 2)
        #expect(picture.header.hasAlpha)
    }

    @Test("a first GIF image that is larger than the screen enlarges the picture, as in browsers")
    func gifScreen() throws {
        let start = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
        let image: [UInt8] = [0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 0, 0x3b]
        let header = try CleanPicture(cleaning: start + image).header
        #expect((header.width, header.height) == (65_535, 65_535))
        #expect(!header.isDrawable)
    }

    @Test("a WebP frame's unknown chunk is overwritten, and the frame keeps its size")
    func webPFrame() throws {
        let (chunk, file) = (Self.webPChunk, Self.webP)
        let frameHead = [UInt8](repeating: 0, count: 16)
        let pixels = chunk("VP8L", [0x2f, 39, 0x40, 7, 0, 1, 2])
        let animation = chunk("ANIM", [1, 2, 3, 4, 0, 0])
        let dirty = file(
            0x2e,
            animation + chunk("ANMF", frameHead + pixels + chunk("EXIF", Self.html) + [9, 9]) + chunk("XMP ", Self.html)
        )
        let zeros = [UInt8](repeating: 0, count: Self.html.count)
        let clean = file(0x22, animation + chunk("ANMF", frameHead + pixels + chunk("JUNK", zeros) + [0, 0]))
        #expect(try cleaned(dirty + Self.html) == clean)
    }

    @Test("a picture without pixels, with pixels before its size, or with two sizes is a file")
    func unreadable() {
        let frame = Self.frame(0xc0, width: 40, height: 30)
        let files: [[UInt8]] = [
            Self.jpegStart + [0xff], Self.jpegStart + frame, Self.jpegStart + frame + Self.jpegEnd,
            Self.jpegStart + Self.scan + Self.jpegEnd, Self.jpegStart + frame + frame + Self.scan,
            Self.jpegStart + Self.frame(0xc0, width: 0, height: 30) + Self.scan, Self.jpegStart + [0xff, 0xe1, 0, 1],
            Self.jpegStart + [0xff, 0xf7, 0, 4, 1, 1] + frame + Self.scan,
            Self.png(width: 8, height: 8, []), Self.png(width: 0, height: 8, Self.chunk("IDAT", [])),
            Self.png(width: 8, height: 8, Self.chunk("CgBI", [])),
            Self.png(width: 8, height: 8, [0xff, 0xff, 0xff, 0xff] + Array("IDAT".utf8)),
            Array(Self.png(width: 8, height: 8, []).prefix(8)) + Self.chunk("IDAT", []),
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3b], Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x99],
            Array("RIFF\u{c}\0\0\0WEBPVP8 \0\0\0\0".utf8), Array("RIFF\0\0\0\0WEBPVP8 ".utf8),
            Array("<html>".utf8), [],
        ]
        for bytes in files {
            #expect(throws: UnreadablePicture.self, "\(bytes)") { try CleanPicture(cleaning: bytes) }
        }
    }

    @Test("bombs are read at the price of their bytes")
    func bombs() throws {
        let png = Self.png(width: 60_000, height: 60_000, Self.chunk("IDAT", [1, 2, 3]) + Self.chunk("IEND", []))
        #expect(try !CleanPicture(cleaning: png).header.isDrawable)
        let jpeg = Self.jpegStart + Self.frame(0xc2, width: 65_500, height: 65_500) + Self.scan + Self.jpegEnd
        #expect(try !CleanPicture(cleaning: jpeg).header.isDrawable)
        // Nothing is ever decompressed.
        // Of a compressed profile only the first bytes are read: here those of a profile, then a GiB of zeros.
        let bomb = Self.chunk(
            "iCCP", Array("a\0\0".utf8) + Self.stored(Self.profile) + [UInt8](repeating: 0, count: 100_000))
        let zipBomb = Self.png(width: 8, height: 8, bomb + Self.chunk("IDAT", []) + Self.chunk("IEND", []))
        #expect(try cleaned(zipBomb) == zipBomb)
        let manyChunks = Self.png(
            width: 8, height: 8,
            Array(repeatElement(Self.chunk("tEXt", []), count: 50_000).joined()) + Self.chunk("IDAT", []))
        #expect(try cleaned(manyChunks).count == 8 + 25 + 12)
    }

    @Test("a second pass over other bytes ends in an error")
    func changed() throws {
        let bytes = Self.png(width: 8, height: 8, Self.chunk("tEXt", [1]) + Self.chunk("IDAT", [1, 2, 3]))
        var scanner = try #require(PictureScanner(.png))
        try scanner.scan(bytes)
        var cleaner = PictureCleaner(try scanner.finish())
        var output: [UInt8] = []
        try cleaner.clean(Array(bytes.dropLast(3)), into: &output)
        #expect(throws: UnreadablePicture.self) { try cleaner.finish() }
    }

    @Test("types without a cleaner have no scanner")
    func others() {
        for type in MediaType.allCases { #expect((PictureScanner(type) != nil) == type.isDrawn) }
    }
}
