import Testing
@testable import Pictures

@Suite("Pictures") struct PicturesPlaceholder {}
