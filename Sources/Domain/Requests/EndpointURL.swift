// URLs of other servers that the service calls.

/// A URL that the service is to call: of a client's push service, or of an operator's webhook. A host that can never be
/// called is refused here. The addresses of a name are checked by the same rule (`IPAddress.isPublic`) at every
/// connection.
package struct EndpointURL: Sendable {
    package let text: String

    /// - Parameter allowsPrivate: whether private addresses and plain HTTP are allowed. For tests.
    package init(_ json: JSONValue, allowsPrivate: Bool) throws(Invalid) {
        let url = try ImageURL(json).text
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || allowsPrivate else { throw Invalid("Must be an https URL.") }
        let authority = url.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !url.contains("#") else {
            throw Invalid("Must be a URL without user or fragment.")
        }
        guard let host = URLHost(authority: authority) else {
            throw Invalid("Must be a URL with a host's name or address.")
        }
        guard host.isPublic || allowsPrivate else {
            throw Invalid("Must be a URL on the internet, not on this machine or in a private network.")
        }
        text = url
    }
}
