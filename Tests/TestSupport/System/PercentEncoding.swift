// Any text as a part of a request's path or query.

/// Every byte as `%` and two digits.
package func percentEncoded(_ text: String) -> String {
    text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
