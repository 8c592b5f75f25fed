import Testing
@testable import VirusScanner

@Suite("VirusScanner") struct VirusScannerPlaceholder {}
