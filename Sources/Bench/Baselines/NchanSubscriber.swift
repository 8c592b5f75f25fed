// A subscriber of nchan's long poll: the counterpart of `PolledDevice` when Parley is compared with nginx.

/// Follows a channel message by message. nchan's cursor is the `Last-Modified` and `Etag` of the last answer.
final class NchanSubscriber: ConnectionOwner {
    private let loop: EventLoop
    private let start: [UInt8]
    private let received: (Answer) throws -> Void
    private lazy var connection = Connection(loop, endpoint, owner: self)
    private let endpoint: Endpoint
    private var modified: [UInt8] = []
    private var etag: [UInt8] = []
    private(set) var faults = Faults()

    /// - Parameter received: called with each message. An error that it throws is recorded as a fault.
    init(
        _ loop: EventLoop, _ endpoint: Endpoint, channel: String, received: @escaping (Answer) throws -> Void
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.received = received
        start = Array("GET \(NchanServer.subscribing)\(channel) HTTP/1.1\r\nHost: \(endpoint.authority)\r\n".utf8)
    }

    func poll() {
        var request = RequestWriter(loop.requestSpace)
        request.write(start)
        if !etag.isEmpty {
            request.write("If-Modified-Since: ")
            request.write(modified)
            request.write("\r\nIf-None-Match: ")
            request.write(etag)
            request.write("\r\n")
        }
        request.write("\r\n")
        connection.send(request.written)
    }

    func stop() { connection.close() }

    func connection(_ connection: Connection, received answer: Answer) {
        guard answer.status == 200, let modified = answer.header("last-modified"), let etag = answer.header("etag")
        else { return record("nchan answered \(answer.status)") }
        do {
            try received(answer)
        } catch {
            record("\(error)")
        }
        self.modified = Array(modified.utf8)
        self.etag = Array(etag.utf8)
        poll()
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) { record(failure.description) }

    private func record(_ fault: String) { faults.record("nchan: \(fault)") }
}
