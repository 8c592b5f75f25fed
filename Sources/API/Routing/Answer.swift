// The answers of endpoints. JSON from the database is sent unchanged. Problems are in ProblemDocument.swift.
import Domain
import HTTPTypes
import NIOCore
import Transport

/// A whole answer, sent by the router or by a handler before it.
package struct Answer: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body = ByteBuffer()
    /// Writes a body that is too long for memory, in place of `body`. Only for answers of the router.
    var stream: StreamedBody?

    /// A JSON resource.
    package static func json(_ text: JSONText, status: HTTPResponse.Status = .ok) -> Answer {
        Answer(status: status, headers: Headers.json, body: ByteBuffer(bytes: text.utf8))
    }

    /// The result of a change: 201 if it is new, 200 if it existed before.
    static func made(_ created: Bool, _ text: JSONText) -> Answer { json(text, status: created ? .created : .ok) }

    static let noContent = Answer(status: .noContent, headers: [:])

    /// The caller's session has ended: a browser drops the pictures that it has cached. The page removes what it has
    /// stored itself, so only the cache is named.
    static let signedOut = Answer(status: .noContent, headers: [.clearSiteData: "\"cache\""])

    static func list(_ name: StaticString, _ page: Page, limit: Int) -> Answer { json(.list(name, page, limit: limit)) }

    package var outbound: OutboundResponse { OutboundResponse(status: status, headers: headers, body: body) }

    /// The same, counted for an operation.
    func outbound(_ operation: OperationID) -> OutboundResponse {
        OutboundResponse(status: status, headers: headers, body: body, operation: operation.rawValue)
    }
}

extension JSONText {
    /// A page of a list: `{name: […], limit, next?}`.
    package static func list(_ name: StaticString, _ page: Page, limit: Int) -> JSONText {
        var writer = JSONWriter(reserving: 64 + page.items.reduce(0) { $0 + $1.utf8.count + 1 })
        writer.raw("{\"")
        writer.raw(name)
        writer.raw("\":[")
        for (index, item) in page.items.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.raw(item)
        }
        writer.raw("],\"limit\":")
        writer.write(limit)
        writer.writeNext(page.next)
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }
}

extension JSONWriter {
    /// Writes the `next` member of a list that has more pages.
    mutating func writeNext(_ next: PageKey?) {
        guard let next else { return }
        raw(",\"next\":")
        write(next.description)
    }
}

/// The common headers of answers.
package enum Headers {
    package static let json: HTTPFields = [.contentType: "application/json"]
    static let problem: HTTPFields = [.contentType: "application/problem+json"]

    /// For answers that are not JSON: if a browser shows one as a page, nothing in it may run, load or be framed.
    static func of(type: String) -> HTTPFields {
        [.contentType: type, .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'"]
    }
}

extension HTTPField.Name {
    fileprivate static let clearSiteData = Self("Clear-Site-Data")!
}
