// The outcome of drawing a picture.
@_exported import ThumbnailFormat

/// The outcome of drawing one picture. In every case but `drawn` the file has no thumbnail.
package enum Drawing: Sendable, Equatable {
    case drawn(Thumbnail)
    /// The file is no JPEG, PNG, GIF or WebP, or it is damaged.
    case unreadable
    /// The picture exceeds `PictureLimits`.
    case tooLarge
    /// The process was killed at the end of its time.
    case timedOut
    /// The process met a limit of its sandbox (SIGSYS, SIGXCPU), ran out of memory, or a decoder crashed.
    case killed(signal: Int32)
    /// parley-thumbnailer is not installed.
    case missing
    /// The process could not start, could not install its sandbox, or wrote no thumbnail. Says why.
    case failed(String)
}

/// Too many pictures wait for their turn.
package enum ThumbnailerBusy: Error, CustomStringConvertible {
    /// The owner's pictures fill the owner's part of the line.
    case owner
    /// The pictures of all owners fill the line. Retry later.
    case all

    package var description: String {
        switch self {
        case .owner: "too many pictures of the owner wait for a thumbnail"
        case .all: "too many pictures wait for a thumbnail"
        }
    }
}
