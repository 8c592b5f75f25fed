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
