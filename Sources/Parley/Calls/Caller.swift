// The protocol of everything that sends calls: the client, its connection, and scripts in tests.

/// Sends calls of the contract.
public protocol Caller: Sendable {
    /// Sends the call once and reads its answer. Throws `ParleyError` and `CancellationError`.
    func call<Answer>(_ call: Call<Answer>) async throws -> Answer
}

extension Connection: Caller {}
extension ParleyClient: Caller {}
