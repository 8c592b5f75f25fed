// HTTP answers read from a socket in pieces of any size.
import Bench
import Testing

@Suite("Reading answers", .timeLimit(.minutes(1)))
struct ReadingAnswers {
    private let created = Array(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nDate: now\r\ncontent-length:  7 \r\n\r\n{\"a\":1}"
            .utf8)

    /// Returns the answers that the pieces make, as status and body.
    private func assemble(_ pieces: [ArraySlice<UInt8>]) throws -> [String] {
        var assembler = ResponseAssembler()
        var answers: [String] = []
        for piece in pieces {
            try Array(piece).withUnsafeBytes { bytes in
                try assembler.take(bytes)?.withAnswer(bytes) { answers.append("\($0.status) \($0.text)") }
            }
        }
        return answers
    }

    @Test("reads an answer that arrives whole, byte by byte, or split anywhere")
    func pieces() throws {
        #expect(try assemble([created[...]]) == ["201 {\"a\":1}"])
        #expect(try assemble(created.indices.map { created[$0...$0] }) == ["201 {\"a\":1}"])
        for cut in created.indices {
            #expect(try assemble([created[..<cut], created[cut...]]) == ["201 {\"a\":1}"])
        }
    }

    @Test("reads one answer after another on a connection")
    func chain() throws {
        let gone = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
        #expect(
            try assemble([created[..<20], created[20...], gone[...], created[...]]).map { $0.prefix(3) } == [
                "201", "204", "201",
            ])
    }

    @Test(
        "refuses answers that it would misread",
        arguments: [
            "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\nmore",
        ])
    func refusals(text: String) {
        #expect(throws: BadResponse.self) { try assemble([Array(text.utf8)[...]]) }
    }

    @Test("finds headers by name, and the connection's end")
    func headers() throws {
        let bytes = Array("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n".utf8)
        try bytes.withUnsafeBytes { bytes in
            var assembler = ResponseAssembler()
            try #require(try assembler.take(bytes)).withAnswer(bytes) { answer in
                #expect(answer.header("retry-after") == "7")
                #expect(answer.header("etag") == nil)
                #expect(answer.closes)
            }
        }
    }
}

@Suite("Reading a poll's answer", .timeLimit(.minutes(1)))
struct ReadingSyncAnswers {
    private let thread = "0197a000-0000-7000-8000-000000000001"

    private func read(_ text: String) throws -> (cursor: String, more: Bool, events: Int, seqs: [Int64]) {
        try Array(text.utf8).withUnsafeBytes { bytes in
            var seqs: [Int64] = []
            let answer = try SyncAnswer.read(bytes) { message in
                #expect(message.thread.description == thread)
                seqs.append(message.seq)
            }
            return (String(decoding: answer.cursor, as: UTF8.self), answer.more, answer.eventCount, seqs)
        }
    }

    @Test("returns the messages in order, whatever their texts contain and in any order of keys")
    func messages() throws {
        let tricky = #"a \"seq\":9,\"cursor\":\"x\" \\"#
        let first = """
            {"type":"message.created","thread_id":"\(thread)","at":"now","data":
             {"id":"1","thread_id":"\(thread)","seq":41,"payload":{"text":"\(tricky)","seq":7,"x":[{"seq":8}, -1.5e3]}}}
            """
        let second = #"{"data" : {"seq" : 42 , "thread_id" : "\#(thread)", "a": null}, "type" : "message.created"}"#
        let other = #"{"type":"receipt.updated","data":{"seq":1}}"#
        let answer = try read(#"{"events":[\#(first),\#(other),\#(second)],"cursor":"c1.2","more":true}"#)
        #expect(answer == ("c1.2", true, 3, [41, 42]))
        #expect(try read(#"{"events":[],"cursor":"c","more":false}"#) == ("c", false, 0, []))
    }

    @Test(
        "refuses answers from which it cannot continue",
        arguments: [
            "", "{", "{}", #"{"events":[],"more":false}"#, #"{"events":[{"type":"message.created"}],"cursor":"c"}"#,
            #"{"events":[{"type":"message.created","data":{"seq":1}}],"cursor":"c"}"#, #"{"events":[{"type":"#,
            "{\"x\":[\u{1}]}",
        ])
    func refusals(text: String) {
        #expect(throws: BadResponse.self) { try read(text) }
    }
}
