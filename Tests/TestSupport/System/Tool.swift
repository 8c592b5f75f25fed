// Programs and packages that some tests need, and that `.ci/deps test` installs.

import Foundation

package enum Tool {
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
}
