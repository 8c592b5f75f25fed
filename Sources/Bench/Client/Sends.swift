// How the workloads send a message, and how they check its answer.

/// Builds a request that sends a message. It is built once: the text is always the same.
/// - Parameter text: needs no escaping in JSON.
func sendRequest(_ text: String, to threadID: String, at endpoint: Endpoint, token: String) -> [UInt8] {
    requestBytes(
        "POST", "/v1/threads/\(threadID)/messages", at: endpoint, token: token,
        body: "{\"payload\":{\"text\":\"\(text)\"}}")
}

extension Answer {
    /// Returns the message that a send created.
    /// - Throws: when it created none.
    func sentMessage() throws(BadResponse) -> SeenMessage {
        guard status == 201 else { throw BadResponse(description: "a send was answered \(status) \(text.prefix(200))") }
        var walker = JSONWalker(body)
        return try SeenMessage(&walker)
    }

    /// - Throws: unless the message is the next of its thread.
    func checkSent(as seq: Int64) throws(BadResponse) {
        let sent = try sentMessage().seq
        guard sent == seq else { throw BadResponse(description: "a send was given seq \(sent) and not \(seq)") }
    }
}
