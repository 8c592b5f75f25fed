// How JSON is read and written: times are RFC 3339 in UTC with milliseconds.
import Foundation

extension JSONDecoder {
    static var parley: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = Date(rfc3339: text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not an RFC 3339 time: \(text)"))
            }
            return date
        }
        return decoder
    }
}

extension JSONEncoder {
    static var parley: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var single = encoder.singleValueContainer()
            try single.encode(date.rfc3339)
        }
        return encoder
    }
}

extension Date {
    /// `2026-11-21T10:00:00.123Z`, or the same without a fraction.
    init?(rfc3339 text: String) {
        guard let date = (try? Self.fractional.parse(text)) ?? (try? Self.whole.parse(text)) else { return nil }
        self = date
    }

    /// `2026-11-21T10:00:00.123Z`.
    var rfc3339: String { formatted(Self.fractional) }

    private static let fractional = ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let whole = ISO8601FormatStyle()
}

/// A coding key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue _: Int) { nil }
}
