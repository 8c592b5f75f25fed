// The executables that are installed together: finds one by its name, and replaces this process with it.

import Glibc

package enum InstalledProgram {
    /// Returns the path of a program in the directory of the running executable. The program may be missing.
    package static func path(_ name: String) -> String {
        // Nil if the running file was replaced. The name alone then finds nothing, which is reported as not installed.
        guard let own = try? Files.resolve("/proc/self/exe"), let slash = own.lastIndex(of: "/") else { return name }
        return own[...slash] + name
    }

    /// Replaces this process with a program in the directory of the running executable, or else on the PATH. The program
    /// inherits the environment and the terminal. Returns only by an error: `FileError`, or `ProgramMissing`.
    package static func execute(_ name: String, _ arguments: [String]) throws -> Never {
        var line = ([name] + arguments).map { strdup($0) } + [nil]
        defer { line.forEach { free($0) } }
        let path = path(name)
        if access(path, X_OK) == 0 {
            execv(path, &line)
            throw FileError("run", path)
        }
        execvp(name, &line)
        guard errno == ENOENT || errno == EACCES else { throw FileError("run", name) }
        throw ProgramMissing(name: name)
    }
}

/// A program that belongs to this installation is neither beside the running executable nor on the PATH.
package struct ProgramMissing: Error, CustomStringConvertible {
    let name: String

    package var description: String {
        "\(name) is not installed. Install it in the directory of parley, or in one that PATH names"
    }
}
