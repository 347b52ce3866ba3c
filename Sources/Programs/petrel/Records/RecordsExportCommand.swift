import AdminAPI
import CommandInterface
import Foundation
import JSONCoding

/// The command `petrel records export`, which writes the records of a database or a zone as lines
/// of JSON (``RecordExport``).
struct RecordsExportCommand: Command {
  let name = "records export"
  let example =
    "petrel records export --container iCloud.com.example.app "
    + "--output records.jsonl"
  let summary = "Writes all records of a database, or of a zone, as lines of JSON."
  let options: [Arguments.Option] =
    AdminArgument.ofDatabase.options + [
      .init("zone", "NAME", "only this zone"), .init("type", "TYPE", "only this record type"),
      .init("output", "FILE", "the file to write (default standard output)"),
      .init("assets", "DIRECTORY", "the directory to write the files in fields to"),
      .init("without-assets", nil, "leaves out fields with files, instead of failing at the first"),
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let place = try AdminArgument.ofDatabase.members(arguments)
    let (assets, folder) = try AssetFolder.choice(arguments)
    return try await AdminOptions.withAccess(arguments) { access in
      let target = try ExportTarget(arguments.string("output"))
      defer { target.discard() }
      let progress = ProgressLine()
      defer { progress.end() }
      var export = RecordExport(
        access: access, place: place, recordType: arguments.string("type"),
        assets: assets, folder: folder, output: target.file, progress: progress)
      for zone in try await Self.zones(arguments, place, access) {
        try await export.write(zone: zone)
      }
      try target.keep()
      progress.end()
      if export.sharesLeftOut > 0 {
        Output.complain(
          export.sharesLeftOut.counting("share was", "shares were")
            + " left out: sharing is not exported")
      }
      if export.assetsLeftOut > 0 {
        Output.complain(
          export.assetsLeftOut.counting("field with files was", "fields with files were")
            + " left out")
      }
      if arguments.string("output") != nil { Output.complain(export.records.counting("record")) }
      return 0
    }
  }

  /// Returns the names of the zones to export: the zone of `--zone`, or all zones of the database.
  ///
  /// - Throws: `UsageError` for the shared database without `--zone`.
  private static func zones(
    _ arguments: Arguments, _ place: [String: JSONValue], _ access: any AdminAccess
  ) async throws -> [String] {
    if let zone = arguments.string("zone") { return [zone] }
    if place["database"] == "shared" {
      throw UsageError(
        "the shared database has no records of its own: export its owner's private database")
    }
    let zones = try await access.get("zones", place)["zones"]?.array ?? []
    return zones.compactMap { $0["zoneName"]?.string }
  }
}

/// The output of an export: a file that has a temporary name until the export is complete, or
/// standard output.
private struct ExportTarget {
  let file: FileHandle
  private let path: String?
  /// The temporary name; `nil` for standard output.
  private var partPath: String? { path.map { $0 + ".part" } }

  /// Creates the temporary file with mode 600.
  init(_ path: String?) throws {
    self.path = path
    guard let path else {
      file = .standardOutput
      return
    }
    let descriptor = open(path + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UsageError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Synchronizes the file to the disk and renames it to its final name. Does nothing for standard
  /// output.
  func keep() throws {
    guard let path, let partPath else { return }
    try file.synchronize()
    guard rename(partPath, path) == 0 else {
      throw AdminFailure("cannot write \(path): \(String(cString: strerror(errno)))")
    }
  }

  /// Deletes the temporary file, if ``keep()`` did not rename it.
  func discard() {
    if let partPath { unlink(partPath) }
  }
}
