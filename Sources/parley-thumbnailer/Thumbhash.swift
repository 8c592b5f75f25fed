// ThumbHash by Evan Wallace (https://evanw.github.io/thumbhash/): a picture in at most 25 bytes, which a client draws as
// a blurred placeholder. The computation follows the reference implementation.
import Glibc

enum Thumbhash {
    /// Larger pictures cost time and gain nothing.
    static let sideMax = 100

    /// Returns the hash of a picture of at most `sideMax` pixels a side.
    static func encode(_ bitmap: Bitmap) -> [UInt8] {
        let size = bitmap.size
        precondition(size.width <= sideMax && size.height <= sideMax)
        let channels = Channels(bitmap)
        let longer = Double(max(size.width, size.height))
        // Fewer terms of lightness if alpha needs room.
        let limit = channels.hasAlpha ? 5.0 : 7.0
        let lightX = max(1, rounded(limit * Double(size.width) / longer))
        let lightY = max(1, rounded(limit * Double(size.height) / longer))
        let light = Waves(channels.light, size, countX: max(3, lightX), countY: max(3, lightY))
        let yellow = Waves(channels.yellow, size, countX: 3, countY: 3)
        let red = Waves(channels.red, size, countX: 3, countY: 3)

        let isLandscape = size.width > size.height
        var header = rounded(63 * light.constant)
        header |= rounded(31.5 + 31.5 * yellow.constant) << 6
        header |= rounded(31.5 + 31.5 * red.constant) << 12
        header |= rounded(31 * light.scale) << 18
        header |= channels.hasAlpha ? 1 << 23 : 0
        header |= (isLandscape ? lightY : lightX) << 24
        header |= rounded(63 * yellow.scale) << 27
        header |= rounded(63 * red.scale) << 33
        header |= isLandscape ? 1 << 39 : 0
        var hash = (0..<5).map { UInt8(truncatingIfNeeded: header >> (8 * $0)) }
        var factors = light.factors + yellow.factors + red.factors
        if channels.hasAlpha {
            let alpha = Waves(channels.alpha, size, countX: 5, countY: 5)
            hash.append(UInt8(rounded(15 * alpha.constant) | rounded(15 * alpha.scale) << 4))
            factors += alpha.factors
        }
        let nibbles = factors.map { UInt8(rounded(15 * $0)) }
        for index in stride(from: 0, to: nibbles.count, by: 2) {
            hash.append(nibbles[index] | (index + 1 < nibbles.count ? nibbles[index + 1] << 4 : 0))
        }
        return hash
    }

    /// Rounds halves up, as the reference does.
    private static func rounded(_ value: Double) -> Int { Int((value + 0.5).rounded(.down)) }
}

/// A picture's lightness, its balances of yellow to blue and red to green, and its alpha. Colours are drawn on the
/// average colour.
private struct Channels {
    var light: [Double] = []
    var yellow: [Double] = []
    var red: [Double] = []
    var alpha: [Double] = []
    let hasAlpha: Bool

    init(_ bitmap: Bitmap) {
        let pixels = stride(from: 0, to: bitmap.bytes.count, by: bitmap.channelCount).map { start in
            let alpha = bitmap.channelCount == 4 ? Double(bitmap.bytes[start + 3]) / 255 : 1
            return (colour: (0..<3).map { alpha / 255 * Double(bitmap.bytes[start + $0]) }, alpha: alpha)
        }
        var average = [0.0, 0.0, 0.0]
        var alphaSum = 0.0
        for pixel in pixels {
            for channel in 0..<3 { average[channel] += pixel.colour[channel] }
            alphaSum += pixel.alpha
        }
        if alphaSum > 0 { for channel in 0..<3 { average[channel] /= alphaSum } }
        hasAlpha = alphaSum < Double(pixels.count)
        for pixel in pixels {
            let colour = (0..<3).map { average[$0] * (1 - pixel.alpha) + pixel.colour[$0] }
            light.append((colour[0] + colour[1] + colour[2]) / 3)
            yellow.append((colour[0] + colour[1]) / 2 - colour[2])
            red.append(colour[0] - colour[1])
            alpha.append(pixel.alpha)
        }
    }
}

/// A channel as a sum of cosine waves.
private struct Waves {
    var constant = 0.0
    /// The largest factor before they were scaled to 0...1.
    var scale = 0.0
    var factors: [Double] = []

    init(_ channel: [Double], _ size: PixelSize, countX: Int, countY: Int) {
        func wave(_ count: Int, over length: Int) -> [Double] {
            (0..<length).map { cos(.pi / Double(length) * Double(count) * (Double($0) + 0.5)) }
        }
        let wavesX = (0..<countX).map { wave($0, over: size.width) }
        for y in 0..<countY {
            let waveY = wave(y, over: size.height)
            var x = 0
            while x * countY < countX * (countY - y) {
                var sum = 0.0
                for row in 0..<size.height {
                    for column in 0..<size.width {
                        sum += channel[row * size.width + column] * wavesX[x][column] * waveY[row]
                    }
                }
                sum /= Double(size.width * size.height)
                if x > 0 || y > 0 {
                    factors.append(sum)
                    scale = max(scale, abs(sum))
                } else {
                    constant = sum
                }
                x += 1
            }
        }
        if scale > 0 { factors = factors.map { 0.5 + 0.5 / scale * $0 } }
    }
}
