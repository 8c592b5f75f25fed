// A message as the workloads send it, and how that must be answered.

/// A whole request that sends a message, made once: each time the same text.
/// - Parameter text: needs no escaping in JSON.
func sendRequest(_ text: String, to threadID: String, at endpoint: Endpoint, token: String) -> [UInt8] {
    requestBytes(
        "POST", "/v1/threads/\(threadID)/messages", at: endpoint, token: token,
        body: "{\"payload\":{\"text\":\"\(text)\"}}")
}

extension Answer {
    /// The message that a send has made.
    /// - Throws: when it has made none.
    func sentMessage() throws(BadResponse) -> SeenMessage {
        guard status == 201 else { throw BadResponse(description: "a send was answered \(status) \(text.prefix(200))") }
        var walker = JSONWalker(body)
        return try SeenMessage(&walker)
    }

    /// - Throws: unless the message that the send has made is the thread's next.
    func checkSent(as seq: Int64) throws(BadResponse) {
        let sent = try sentMessage().seq
        guard sent == seq else { throw BadResponse(description: "a send was given seq \(sent) and not \(seq)") }
    }
}
