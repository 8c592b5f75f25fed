// The code of the article "Errors".
import Parley

private func signIn(_ parley: ParleyClient, password: String) async throws {
    // snippet
    do {
        try await parley.signIn(.password(username: "ann", password: password))
    } catch let error as ParleyError where error.code == "wrong_credentials" {
        print("Name or password is wrong.")
    } catch let error as ParleyError where error.isTemporary {
        print("The server cannot be reached. Try again later.")
    }
    // end
}

private func fields(_ parley: ParleyClient) async throws {
    // snippet
    do {
        _ = try await parley.createGroup(title: "", members: [])
    } catch let error as ParleyError {
        for field in error.problem?.errors ?? [] { print("\(field.field): \(field.detail)") }
        print("Tell the operator: request \(error.problem?.requestID ?? "unknown")")
    }
    // end
}
