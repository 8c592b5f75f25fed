// The report about each request to the handler, and the request's number.

import HTTPTypes
import NIOCore
import Testing

@testable import Transport

@Suite("Each request's end is reported", .timeLimit(.minutes(1)))
struct ReportingRequests {
    @Test("with its operation, status, duration and the number of its answer")
    func reports() async throws {
        let ended = Collected<EndedRequest>()
        try await withServer(
            handler: { request, reply in
                reply.send(OutboundResponse(status: .created, operation: request.path == "/7" ? 7 : 0))
            }, ended: { ended.add($0) }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /7 HTTP/1.1\r\nHost: x\r\n\r\nGET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
            var numbers: [String?] = []
            for _ in 0..<2 { numbers.append(try await client.answer().headers["x-request-id"]) }
            let reports = await ended.take(2)
            #expect(reports.map(\.operation) == [7, 0])
            #expect(reports.map(\.status) == [201, 201])
            #expect(reports.map(\.number.text) == numbers)
            #expect(numbers[0] != numbers[1])
            #expect(reports.allSatisfy { ($0.took ?? .seconds(-1)) >= .zero && ($0.took ?? .seconds(9)) < .seconds(5) })
        }
    }

    @Test("without a duration if it waited, or was refused before it was complete")
    func untimed() async throws {
        let ended = Collected<EndedRequest>()
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }, ended: { ended.add($0) }) { server in
            let waiting = try await RawClient.connect(server.port)
            try await waiting.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            var late = text("late")
            late.hasWaited = true
            sendAll([(late, [try await parked.next()])])
            #expect(try await waiting.answer().status == 200)
            let malformed = try await RawClient.connect(server.port)
            try await malformed.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await malformed.answer().headers["x-request-id"]?.count == 16)
            let reports = await ended.take(2)
            #expect(reports.map(\.status) == [200, 400])
            #expect(reports.allSatisfy { $0.took == nil })
        }
    }

    @Test("for a streamed answer when it has ended")
    func streamed() async throws {
        let ended = Collected<EndedRequest>()
        let parked = Collected<Reply>()
        try await withServer(handler: { parked.add($1) }, ended: { ended.add($0) }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let stream = try await parked.next().stream(.ok, headers: [:], operation: 9)
            stream.send(ByteBuffer(string: "part"))
            stream.end()
            #expect(try await client.answer().body == "part")
            let report = try await ended.next()
            #expect(report.operation == 9 && report.status == 200 && report.took != nil)
        }
    }

    @Test("with the time that the server took, without the time in which a client sends or receives")
    func slowClients() async throws {
        let ended = Collected<EndedRequest>()
        try await withServer(
            handler: { request, reply in
                Task {
                    let all = await Received(request)
                    guard request.target == "/down" else {
                        return reply.send(OutboundResponse(status: all.error == nil ? .ok : .badRequest))
                    }
                    let stream = reply.stream(.ok, headers: [:])
                    try await Task.sleep(for: .milliseconds(300))
                    stream.end()
                }
            }, ended: { ended.add($0) }, decide: { _ in .stream(byteCountMax: 10) }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /down HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try await client.answer()
            let head = "PUT /up HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
            try await client.send(head + "a")
            // This test is about time.
            let pause = try await ContinuousClock().measure { try await Task.sleep(for: .milliseconds(300)) }
            try await client.send("b")
            _ = try await client.answer()
            try await client.send(head + "a")
            try await client.closeOutput()
            #expect(try await client.answer().status == 400)
            let reports = await ended.take(3)
            #expect(reports.prefix(2).allSatisfy { ($0.took ?? .seconds(9)) < pause })
            #expect(reports[2].took == nil)
        }
    }

    @Test("with a number of 16 hexadecimal digits, the same in the header and the log")
    func number() {
        for value in [0, 1, 0x0123_4567_89ab_cdef, UInt64.max] {
            let number = RequestNumber(value: value)
            var line = ByteBuffer()
            _ = line.writeRequestNumber(number)
            #expect(String(buffer: line) == "X-Request-Id: \(number.text)\r\n")
            #expect(UInt64(number.text, radix: 16) == value && number.text.count == 16)
        }
        #expect(RequestNumber(value: .max).next.value == 0)
    }
}
