// Programs and packages that some tests need, and that `.ci/deps test` installs.

import Foundation

package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Whether a test with a missing tool runs all the same, and fails: in CI, and with `PARLEY_TEST_ALL=1`, unless
    /// `ALLOW_MISSING=1`.
    package static let areRequired: Bool = {
        let environment = ProcessInfo.processInfo.environment
        if environment["ALLOW_MISSING"] == "1" { return false }
        return environment["CI"] == "true" || environment["PARLEY_TEST_ALL"] == "1"
    }()

    /// Returns whether a test runs that needs a tool, for `.enabled(if:)`. Elsewhere than in CI it is skipped where the
    /// tool is missing.
    package static func permits(_ isInstalled: Bool) -> Bool { isInstalled || areRequired }

    /// Whether Debian's Python has a module.
    package static func hasPython(_ module: String) -> Bool {
        (try? run(["/usr/bin/python3", "-c", "import \(module)"], showsErrors: false)) != nil
    }

    /// Runs a program to its end, and returns what it prints.
    /// - Parameter line: the program, looked up as a shell does, and its arguments.
    /// - Throws: `Failure` unless it ends with status 0.
    @discardableResult
    package static func run(_ line: [String], input: Data = Data(), showsErrors: Bool = true) throws -> Data {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/input"
        try input.write(to: URL(filePath: file))
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = line
        process.standardInput = FileHandle(forReadingAtPath: file)
        process.standardOutput = output
        if !showsErrors { process.standardError = FileHandle.nullDevice }
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "\(line) ended with status \(process.terminationStatus): does .ci/deps test install it?")
        }
        return data
    }

    /// Makes a key and a certificate for 127.0.0.1, signed by itself, in files of these paths.
    package static func makeCertificate(_ certificate: String, key: String, name: String) throws {
        try run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out",
                certificate,
            ], showsErrors: false)
    }
}
