import AdminAPI
import CommandInterface
import Foundation
import Settings

/// The command `petrel records import`, which saves records from lines of JSON (``RecordImport``).
///
/// If the command changes a store in a file without a server, no server may have that store open.
/// After a failure, the records of earlier requests stay saved.
struct RecordsImportCommand: Command {
  let name = "records import"
  let example =
    "petrel records import records.jsonl --container iCloud.com.example.app "
    + "--existing skip"
  let summary = "Saves records from lines of JSON, as 'petrel records export' writes them."
  let operands = "FILE|-"
  let options: [Arguments.Option] =
    AdminArgument.ofDatabase.options + [
      .init(
        "existing", "WHAT",
        "what to do with records that exist already: fail, skip or replace (default fail)",
        words: ["fail", "skip", "replace"]),
      .init(
        "zone", "NAME", "saves all records in this zone (default the zone that each record names)"),
      .init("make-zones", nil, "creates the zones that are missing"),
      .init("assets", "DIRECTORY", "the directory with the files in fields"),
      .init("without-assets", nil, "leaves out fields with files, instead of failing at the first"),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.word("FILE, or - for standard input")
    let place = try AdminArgument.ofDatabase.members(arguments)
    let word = arguments.string("existing") ?? "fail"
    guard let existing = RecordImport.Existing(rawValue: word) else {
      throw UsageError("--existing must be fail, skip or replace, not '\(word)'")
    }
    let (assets, folder) = try AssetFolder.choice(arguments)
    let file = path == "-" ? .standardInput : try InputFile.open(path)
    return try await AdminOptions.withAccess(arguments, .withoutServer, makesStore: true) {
      access in
      var work = RecordImport(
        access: access, place: place, existing: existing,
        makesZones: arguments.flag("make-zones"), folder: folder)
      var reader = BatchReader(file, zone: arguments.string("zone"), assets: assets)
      let failure = await Self.run(&work, &reader)
      show(work, reader, failure, arguments)
      return failure == nil ? 0 : 1
    }
  }

  private static func run(
    _ work: inout RecordImport, _ reader: inout BatchReader
  ) async -> ImportFailure? {
    let progress = ProgressLine()
    defer { progress.end() }
    do {
      while let lines = try reader.next() {
        try await work.save(lines)
        progress.show("line \(reader.line)\(reader.share), \(work.saved) saved ")
      }
      try await work.finish()
      return nil
    } catch let failure as ImportFailure {
      return failure
    } catch {
      return ImportFailure(reason: "\(error)")
    }
  }

  private func show(
    _ work: RecordImport, _ reader: BatchReader, _ failure: ImportFailure?, _ arguments: Arguments
  ) {
    if arguments.flag("json") {
      Output.json([
        "saved": .int(Int64(work.saved)), "skipped": .int(Int64(work.skipped)),
        "deleted": .int(Int64(work.deleted)),
        "assetsLeftOut": .int(Int64(reader.assetsLeftOut)),
        "line": failure?.line.map { .int(Int64($0)) } ?? .null,
        "error": failure.map { .string($0.reason) } ?? .null,
      ])
    } else {
      var parts = ["\(work.saved) saved"]
      if work.skipped > 0 { parts.append("\(work.skipped) skipped because they existed already") }
      if work.deleted > 0 { parts.append("\(work.deleted) deleted") }
      if reader.assetsLeftOut > 0 {
        parts.append(
          reader.assetsLeftOut.counting("field with files", "fields with files") + " left out")
      }
      Output.line("records: " + parts.joined(separator: ", "))
    }
    guard let failure else { return }
    let place = failure.line.map { "line \($0): " } ?? ""
    Output.complain("\(name): \(place)\(failure.reason)".printable)
    Output.complain(
      "the import stopped; \(work.saved.counting("record was", "records were")) saved. Correct the "
        + "file and import it again, with --existing skip to leave them as they are, or with replace"
    )
  }
}

/// A reader of lines in batches, each for one request.
private struct BatchReader {
  private var lines: LineReader
  private let zone: String?
  private let assets: PortableRecord.Assets
  /// The size of the file in bytes; `nil` for a pipe, a terminal or an empty file.
  private let size: Int?
  /// The number of the last line that was read; 0 at the start.
  private(set) var line = 0
  private(set) var assetsLeftOut = 0

  init(_ file: FileHandle, zone: String?, assets: PortableRecord.Assets) {
    lines = LineReader(file)
    self.zone = zone
    self.assets = assets
    var status = stat()
    let isFile =
      fstat(file.fileDescriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = isFile && status.st_size > 0 ? Int(status.st_size) : nil
  }

  /// The text for the fraction of the file that was read, such as ` (40 %)`; empty if ``size`` is
  /// `nil`.
  var share: String { size.map { " (\(lines.bytesRead * 100 / $0) %)" } ?? "" }

  /// Returns the next lines; `nil` at the end. Empty lines are skipped.
  ///
  /// - Throws: ``ImportFailure`` for a line that is no record. The lines before that line in the
  ///   same batch are then not imported.
  mutating func next() throws -> [ImportedLine]? {
    var batch: [ImportedLine] = []
    var bytes = 0
    while batch.count < RecordImport.batchLines, bytes < RecordImport.batchBytes {
      let data: Data?
      do {
        data = try lines.next()
      } catch let error as LineReader.TooLong {
        throw ImportFailure(line: line + 1, reason: "\(error)")
      }
      guard let data else { break }
      line += 1
      guard data.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
      let record = try ImportedLine(
        data, number: line, zone: zone, assets: assets)
      assetsLeftOut += record.assetsLeftOut
      bytes += record.record.count
      batch.append(record)
    }
    return batch.isEmpty ? nil : batch
  }
}
