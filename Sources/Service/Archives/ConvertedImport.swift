// `parley import --from`: converts the export of another system to an archive, and imports that.
import Converters
import Domain
import FoundationEssentials
import Linux
import Logging
import ServiceConfiguration

enum ConvertedImport {
    /// Returns the reports of the conversion and of the import as JSON; nil if the archive went to standard output. What
    /// is not carried over is listed on standard error, too. Throws `StartError`.
    ///
    /// A conversion gives the same archive each time. So an interrupted import continues, though it converts again.
    static func run(
        _ request: ImportRequest, _ conversion: ImportRequest.Conversion, logger: Logger
    ) async throws -> String? {
        if conversion.convertsOnly {
            StandardOutput.prepare()
            _ = try convert(request.path, conversion, StandardOutput.write)
            return nil
        }
        let path = FileManager.default.temporaryDirectory.path + "/parley-import-\(UUID()).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let report = try convertToFile(request.path, conversion, path)
        var archive = request
        archive.path = path
        archive.conversion = nil
        guard let imported = try await ImportCommand.run(archive, logger: logger) else { return nil }
        var writer = JSONWriter()
        writer.raw("{\"conversion\":")
        writer.write(report.json)
        writer.raw(",\"import\":")
        writer.raw(JSONText(utf8: Array(imported.utf8)))
        writer.raw("}")
        return String(decoding: writer.utf8, as: UTF8.self)
    }

    private static func convertToFile(
        _ path: String, _ conversion: ImportRequest.Conversion, _ archive: String
    ) throws -> ConversionReport {
        // Other users of the machine must not read the messages.
        do {
            let file = try OpenFile(creating: archive, mode: 0o600)
            return try convert(path, conversion) { try file.write($0) }
        } catch let error as FileError {
            throw StartError("\(error)")
        }
    }

    private static func convert(
        _ path: String, _ conversion: ImportRequest.Conversion, _ write: @escaping ([UInt8]) throws -> Void
    ) throws -> ConversionReport {
        guard let system = ChatSystem(rawValue: conversion.source.rawValue) else {
            throw StartError("exports of \(conversion.source.rawValue) can't be converted")
        }
        do {
            let report = try Conversion.run(
                from: system, file: path, namespace: conversion.namespace, roomSuffix: conversion.roomSuffix,
                write: write)
            StandardError.write(report.text)
            return report
        } catch let error as ConversionError {
            throw StartError("the export can't be converted: \(error)")
        } catch let error as FileError {
            throw StartError("the export can't be converted: \(error)")
        } catch is StandardOutput.Closed {
            throw StartError("the archive is incomplete: standard output was closed")
        }
    }
}
