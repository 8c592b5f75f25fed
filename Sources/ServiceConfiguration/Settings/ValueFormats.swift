// The text formats of settings. Formats that other commands use as well are in CommandLineFlags.
import CommandLineFlags

extension ValueFormat<Bool> {
    static var onOrOff: Self {
        ValueFormat(
            expectation: "\"on\" or \"off\"",
            parse: { text in
                switch text {
                case "on": true
                case "off": false
                default: nil
                }
            },
            print: { $0 ? "on" : "off" })
    }
}

extension ValueFormat<Bool> {
    static var trueOrFalse: Self {
        ValueFormat(expectation: "\"true\" or \"false\"", parse: { Bool($0) }, print: { $0 ? "true" : "false" })
    }
}

extension ValueFormat where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var word: Self {
        let words = Value.allCases.map { "\"\($0.rawValue)\"" }
        let allButLast = words.dropLast().joined(separator: ", ")
        return ValueFormat(
            expectation: "\(allButLast) or \(words.last ?? "")", parse: { Value(rawValue: $0) }, print: \.rawValue)
    }
}

extension ValueFormat<String> {
    /// Scheme, host and perhaps a port. A slash at the end is left out.
    static var publicURL: Self {
        ValueFormat(
            expectation: "a URL of the form https://host or http://host:port, without a path",
            parse: { text in
                let origin = text.lowercased()
                let match = origin.wholeMatch(
                    of: /(https?:\/\/([a-z0-9._\-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?)\/?/)
                guard let match, match.3.map({ (1...65_535).contains(Int($0) ?? 0) }) ?? true else { return nil }
                return String(match.1)
            },
            print: { $0 })
    }
}

extension ValueFormat<[String]> {
    /// Checks only the form. Transport parses the addresses.
    static var addressRanges: Self {
        ValueFormat(
            expectation: "addresses or address ranges (192.0.2.1, 10.0.0.0/8, fd00::/8), separated by commas",
            parse: { text in
                let ranges = text.split(separator: ",").map { $0.filter { $0 != " " } }
                let areRanges = ranges.allSatisfy { $0.wholeMatch(of: /[0-9a-fA-F:.]+(\/[0-9]{1,3})?/) != nil }
                return areRanges && !ranges.isEmpty && ranges.count <= 100 ? ranges : nil
            },
            print: { $0.joined(separator: ",") })
    }

    /// Origins as browsers write them (RFC 6454, 6.2), or `*` alone for any. Refuses `null`, the origin of sandboxed
    /// pages.
    static var origins: Self {
        ValueFormat(
            expectation: "\"*\", or origins of the form https://host or https://host:port, separated by commas",
            parse: { text in
                let origins = text.split(separator: ",").map { $0.filter { $0 != " " } }
                if origins == ["*"] { return origins }
                let areOrigins = origins.allSatisfy {
                    $0.wholeMatch(of: /[a-z][a-z0-9+.\-]*:\/\/([a-z0-9._\-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/) != nil
                }
                return areOrigins && !origins.isEmpty && origins.count <= 100 ? origins : nil
            },
            print: { $0.joined(separator: ",") })
    }
}

extension ValueFormat<[Int]> {
    /// Whole seconds, separated by commas.
    static func seconds(countMax: Int, _ range: ClosedRange<Int>) -> Self {
        ValueFormat(
            expectation: "1 to \(countMax) whole numbers of seconds from \(range.lowerBound) to \(range.upperBound), "
                + "separated by commas",
            parse: { text in
                let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
                let numbers = parts.compactMap { $0.wholeMatch(of: /[0-9]{1,9}/) == nil ? nil : Int($0) }
                return numbers.count == parts.count && numbers.count <= countMax && numbers.allSatisfy(range.contains)
                    ? numbers : nil
            },
            print: { $0.map(String.init).joined(separator: ",") })
    }
}

extension ValueFormat<[String]> {
    private static var connectionStringCountMax: Int { 16 }

    /// Connection strings may have commas inside: one ends only where the next begins.
    static var connectionStrings: Self {
        let one = ValueFormat<String>.connectionString
        return ValueFormat(
            expectation: "1 to \(connectionStringCountMax) PostgreSQL URLs (postgresql://…) or libpq keywords "
                + "(host=… dbname=…), separated by commas",
            parse: { text in
                var texts: [String] = []
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let isNew = part.prefixMatch(of: /\s*(postgres(ql)?:\/\/|[a-z_]+ *=)/) != nil
                    if isNew || texts.isEmpty {
                        texts.append(String(part.drop { $0 == " " }))
                    } else {
                        texts[texts.count - 1] += "," + part
                    }
                }
                let urls = texts.compactMap(one.parse)
                return urls.count == texts.count && urls.count <= connectionStringCountMax ? urls : nil
            },
            print: { $0.map(one.print).joined(separator: ",") })
    }
}

extension ValueFormat<[String]> {
    /// Tokens chosen by the operator, each sent in a header.
    static var secrets: Self {
        let one = ValueFormat<String>.headerToken
        return ValueFormat(
            expectation: "1 to 10 tokens, separated by commas, each of 16 to 1,024 printable ASCII characters without "
                + "spaces",
            parse: { text in
                let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                let tokens = parts.compactMap(one.parse)
                return tokens.count == parts.count && tokens.count <= 10 ? tokens : nil
            },
            print: { $0.joined(separator: ",") })
    }
}

extension ValueFormat<Settings.Metrics> {
    static var metrics: Self {
        ValueFormat(
            expectation: "\"open\", \"admin\", or HOST:PORT, for example 127.0.0.1:9090 or [::1]:9090",
            parse: { text in
                switch text {
                case "open": return .open
                case "admin": return .admin
                default: break
                }
                guard let match = text.wholeMatch(of: /([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})/),
                    let port = Int(match.2), (1...65_535).contains(port)
                else { return nil }
                return .address(host: match.1.filter { $0 != "[" && $0 != "]" }, port: port)
            },
            print: { metrics in
                switch metrics {
                case .open: "open"
                case .admin: "admin"
                case .address(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
                }
            })
    }
}

extension ValueFormat<String> {
    /// A name or address to listen on. Refuses a single colon, because "localhost:8080" is a common mistake.
    static var host: Self {
        ValueFormat(
            expectation: "a host name or an address (the port has its own setting)",
            parse: { text in
                let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
                let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
                return isPlain && colons != 1 ? text : nil
            },
            print: { $0 })
    }

    /// The address of a service that Parley calls, without a slash at its end.
    static var webURL: Self {
        ValueFormat(
            expectation: "an address of the form https://host or https://host:port",
            parse: { text in
                text.wholeMatch(of: /https?:\/\/([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?/) != nil
                    ? String(text.hasSuffix("/") ? text.dropLast() : text[...]) : nil
            },
            print: { $0 })
    }

    /// The address of the operator's policy. Its query may hold a secret, so it is never printed.
    static var policyURL: Self {
        ValueFormat(
            expectation: "an address of the form http://host:port/path or https://host/path, without a user",
            parse: { text in
                let isPrintable = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                let pattern = /https?:\/\/([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([\/?][^#]*)?/
                return isPrintable && text.utf8.count <= 2_048 && text.wholeMatch(of: pattern) != nil ? text : nil
            },
            print: { text in
                guard let mark = text.firstIndex(of: "?") else { return text }
                return text[...mark] + ConnectionString.hidden
            })
    }

    /// A contact address: `sub` of RFC 8292.
    static var contact: Self {
        ValueFormat(
            expectation: "an address of the form mailto:somebody@host or https://host/…",
            parse: { text in
                let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
                let isKnown =
                    text.wholeMatch(of: /mailto:[^@]+@[^@]+/) != nil || text.wholeMatch(of: /https:\/\/.+/) != nil
                return isPlain && isKnown && text.utf8.count <= 500 ? text : nil
            },
            print: { $0 })
    }

    /// An id of a key or team at Apple.
    static var appleID: Self {
        ValueFormat(
            expectation: "an id of letters and digits",
            parse: { $0.wholeMatch(of: /[A-Za-z0-9]{1,64}/) != nil ? $0 : nil }, print: { $0 })
    }

    /// A bucket of an object store, as it is in URLs.
    static var bucket: Self {
        ValueFormat(
            expectation: "a name of 3 to 63 lower-case letters, digits, dots and hyphens",
            parse: { $0.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/) != nil ? $0 : nil }, print: { $0 })
    }

    /// A region or a key of an object store. It becomes part of a signature, so no space may slip in.
    static func token(_ what: String) -> Self {
        ValueFormat(
            expectation: "\(what) of printable ASCII characters without spaces",
            parse: { text in
                let isPrintable = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                return isPrintable && (1...1_024).contains(text.utf8.count) ? text : nil
            },
            print: { $0 })
    }

    /// A token chosen by the operator, sent in a header.
    fileprivate static var headerToken: Self {
        ValueFormat(
            expectation: "a token of 16 to 1,024 printable ASCII characters without spaces and commas",
            parse: { text in
                let isPrintable = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ",") }
                return isPrintable && (16...1_024).contains(text.utf8.count) ? text : nil
            },
            print: { $0 })
    }

    /// A secret chosen by the operator.
    static var secret: Self {
        ValueFormat(
            expectation: "a secret of 16 to 1,024 printable ASCII characters without spaces",
            parse: { text in
                let isPrintable = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                return isPrintable && (16...1_024).contains(text.utf8.count) ? text : nil
            },
            print: { $0 })
    }

    /// The name of a database object.
    static var name: Self {
        ValueFormat(
            expectation: "a name of letters, digits and underscores, optionally with a schema name and a dot before it",
            parse: { $0.wholeMatch(of: /[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?/) != nil ? $0 : nil }, print: { $0 })
    }

    /// Any text without control characters.
    static var text: Self {
        ValueFormat(
            expectation: "a text without control characters",
            parse: { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? $0 : nil }, print: { $0 })
    }

    static var path: Self {
        ValueFormat(
            expectation: "a path", parse: { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? $0 : nil },
            print: { $0 })
    }
}
