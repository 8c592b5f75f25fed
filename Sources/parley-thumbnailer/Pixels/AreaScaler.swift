// Scaling down by averages.

/// Scales a picture down, row by row. Each pixel of the result is the average of the area that it covers, with parts of
/// pixels at the edges of the area. Transparent pixels have no weight in the average of colours. All sums are exact.
struct AreaScaler {
    /// Complete once all rows were added.
    private(set) var result: Bitmap

    private let source: PixelSize
    private let channelCount: Int
    /// For each column of the source: the column of the result that it begins in, and how much of its width, in units
    /// of 1 / source width of a result column, lies in that one. The rest lies in the next.
    private let columns: [(target: Int, weight: UInt32)]
    /// The weighted sums of the current row of the source. At most 255 · 255 · 16,384, which fits in 32 bits.
    private var rowSums: [UInt32]
    /// The weighted sums of the current row of the result.
    private var sums: [UInt64]
    private var rowCount = 0

    /// - Parameter target: not larger than `source`.
    init(from source: PixelSize, to target: PixelSize, channelCount: Int) {
        precondition((1...source.width).contains(target.width) && (1...source.height).contains(target.height))
        precondition(source.width <= 16_384 && (3...4).contains(channelCount))
        self.source = source
        self.channelCount = channelCount
        result = Bitmap(size: target, channelCount: channelCount)
        columns = (0..<source.width).map { x in
            let start = x * target.width
            let column = start / source.width
            return (column, UInt32(min(target.width, (column + 1) * source.width - start)))
        }
        // One column more than the result has: the last source column adds a rest of 0 to it.
        rowSums = [UInt32](repeating: 0, count: (target.width + 1) * channelCount)
        sums = [UInt64](repeating: 0, count: target.width * channelCount)
    }

    /// Adds the next row of the source.
    mutating func add(_ row: UnsafeBufferPointer<UInt8>) {
        precondition(row.count == source.width * channelCount && rowCount < source.height)
        if channelCount == 4 { addTransparent(row) } else { addOpaque(row) }
        let start = rowCount * result.size.height
        let target = start / source.height
        let end = (target + 1) * source.height
        let weight = min(result.size.height, end - start)
        addRowSums(weight: weight)
        rowCount += 1
        if start + result.size.height >= end {
            finishRow(target)
            addRowSums(weight: result.size.height - weight)
        }
        rowSums.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
    }

    private mutating func addOpaque(_ row: UnsafeBufferPointer<UInt8>) {
        let full = UInt32(result.size.width)
        rowSums.withUnsafeMutableBufferPointer { sums in
            var from = 0
            for column in columns {
                let to = column.target * 3
                let (red, green, blue) = (UInt32(row[from]), UInt32(row[from + 1]), UInt32(row[from + 2]))
                sums[to] &+= red &* column.weight
                sums[to + 1] &+= green &* column.weight
                sums[to + 2] &+= blue &* column.weight
                let rest = full &- column.weight
                if rest > 0 {
                    sums[to + 3] &+= red &* rest
                    sums[to + 4] &+= green &* rest
                    sums[to + 5] &+= blue &* rest
                }
                from += 3
            }
        }
    }

    private mutating func addTransparent(_ row: UnsafeBufferPointer<UInt8>) {
        let full = UInt32(result.size.width)
        rowSums.withUnsafeMutableBufferPointer { sums in
            var from = 0
            for column in columns {
                let to = column.target * 4
                let alpha = UInt32(row[from + 3])
                let red = UInt32(row[from]) &* alpha
                let green = UInt32(row[from + 1]) &* alpha
                let blue = UInt32(row[from + 2]) &* alpha
                sums[to] &+= red &* column.weight
                sums[to + 1] &+= green &* column.weight
                sums[to + 2] &+= blue &* column.weight
                sums[to + 3] &+= alpha &* column.weight
                let rest = full &- column.weight
                if rest > 0 {
                    sums[to + 4] &+= red &* rest
                    sums[to + 5] &+= green &* rest
                    sums[to + 6] &+= blue &* rest
                    sums[to + 7] &+= alpha &* rest
                }
                from += 4
            }
        }
    }

    private mutating func addRowSums(weight: Int) {
        guard weight > 0 else { return }
        let weight = UInt64(weight)
        for index in sums.indices { sums[index] &+= UInt64(rowSums[index]) &* weight }
    }

    /// Writes a row of the result and clears its sums.
    private mutating func finishRow(_ row: Int) {
        let area = UInt64(source.width * source.height)
        let start = row * result.rowByteCount
        if channelCount == 3 {
            for index in sums.indices { result.bytes[start + index] = UInt8((sums[index] + area / 2) / area) }
        } else {
            for pixel in stride(from: 0, to: sums.count, by: 4) {
                let alpha = sums[pixel + 3]
                guard alpha > 0 else { continue }
                for index in pixel..<pixel + 3 {
                    result.bytes[start + index] = UInt8((sums[index] + alpha / 2) / alpha)
                }
                result.bytes[start + pixel + 3] = UInt8((alpha + area / 2) / area)
            }
        }
        for index in sums.indices { sums[index] = 0 }
    }
}
