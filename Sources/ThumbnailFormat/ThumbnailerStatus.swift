// The exit statuses of parley-thumbnailer. 0: standard output has one thumbnail.

/// Why parley-thumbnailer drew nothing. A process ended by a signal met a limit of its sandbox or a fault of a decoder.
package enum ThumbnailerStatus: Int32, Error, Sendable {
    /// Reading, writing or encoding failed, or memory ran out.
    case failed = 1
    /// The input is no picture of a known format, or it is damaged.
    case unreadable = 2
    /// The picture has more pixels or bytes than `PictureLimits` permit.
    case tooLarge = 3
    /// The sandbox could not be installed, so nothing was read.
    case noSandbox = 4
}

/// The largest pictures that are drawn.
package enum PictureLimits {
    package static let pixelCountMax = 50_000_000
    package static let sideMax = 16_384
    /// The whole input and up to 200 MB of pixels must fit into 512 MiB of memory.
    package static let byteCountMax = 100 << 20
}
