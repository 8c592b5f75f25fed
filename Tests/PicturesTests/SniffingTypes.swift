import TestSupport
import Testing

@testable import Pictures

@Suite("Sniffing types", .timeLimit(.minutes(1)))
struct SniffingTypes {
    private static func box(_ brands: String...) -> [UInt8] {
        [0, 0, 0, UInt8(12 + 4 * brands.count)] + Array("ftyp".utf8) + Array(brands[0].utf8) + [0, 0, 2, 0]
            + brands.dropFirst().joined().utf8
    }

    private static func page(_ packet: [UInt8]) -> [UInt8] {
        Array("OggS\0\u{2}".utf8) + [UInt8](repeating: 0, count: 20) + [1, UInt8(packet.count)] + packet
    }

    private static func ebml(_ type: String) -> [UInt8] {
        [0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x80 | UInt8(type.utf8.count)] + type.utf8
    }

    /// A frame of 128 kbit/s at 44.1 kHz has 417 bytes.
    private static let mp3Frame: [UInt8] = [0xff, 0xfb, 0x90, 0x44] + [UInt8](repeating: 0, count: 413)

    static let known: [([UInt8], MediaType)] = [
        ([0xff, 0xd8, 0xff, 0xe0], .jpeg), ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], .png),
        (Array("GIF87a".utf8), .gif), (Array("GIF89a<html><script>".utf8), .gif),
        (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), .webp), (Array("RIFF\0\0\0\0WAVEfmt ".utf8), .wav),
        (box("heic", "mif1", "heic"), .heic), (box("mif1", "mif1", "heic"), .heic),
        (box("mif1", "mif1", "avif"), .avif),
        (box("mif1", "mif1"), .heif), (box("avif", "mif1", "miaf"), .avif), (box("isom", "isom", "avc1"), .mp4),
        (box("mp42"), .mp4), (box("M4A ", "mp42"), .mp4Audio), (box("qt  "), .quickTime),
        (box("3gp4", "isom"), .threeGPP),
        (box("XYZ1", "mp41"), .mp4), (ebml("webm"), .webm),
        (Array("ID3\u{4}\0\0".utf8), .mp3), (mp3Frame + mp3Frame, .mp3),
        (page(Array("OpusHead".utf8)), .oggAudio), (page(Array("\u{1}vorbis".utf8)), .oggAudio),
        (page([0x80] + Array("theora".utf8)), .oggVideo), (page(Array("fishead\0".utf8)), .ogg),
        (Array("OggS\0".utf8), .ogg), (Array("fLaC".utf8), .flac), (Array("%PDF-1.7".utf8), .pdf),
        (Array("PK\u{3}\u{4}".utf8), .zip), ([0x1f, 0x8b, 8, 0], .gzip),
    ]

    @Test("recognises a type by its first bytes", arguments: known)
    func types(bytes: [UInt8], type: MediaType) {
        #expect(MediaType.sniff(bytes) == type)
        #expect(MediaType.sniff(bytes + [UInt8](repeating: 0x41, count: 10_000)) == type)
    }

    @Test(
        "knows nothing that a browser would run, nor text, nor what has no signature",
        arguments: [
            "<!DOCTYPE html><script>alert(1)</script>", "<html>", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            "<?xml version=\"1.0\"?><svg/>", "\u{feff}<svg/>", "#!/bin/sh", "hello", "", "GIF8", "GIF90a", "RIFF",
            "RIFF\0\0\0\0AVI ",
            "BM", "\0\0\0\u{18}ftypcrx ", "\0\0\0\u{8}ftyp", "ftyp", "%!PS", "PK",
        ])
    func others(text: String) { #expect(MediaType.sniff(Array(text.utf8)) == nil) }

    @Test("does not take Matroska for WebM, nor a lone frame for MP3")
    func nearMisses() {
        #expect(MediaType.sniff(Self.ebml("matroska")) == nil)
        #expect(MediaType.sniff(Self.ebml("webmx")) == nil)
        #expect(MediaType.sniff(Self.mp3Frame) == nil)
        #expect(MediaType.sniff(Self.mp3Frame + Array("<html>".utf8)) == nil)
        #expect(MediaType.sniff([0xff, 0xfe, 0x41, 0, 0x42, 0]) == nil)
    }

    @Test("has no type of active content, and shows only these inline")
    func closed() {
        for type in MediaType.allCases {
            #expect(!["html", "xml", "svg", "script", "text"].contains { type.rawValue.contains($0) })
        }
        let inline = MediaType.allCases.filter(\.isShownInline).map(\.rawValue)
        #expect(
            inline == [
                "image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "audio/mp4", "video/webm",
                "audio/mpeg",
                "application/ogg", "audio/ogg", "video/ogg",
            ])
        #expect(MediaType.allCases.filter(\.isDrawn) == [.jpeg, .png, .gif, .webp])
    }

    @Test("ends for every beginning")
    func fuzz() {
        var mutations = Mutations(of: Self.known.map(\.0), words: [[0xff], [0, 0, 0, 0], [0x7f]], seed: Fuzzing.seed)
        for _ in 0..<20_000 { _ = MediaType.sniff(mutations.next()) }
    }
}
