// Nearly legal requests: each part is legal more often than not, so that faults behind the first check are reached.

import Foundation
import TestSupport

/// Makes the same requests for the same seed, except for the ids that the service created.
struct FuzzedRequests {
    var random: SplitMix64
    let api: DescribedAPI
    var ground: FuzzTargets

    static let adminToken = "fuzz-admin-token-fuzz-admin-token"
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE"]

    /// Values that are no valid id, name, number or time, as they are written in a target.
    private static let oddities = [
        "x", "0", "-1", "1e3", "%00", "%2F", "..", "%2e%2e", "%c0%af", "%25", "%252e%252e%252f", "null", "%zz", "%",
        "%F0%9F%98%80", "%ff", "%ed%a0%80", "%E2%80%AE", "%0d%0aX:%20y", "99999999999999999999", "%27%20or%201=1--",
        ";",
        "2026-13-40T00:00:00Z", "2026-11-21T10:00:00+99:99", "ID", String(repeating: "a", count: 600), "'", "$%7Bx%7D",
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ]

    /// Values to put in place of a JSON value.
    private static let values = [
        "null", "true", "-0", "1e400", "18446744073709551616", "-9223372036854775808", "0.1", "\"\"", "\"\\u0000\"",
        "\"\\ud800\"", "\"\u{202e}\"", "[]", "{}", "[[[[[]]]]]", "\"\u{1F600}\"", "[null]", "{\"\":{}}", "01", "+1",
        "\"\\x\"",
        "\"99999-01-01T00:00:00Z\"", "\"\(String(repeating: "é", count: 400))\"", "\"\\u0301\\u0301\\u0301\"",
    ]

    mutating func next() -> Request {
        let route = route()
        var request = Request(random.chance(12) ? pick(Self.methods) : route.method, path(route.path))
        request.headers = headers(request.method, route.path)
        if request.method != "GET", request.method != "HEAD", !random.chance(20) {
            request.body = body(route.method + " " + route.path)
            if !random.chance(15) {
                let types = ["text/plain", "application/json; charset=utf-16", "", "application/x-www-form-urlencoded"]
                request.headers.append(("Content-Type", random.chance(20) ? pick(types) : "application/json"))
            }
        }
        return request
    }

