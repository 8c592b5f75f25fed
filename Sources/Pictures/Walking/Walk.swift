// Leads a format through bytes that arrive in pieces. The format says what to do next; the walk counts, holds back what
// the format wants to see, and passes the rest on.
import Glibc

/// What a format wants next. A step that may consume no byte is always followed by a `take`, so a walk always ends.
enum Step: Equatable {
    /// Show the format this many bytes, at least 1 and at most `Step.takeMax`. They are not kept unless the format does.
    case take(Int)
    case keep(Int)
    case drop(Int)
    /// Keep this many bytes as zeros.
    case blank(Int)
    /// Keep or drop the bytes before JPEG's next marker. The step ends before its 0xFF.
    case toMarker(keeping: Bool)
    /// The picture has ended.
    case dropRest

    static let takeMax = 64 * 1024
}

/// The structure of a file type. Its state is a few numbers.
protocol PictureFormat: Sendable {
    /// Returns the next step. `bytes` has exactly the bytes of the last `take`, and is empty after all other steps.
    mutating func next(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step

    /// It is nil before the first pixels.
    var header: PictureHeader? { get }

    /// WebP only.
    var head: WebPHead? { get }
}

extension PictureFormat {
    var head: WebPHead? { nil }
}

protocol PictureWalk: Sendable {
    mutating func read(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture)
    func finish() throws(UnreadablePicture) -> (header: PictureHeader, webP: WebPHead?)
}

/// Returns nil for types whose files are kept as they are. `webP` is what the first pass found out.
func walking(_ type: MediaType, webP: WebPHead?) -> (any PictureWalk)? {
    switch type {
    case .jpeg: Walk(JPEGFormat())
    case .png: Walk(PNGFormat())
    case .gif: Walk(GIFFormat())
    case .webp: Walk(WebPFormat(rewriting: webP))
    default: nil
    }
}

struct Walk<Format: PictureFormat>: PictureWalk {
    private var format: Format
    private var step = Step.drop(0)
    /// Bytes of the current `take`, or the 0xFF that may begin a marker. They are neither kept nor dropped yet.
    private var held: [UInt8] = []

    init(_ format: Format) { self.format = format }

    mutating func read(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) {
        var rest = bytes[...]
        while try advance(&rest, &edits) {}
    }

    func finish() throws(UnreadablePicture) -> (header: PictureHeader, webP: WebPHead?) {
        guard let header = format.header else { throw UnreadablePicture("it ends before its first pixels") }
        return (header, format.head)
    }

    /// Asks the format for the next step. A picture that is broken after its pixels have begun ends there, as if it was
    /// cut off: browsers show its upper part, so its metadata must go too.
    private mutating func nextStep(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        do {
            return try format.next(bytes, &edits)
        } catch {
            guard format.header != nil else { throw error }
            edits.drop(bytes.count)
            return .dropRest
        }
    }

    /// Does a part of the current step. Returns false if it needs more bytes.
    private mutating func advance(_ rest: inout ArraySlice<UInt8>, _ edits: inout Edits) throws(UnreadablePicture)
        -> Bool
    {
        switch step {
        case .take(let count):
            held += rest.popFirst(atMost: count - held.count)
            guard held.count >= count else { return false }
            step = try nextStep(held, &edits)
            held.removeAll(keepingCapacity: true)
            return true
        case .keep(let count):
            let part = rest.popFirst(atMost: count)
            edits.keep(part)
            step = .keep(count - part.count)
            guard part.count == count else { return false }
        case .drop(let count):
            let part = rest.popFirst(atMost: count)
            edits.drop(part.count)
            step = .drop(count - part.count)
            guard part.count == count else { return false }
        case .blank(let count):
            let part = rest.popFirst(atMost: count)
            edits.keepZeros(inPlaceOf: part)
            step = .blank(count - part.count)
            guard part.count == count else { return false }
        case .toMarker(let keeping):
            guard goToMarker(&rest, keeping, &edits) else { return false }
        case .dropRest:
            edits.drop(rest.count)
            rest = []
            return false
        }
        step = try nextStep([], &edits)
        return true
    }

    /// Returns true if the next byte, held or not, is the 0xFF of a marker. 0xFF before 0 is a byte of data, and restart
    /// markers belong to the data too. 0xFF before 0xFF only fills, and goes.
    private mutating func goToMarker(_ rest: inout ArraySlice<UInt8>, _ keeping: Bool, _ edits: inout Edits) -> Bool {
        func isData(_ code: UInt8) -> Bool { code == 0 || 0xd0...0xd7 ~= code }
        func pass(_ bytes: ArraySlice<UInt8>) {
            if keeping { edits.keep(bytes) } else { edits.drop(bytes.count) }
        }
        if !held.isEmpty {
            guard let code = rest.first else { return false }
            guard isData(code) || code == 0xff else { return true }
            if isData(code) { pass(held[...]) } else { edits.drop(held.count) }
            held.removeAll(keepingCapacity: true)
        }
        var place = rest.startIndex
        while let marker = rest.firstIndexOfFF(from: place) {
            guard marker + 1 < rest.endIndex else {
                pass(rest[..<marker])
                rest = []
                held = [0xff]
                return false
            }
            let code = rest[marker + 1]
            if isData(code) {
                place = marker + 2
                continue
            }
            pass(rest[..<marker])
            rest = rest[marker...]
            guard code == 0xff else { return true }
            rest = rest.dropFirst()
            edits.drop(1)
            place = rest.startIndex
        }
        pass(rest)
        rest = []
        return false
    }
}

extension ArraySlice<UInt8> {
    /// Removes and returns the first bytes, at most `count`.
    fileprivate mutating func popFirst(atMost count: Int) -> ArraySlice<UInt8> {
        let part = prefix(count)
        self = self[part.endIndex...]
        return part
    }

    /// memchr is ten times as fast as a loop in Swift, and nearly all bytes of photographs pass here.
    fileprivate func firstIndexOfFF(from start: Int) -> Int? {
        let offset = self[start...].withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, let found = memchr(base, 0xff, bytes.count) else { return nil }
            return UnsafeRawPointer(found) - base
        }
        return offset.map { start + $0 }
    }
}
