import Testing
@testable import Thumbnailing

@Suite("Thumbnailing") struct ThumbnailingPlaceholder {}