    /// Calls that hash a password, export everything, or end accounts that must be created again, are rare: otherwise the
    /// test would mostly do these.
    private mutating func route() -> (method: String, path: String) {
        while true {
            let route = api.routes[random.below(api.routes.count)]
            let isSlow =
                route.path.hasPrefix("/v1/auth/")
                || route.method == "DELETE"
                    && ["/v1/sessions", "/v1/users/me"].contains { route.path.hasPrefix($0) }
                || route.method != "GET" && route.path.hasPrefix("/v1/admin/users")
                || ["/v1/admin/export", "/v1/admin/import"].contains(route.path)
            if !isSlow || random.chance(8) { return route }
        }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

    // MARK: the target

    private mutating func path(_ pattern: String) -> String {
        let segments = pattern.split(separator: "/").map { segment in
            guard segment.first == "{" else { return random.chance(100) ? pick(Self.oddities) : String(segment) }
            let value =
                random.chance(6)
                ? pick(Self.oddities) : pick(ground.values(for: String(segment.dropFirst().dropLast())))
            return random.chance(20) ? percentEncoded(value) : value
        }
        var path = "/" + segments.joined(separator: random.chance(60) ? "//" : "/")
        if random.chance(40) { path += "/" }
        // No request should wait.
        var pairs = pattern.hasSuffix("sync") || pattern.hasSuffix("changes") ? ["wait=0"] : []
        if random.chance(3) { for _ in 0...random.below(3) { pairs.append(parameter()) } }
        if random.chance(150) { pairs += (0..<random.below(400)).map { "a\($0)=b" } }
        if random.chance(200) { pairs.append("x=" + String(repeating: "y", count: random.below(20_000))) }
        if !pairs.isEmpty { path += "?" + pairs.joined(separator: "&") }
        return path
    }

    private mutating func parameter() -> String {
        let known = ["limit", "page", "cursor", "before", "after", "query", "q", "thread", "for", "unread", "messages"]
        let name = random.chance(4) ? pick(api.names) : pick(known)
        // Always invalid, because a valid number of seconds would make the poll wait.
        if name == "wait" { return "wait=x" }
        return
            "\(random.chance(20) ? pick(Self.oddities) : name)=\(random.chance(2) ? pick(Self.oddities) : pick(ground.values(for: name)))"
    }

    // MARK: headers

    private mutating func headers(_ method: String, _ pattern: String) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        switch random.below(20) {
        case 0: break
        case 1:
            headers.append(("Authorization", pick(["Bearer", "Bearer ", "Basic YTpi", "bearer x y", "Bearer \u{e9}"])))
        case 2:
            var token = Array(ground.ann.token.utf8)
            token[random.below(token.count)] = UInt8(ascii: "A") + UInt8(random.below(26))
            headers.append(("Authorization", "Bearer " + String(decoding: token, as: UTF8.self)))
        case 3: headers.append(("Authorization", "Bearer " + Self.adminToken))
        case 4...6: headers.append(("Authorization", "Bearer " + ground.bob.token))
        default:
            // Half of the routes are the operator's: a person's token would reach nothing behind them.
            let token = pattern.hasPrefix("/v1/admin") ? Self.adminToken : ground.ann.token
            headers.append(("Authorization", "Bearer " + token))
        }
        if random.chance(4) {
            let odd: [(name: String, value: String)] = [
                ("Accept", method == "HEAD" ? "text/event-stream" : "image/png;q=0.1, */*;q=0"),
                ("Prefer", "wait=1e9, x"),
                ("Origin", pick(["https://chat.example", "https://evil.example", "null"])),
                ("Access-Control-Request-Method", "PUT"), ("Last-Event-ID", pick(Self.oddities)),
                (
                    "X-Forwarded-For",
                    pick(["::1, 1.2.3.4", "\u{e9}", ",,,", String(repeating: "1.2.3.4, ", count: 900)])
                ),
                ("Range", "bytes=0-,-5,9-1"), ("If-None-Match", "\"x"), ("Accept-Encoding", "gzip;q=nan"),
                ("Cookie", "a=b; a=b"), ("Forwarded", "for=\"_x\";by=[::"), ("X-HTTP-Method-Override", "DELETE"),
            ]
            headers.append(pick(odd))
        }
        return headers
    }

    // MARK: bodies

    private mutating func body(_ call: String) -> Data {
        let bodies = ground.bodies
        let legal = bodies[call] ?? bodies.values.flatMap { $0 }.sorted()
        switch random.below(24) {
        case 0: return Data((0..<random.below(200)).map { _ in UInt8(random.below(256)) })
        case 1:
            return Data(String(repeating: pick(["[", "{\"a\":", "[{\"x\":[", " "]), count: random.below(9_000)).utf8)
        case 2:
            let text = String(repeating: "x", count: random.below(90_000))
            return Data("{\"payload\":{\"text\":\"\(text)\"}}".utf8)
        case 3...13: return Data(pick(legal).utf8)
        case 14...17: return Data(object(depth: 0).utf8)
        default: return changed(Array(pick(legal).utf8))
        }
    }

    /// A body of random members of any call.
    private mutating func object(depth: Int) -> String {
        let members = (0..<random.below(5)).map { _ in
            let name = pick(api.names)
            let value =
                switch random.below(depth > 2 ? 3 : 5) {
                case 0: "\"\(pick(ground.values(for: name)))\""
                case 1: pick(Self.values)
                case 2: "\(random.below(300))"
                case 3: object(depth: depth + 1)
                default: "[\"\(pick(ground.values(for: name)))\"]"
                }
            return "\"\(name)\":\(value)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// A legal body with a value replaced, bytes changed, taken out or put in, or its end cut off.
    private mutating func changed(_ legal: [UInt8]) -> Data {
        var body = legal
        for _ in 0...random.below(3) where !body.isEmpty {
            let at = random.below(body.count)
            switch random.below(5) {
            case 0: body[at] = UInt8(random.below(256))
            case 1: body.remove(at: at)
            case 2: body.removeLast(body.count - at)
            default:
                // A value follows a colon.
                guard let colon = body[at...].firstIndex(of: UInt8(ascii: ":")) else { continue }
                let end = body[(colon + 1)...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") }
                body.replaceSubrange((colon + 1)..<(end ?? body.count), with: Array(pick(Self.values).utf8))
            }
        }
        return Data(body)
    }
}
