// Recognises a file by its first bytes, as the WHATWG's MIME Sniffing Standard does, for the types in MediaType.

extension MediaType {
    /// The first bytes that `sniff` looks at, at most. Fewer suffice for most types, and all that there are for a
    /// smaller file.
    package static let sniffedByteCount = 4096

    /// Returns the type of a file that begins with these bytes. Nil: `application/octet-stream`.
    package static func sniff(_ bytes: [UInt8]) -> MediaType? {
        let prefix = Array(bytes.prefix(sniffedByteCount))
        let signatures: [(MediaType, [UInt8])] = [
            (.jpeg, [0xff, 0xd8, 0xff]),
            (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
            (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)),
            (.mp3, Array("ID3".utf8)),
            (.flac, Array("fLaC".utf8)),
            (.pdf, Array("%PDF-".utf8)),
            (.zip, [0x50, 0x4b, 3, 4]), (.zip, [0x50, 0x4b, 5, 6]),
            (.gzip, [0x1f, 0x8b, 8]),
        ]
        if let (type, _) = signatures.first(where: { prefix.starts(with: $0.1) }) { return type }
        if prefix.has("RIFF", at: 0) {
            return prefix.has("WEBP", at: 8) ? .webp : prefix.has("WAVE", at: 8) ? .wav : nil
        }
        if prefix.has("ftyp", at: 4) { return isoMedia(prefix) }
        if prefix.has("OggS\0", at: 0) { return ogg(prefix) }
        if prefix.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) { return isWebM(prefix) ? .webm : nil }
        return isMP3(prefix) ? .mp3 : nil
    }

    /// ISO base media files name their brands in the first box: the main one, a version, then all others.
    private static func isoMedia(_ prefix: [UInt8]) -> MediaType? {
        let boxByteCount = min(Int(bigEndian: prefix[0..<4]), prefix.count)
        guard boxByteCount >= 16 else { return nil }
        let brands = stride(from: 8, through: boxByteCount - 4, by: 4).filter { $0 != 12 }.map {
            String(decoding: prefix[$0..<($0 + 4)], as: UTF8.self)
        }
        let types = brands.compactMap(brand)
        // HEIF's own brand says nothing about the codec, which another brand names.
        return types.first == .heif ? types.first { $0 == .avif || $0 == .heic } ?? .heif : types.first
    }

    private static func brand(_ name: String) -> MediaType? {
        switch name {
        case "avif", "avis": .avif
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heic
        case "mif1", "mif2", "msf1": .heif
        case "qt  ": .quickTime
        case "M4A ", "M4B ", "M4P ": .mp4Audio
        case "isom", "mp41", "mp42", "mp71", "avc1", "dash", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8",
            "iso9", "M4V ", "M4VH", "M4VP", "MSNV", "NDSC", "NDSH", "f4v ", "mmp4":
            .mp4
        case _ where name.hasPrefix("3gp") || name.hasPrefix("3g2"): .threeGPP
        default: nil
        }
    }

    /// The first page of an Ogg file has the first codec's name. Sound with a cover picture begins with the sound.
    private static func ogg(_ prefix: [UInt8]) -> MediaType {
        guard prefix.count > 26 else { return .ogg }
        let packet = 27 + Int(prefix[26])
        let audio: [StaticString] = ["OpusHead", "\u{1}vorbis", "Speex   ", "\u{7f}FLAC"]
        if audio.contains(where: { prefix.has($0, at: packet) }) { return .oggAudio }
        let video = prefix.dropFirst(packet).starts(with: [0x80] + Array("theora".utf8))
        return video ? .oggVideo : .ogg
    }

    /// Matroska files name their kind in an element of the first one (RFC 8794): id 0x4282, then its size.
    private static func isWebM(_ prefix: [UInt8]) -> Bool {
        let name = Array("webm".utf8)
        // WHATWG: within the first 38 bytes. Programs leave larger gaps.
        for start in 4..<64 where prefix.dropFirst(start).starts(with: [0x42, 0x82]) {
            // A size of one byte has its highest bit set.
            guard let size = prefix.dropFirst(start + 2).first, size >= 0x84 else { return false }
            let value = prefix.dropFirst(start + 3).prefix(Int(size & 0x7f))
            return value.starts(with: name) && value.dropFirst(name.count).allSatisfy { $0 == 0 }
        }
        return false
    }

    /// Without a tag, MP3 is a row of frames without any signature: two of them must follow each other.
    private static func isMP3(_ prefix: [UInt8]) -> Bool {
        guard let byteCount = mp3FrameByteCount(prefix[...]) else { return false }
        return mp3FrameByteCount(prefix.dropFirst(byteCount)) != nil
    }

    /// The size of the MPEG audio frame, layer III, that begins here (ISO 11172-3, 13818-3).
    private static func mp3FrameByteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        let head = Array(bytes.prefix(4))
        guard head.count == 4, head[0] == 0xff, head[1] & 0xe6 == 0xe2 else { return nil }
        let version = head[1] >> 3 & 3
        let (rate, frequency) = (Int(head[2] >> 4), Int(head[2] >> 2 & 3))
        guard version != 1, 1...14 ~= rate, frequency != 3 else { return nil }
        let isFirst = version == 3
        let kilobits =
            isFirst
            ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][rate - 1]
            : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][rate - 1]
        let hertz = [44_100, 48_000, 32_000][frequency] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let padding = Int(head[2] >> 1 & 1)
        return (isFirst ? 144_000 : 72_000) * kilobits / hertz + padding
    }
}

extension [UInt8] {
    fileprivate func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { dropFirst(offset).starts(with: $0) }
    }
}
