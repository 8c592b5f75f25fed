// Facts about a picture that its headers state, without decoding any pixel.

package struct PictureHeader: Sendable, Equatable {
    /// In pixels, as displayed: the orientation is applied. At least 1.
    package let width: Int
    package let height: Int
    /// EXIF's orientation, 1 to 8. 1: stored as displayed.
    package let orientation: Int
    /// At least 1. Stated by the file; an animation that was cut off has fewer.
    package let frameCount: Int
    /// Whether some pixels may be transparent.
    package let hasAlpha: Bool

    package var isAnimated: Bool { frameCount > 1 }

    /// Whether thumbnails are drawn. A larger picture is a file like any other, though without metadata.
    package var isDrawable: Bool {
        width <= Self.sideMax && height <= Self.sideMax && width * height <= Self.pixelCountMax
    }

    /// The sides are as stored in the file.
    init(storedWidth: Int, storedHeight: Int, orientation: Orientation, frameCount: Int, hasAlpha: Bool) {
        (width, height) = orientation.swapsSides ? (storedHeight, storedWidth) : (storedWidth, storedHeight)
        self.orientation = orientation.rawValue
        self.frameCount = max(frameCount, 1)
        self.hasAlpha = hasAlpha
    }

    /// Why the picture cannot be a thumbnail, as a sentence; nil if it can. Everyone who sees the message decodes it.
    package func thumbnailRefusal(sideMax: Int) -> String? {
        if width > sideMax || height > sideMax {
            return "Must have at most \(sideMax) pixels on each side. The picture has \(width) × \(height)."
        }
        return isAnimated ? "Must have one frame. The picture has \(frameCount)." : nil
    }

    /// The unit is a pixel.
    package static let sideMax = 16_384
    package static let pixelCountMax = 50_000_000
}

/// The bytes are no picture of the type that they begin as. The caller keeps them as a file like any other.
package struct UnreadablePicture: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
