// Which user root's `serve` and `init` switch to.
import Linux
import ServiceConfiguration
import Testing

@testable import Service

@Suite("Switching users", .timeLimit(.minutes(1)))
struct SwitchingUsers {
    @Test("leaves a data directory of another user to root, as before")
    func choice() {
        let parley = SystemAccount(name: "parley", userID: 995, groupID: 995)
        #expect(Settings.choose(parley, .free) == parley)
        #expect(Settings.choose(parley, .owned(by: 995)) == parley)
        #expect(Settings.choose(parley, .owned(by: 0)) == nil)
        #expect(Settings.choose(parley, .owned(by: 106)) == nil)
    }
}
