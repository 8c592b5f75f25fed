// Root becomes another user: for good, or for a part of its work.

import CLinux
import Glibc

extension SystemAccount {
    /// Replaces this process with the same program and command line, run by the account in its groups. Only root may call
    /// it, before anything is open. A new program, because the first thread of a Swift program has ended: it would stay
    /// root's, and the process with it.
    /// - Throws: `FileError` if the system refuses, as in a container whose root may not change users.
    package func takeOver() throws -> Never {
        let own = try Files.resolve("/proc/self/exe")
        try joinGroups()
        guard setresgid(groupID, groupID, groupID) == 0, setresuid(userID, userID, userID) == 0 else {
            throw FileError("become the user", name)
        }
        // The threads of the runtime block signals, and the new program would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        var line = CommandLine.arguments.map { strdup($0) } + [nil]
        defer { line.forEach { free($0) } }
        execv(own, &line)
        // The account may not enter the program's folder.
        execv("/proc/self/exe", &line)
        throw FileError("run", own)
    }

    /// Runs `body` as the account, and returns to root. Programs that `body` starts are the account's and stay so. Only
    /// root may call it. Throws as `takeOver` does.
    package func whileActing<Value>(_ body: () async throws -> Value) async throws -> Value {
        try joinGroups()
        // A saved user of root is the way back. A program that is started loses it.
        guard setresgid(groupID, groupID, 0) == 0, setresuid(userID, userID, 0) == 0 else {
            throw FileError("become the user", name)
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        guard setresuid(0, 0, 0) == 0, setresgid(0, 0, 0) == 0, setgroups(0, nil) == 0 else {
            throw FileError("become the user", "root")
        }
        return try result.get()
    }

    private func joinGroups() throws {
        guard initgroups(name, groupID) == 0 else { throw FileError("become the user", name) }
    }
}
