// Which bytes of a file a request asks for: Range, If-Range, If-None-Match (RFC 9110, 13 and 14).
import Basics
import HTTPTypes

/// The part of a file that a download returns.
enum RequestedRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// Reads a Range header. Several ranges and a malformed range are ignored, as RFC 9110 permits: the answer is then
    /// the whole file.
    init(_ header: String?, byteCount: Int) {
        guard let header, let (first, last) = Self.bounds(header) else {
            self = .whole
            return
        }
        switch (first, last) {
        case (let first?, let last):
            if let last, last < first {
                self = .whole
            } else {
                self = first < byteCount ? .part(first..<min(last ?? .max, byteCount - 1) + 1) : .unsatisfiable
            }
        case (nil, let length?):
            self = length > 0 && byteCount > 0 ? .part(max(0, byteCount - length)..<byteCount) : .unsatisfiable
        case (nil, nil):
            self = .whole
        }
    }

    /// The numbers around the hyphen of `bytes=a-b`.
    private static func bounds(_ header: String) -> (first: Int?, last: Int?)? {
        guard let (unit, range) = header[...].utf8.trimmed.pair, unit.equals(ignoringCase: "bytes"),
            let hyphen = range.firstIndex(of: UInt8(ascii: "-"))
        else { return nil }
        let (first, last) = (range[..<hyphen].trimmed, range[range.index(after: hyphen)...].trimmed)
        func number(_ digits: Substring.UTF8View) -> Int? {
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            // No file reaches to the numbers that do not fit.
            return Int(Substring(digits)) ?? .max
        }
        let numbers = (number(first), number(last))
        guard first.isEmpty || numbers.0 != nil, last.isEmpty || numbers.1 != nil else { return nil }
        return numbers
    }
}

/// A strong entity tag: the hexadecimal SHA-256 of the bytes in quotes.
struct EntityTag: Equatable {
    private static let listCountMax = 64

    let text: String

    init(digest: [UInt8]) {
        text = "\"\(digest.hexadecimal)\""
    }

    /// Whether an If-None-Match header names this tag. Weak tags count, as they do for GET (RFC 9110, 13.1.2).
    func isNamed(in header: String) -> Bool {
        HeaderList(header[...].utf8, separator: ",", countMax: Self.listCountMax).contains { tag in
            let strong = tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
            return strong.elementsEqual("*".utf8) || strong.elementsEqual(text.utf8)
        }
    }

    /// Whether an If-Range header allows a part. A date never does: files have no date of change.
    func allowsPart(ifRange header: String?) -> Bool { header.map { $0 == text } ?? true }
}
