// How every executable ends: an error becomes a message on standard error and an exit status.
import Glibc
import Linux

package enum ProgramMain {
    /// Runs an executable's work. An error ends the process: with status 2 for wrong flags, with status 1 otherwise.
    package static func run(_ work: @Sendable () async throws -> Void) async {
        do {
            try await work()
        } catch let error as ConfigurationErrors {
            fail("\(error)", status: 2)
        } catch {
            let text = "\(error)"
            fail("parley: \(text)\(text.hasSuffix(".") ? "" : ".")", status: 1)
        }
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        StandardError.write(text.hasSuffix("\n") ? text : text + "\n")
        exit(status)
    }
}
