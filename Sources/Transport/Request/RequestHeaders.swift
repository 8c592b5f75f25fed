// The headers of a request as NIO's parser returns them, read by HTTPTypes' names.

import HTTPTypes
import NIOHTTP1

/// Header fields. Names compare without regard to case.
package struct RequestHeaders: Sendable {
    let headers: HTTPHeaders

    /// The value; several of one name are joined by `, ` (`; ` for Cookie). Nil without one. Bytes that are not UTF-8
    /// read as U+FFFD.
    package subscript(name: HTTPField.Name) -> String? {
        let all = headers[name.canonicalName]
        return all.count < 2 ? all.first : all.joined(separator: name == .cookie ? "; " : ", ")
    }

    /// The first value of one name, found without an allocation.
    package func first(_ name: HTTPField.Name) -> String? { headers.first(name: name.canonicalName) }

    /// All values of one name, in order.
    package subscript(values name: HTTPField.Name) -> [String] { headers[name.canonicalName] }

    package func contains(_ name: HTTPField.Name) -> Bool { headers.contains(name: name.canonicalName) }

    /// The `Host` field, for which HTTPTypes has no name. Always present in HTTP/1.1.
    package var host: String? { headers.first(name: "host") }
}
