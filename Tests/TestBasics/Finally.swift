// Tidying up after a part of a test, whether it succeeds or fails.

/// Calls `body` and then `end`. Returns or throws what `body` did.
package func finally<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value, end: () async -> Void
) async throws -> Value {
    do {
        let value = try await body()
        await end()
        return value
    } catch {
        await end()
        throw error
    }
}
