// Unicode's normal forms C and KC, compared with those of the whole Foundation.
import Foundation
import TestSupport
import Testing

@testable import Domain

@Suite("Normal forms", .timeLimit(.minutes(2)))
struct NormalForms {
    /// All characters that have a decomposition are in these ranges, except for Hangul, which follows a formula.
    private static let scalars: [Unicode.Scalar] = {
        let ranges: [ClosedRange<UInt32>] = [0x80...0x33FF, 0xA000...0xAC40, 0xF900...0x1FFFF, 0x2F800...0x2FA1F]
        return ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }
    }()

    @Test("replace compatibility characters by the table that follows from Foundation (`make docs` updates it)")
    func table() throws {
        var runs: [(first: UInt32, last: UInt32, targets: [UInt32])] = []
        for scalar in Self.scalars {
            let text = String(scalar)
            let targets = text.decomposedStringWithCompatibilityMapping.unicodeScalars.map(\.value)
            guard targets != text.decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value) else { continue }
            if let run = runs.last, run.last + 1 == scalar.value, run.targets.count == 1,
                targets == [run.targets[0] + (scalar.value - run.first)]
            {
                runs[runs.count - 1].last = scalar.value
            } else {
                runs.append((scalar.value, scalar.value, targets))
            }
        }
        var lines: [String] = []
        for run in runs {
            let source = run.first == run.last ? run.first.digits : "\(run.first.digits)-\(run.last.digits)"
            let entry = source + ":" + run.targets.map(\.digits).joined(separator: "+")
            if let line = lines.last, line.count + 1 + entry.count <= 112 {
                lines[lines.count - 1] = line + " " + entry
            } else {
                lines.append(entry)
            }
        }
        try GeneratedText.check(
            "Sources/Domain/Text/CompatibilityTable.swift",
            is: """
                // `make docs` writes this file from Foundation, which tests link whole.

                /// Compatibility characters and what replaces them, in hexadecimal digits. `A-C:X` replaces A by X, and the
                /// characters up to C by those after X.
                let compatibilityTable = \"""
                \(lines.map { "    \($0)\n" }.joined())    \"""

                """)
    }

    @Test("are those of Foundation for each character")
    func characters() {
        for scalar in Self.scalars {
            let text = String(scalar)
            #expect(text.normalized.isExactly(text.precomposedStringWithCanonicalMapping), "\(scalar.value.digits)")
            #expect(
                text.compatibilityComposed.isExactly(text.precomposedStringWithCompatibilityMapping),
                "\(scalar.value.digits)")
        }
    }

    @Test(
        "order marks, compose letters, and leave compatibility characters to form KC",
        arguments: [
            ("plain", "plain", "plain"),
            ("e\u{301}", "\u{E9}", "\u{E9}"),
            ("a\u{323}\u{302}", "\u{1EAD}", "\u{1EAD}"),
            ("a\u{302}\u{323}", "\u{1EAD}", "\u{1EAD}"),
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}", "\u{D55C}"),
            ("\u{212B}", "\u{C5}", "\u{C5}"),
            ("\u{FB01}", "\u{FB01}", "fi"),
            ("\u{FF21}\u{FF3A}\u{3000}\u{FF10}", "\u{FF21}\u{FF3A}\u{3000}\u{FF10}", "AZ 0"),
            ("\u{FF76}\u{FF9E}", "\u{FF76}\u{FF9E}", "\u{30AC}"),
            ("\u{2460}\u{1D400}\u{1D7FF}", "\u{2460}\u{1D400}\u{1D7FF}", "1A9"),
            ("\u{FEFB}", "\u{FEFB}", "\u{644}\u{627}"),
            ("e\u{10041}\u{301}", "e\u{10041}\u{301}", "e\u{10041}\u{301}"),
        ])
    func examples(text: String, composed: String, compatible: String) {
        #expect(text.normalized.isExactly(composed))
        #expect(text.compatibilityComposed.isExactly(compatible))
    }
}

extension String {
    /// `==` compares texts by their normal form.
    fileprivate func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension UInt32 {
    fileprivate var digits: String { String(self, radix: 16, uppercase: true) }
}
