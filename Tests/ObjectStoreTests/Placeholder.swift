import Testing
@testable import ObjectStore

@Suite("ObjectStore") struct ObjectStorePlaceholder {}
