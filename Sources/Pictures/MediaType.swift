// The types of files that the service recognises by their first bytes. A client's claim about a type counts for nothing.

/// The raw value is the MIME type. HTML, SVG and other text are not in this list, and never will be: a file that looks
/// like them must not run in a browser.
package enum MediaType: String, Sendable, CaseIterable {
    case jpeg = "image/jpeg"
    /// The type includes animated PNG.
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case heif = "image/heif"
    case avif = "image/avif"
    case mp4 = "video/mp4"
    case mp4Audio = "audio/mp4"
    case quickTime = "video/quicktime"
    case threeGPP = "video/3gpp"
    case webm = "video/webm"
    case mp3 = "audio/mpeg"
    case ogg = "application/ogg"
    case oggAudio = "audio/ogg"
    case oggVideo = "video/ogg"
    case wav = "audio/wav"
    case flac = "audio/flac"
    case pdf = "application/pdf"
    case zip = "application/zip"
    case gzip = "application/gzip"

    /// Whether a browser may show the file in its own window: `Content-Disposition: inline`.
    package var isShownInline: Bool {
        switch self {
        case .jpeg, .png, .gif, .webp, .mp4, .mp4Audio, .webm, .mp3, .ogg, .oggAudio, .oggVideo: true
        case .heic, .heif, .avif, .quickTime, .threeGPP, .wav, .flac, .pdf, .zip, .gzip: false
        }
    }

    /// Whether the service removes metadata and draws thumbnails: what `PictureScanner` and parley-thumbnailer read.
    package var isDrawn: Bool {
        switch self {
        case .jpeg, .png, .gif, .webp: true
        default: false
        }
    }
}
