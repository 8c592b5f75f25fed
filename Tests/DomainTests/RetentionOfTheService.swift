// How long threads may keep messages, by the settings of the service.
import Domain
import Testing

@Suite("The retention of the service", .timeLimit(.minutes(1)))
struct RetentionOfTheService {
    private func read(_ text: String, _ limits: Limits) throws -> Retention {
        try Retention(JSONReader.read(Array(text.utf8)), limits: limits)
    }

    @Test("is any time without a maximum, and then the maximum at most")
    func most() throws {
        var limits = Limits()
        #expect(try read(#"{"keep":"forever"}"#, limits) == .forever)
        #expect(Retention.standard(limits) == .forever)
        limits.retentionMaxS = 60
        #expect(try read(#"{"keep":"seconds","seconds":60}"#, limits).keepS == 60)
        #expect(try read(#"{"keep":"until_delivered"}"#, limits) == .untilDelivered)
        for (body, field) in [(#"{"keep":"forever"}"#, "keep"), (#"{"keep":"seconds","seconds":61}"#, "seconds")] {
            let error = try #require(throws: Invalid.self) { try read(body, limits) }
            #expect(error.fields.map(\.field) == [field])
        }
        #expect(Retention.standard(limits).keepS == 60)
        limits.retentionDefaultS = 30
        #expect(Retention.standard(limits).keepS == 30)
        limits.retentionMaxS = 0
        #expect(Retention.standard(limits).keepS == 30)
        #expect(try read(#"{"keep":"forever"}"#, limits) == .forever)
    }
}
