import Foundation
import JSONCoding

/// An import of records, in the order of their lines and in requests of limited size.
///
/// An export has records in the order of their last changes, so a record may come before its parent
/// or another record that it must refer to. Such a record waits until the end.
struct RecordImport {
  /// The handling of records that exist already.
  enum Existing: String, CaseIterable {
    /// Replace the record, skip the line, or stop the import with an error.
    case replace, skip, fail
  }

  static let batchLines = 200
  /// The bytes of encoded records at which a batch of lines is complete. The last record of a batch
  /// may exceed the number.
  static let batchBytes = 1_500_000
  /// The most lines that may wait for other records.
  private static let waitingLines = 100_000
  /// The bytes of waiting records at which no further line may wait.
  private static let waitingBytes = 256 << 20
  /// The most attempts for a request while the server is overloaded, with a pause of a second
  /// between them.
  private static let attempts = 30

  let access: any AdminAccess
  let place: [String: JSONValue]
  let existing: Existing
  let makesZones: Bool
  /// The folder with the files of asset fields; `nil` if files are not imported.
  let folder: AssetFolder?
  private(set) var saved = 0
  private(set) var deleted = 0
  private(set) var skipped = 0
  private var waiting: [ImportedLine] = []
  private var bytesWaiting = 0
  /// The zones that are known to exist, because this import created them. The default zone always
  /// exists.
  private var knownZones: Set<String> = ["_defaultZone"]

  init(
    access: any AdminAccess, place: [String: JSONValue], existing: Existing, makesZones: Bool,
    folder: AssetFolder? = nil
  ) {
    self.access = access
    self.place = place
    self.existing = existing
    self.makesZones = makesZones
    self.folder = folder
  }

  /// Saves the records of lines, or deletes them for lines that are deletions. Lines whose record
  /// refers to a missing record wait for ``finish()``.
  ///
  /// - Throws: ``ImportFailure``, with the number of the first refused line if the failure concerns
  ///   a line.
  mutating func save(_ lines: [ImportedLine]) async throws {
    if makesZones { try await makeZones(of: lines) }
    var rest = lines
    while !rest.isEmpty {
      if existing == .skip { rest = try await withoutExisting(rest) }
      guard !rest.isEmpty else { return }
      for index in rest.indices where !rest[index].files.isEmpty {
        try await upload(&rest[index])
      }
      rest = try await send(rest)
    }
  }

  /// Saves the lines that waited for other records. If lines wait for each other, the method needs
  /// several rounds.
  ///
  /// - Throws: ``ImportFailure`` if all lines still wait after a round, or if a line is refused.
  mutating func finish() async throws {
    while !waiting.isEmpty {
      let lines = waiting
      let first = lines[0]
      waiting = []
      bytesWaiting = 0
      for start in stride(from: 0, to: lines.count, by: Self.batchLines) {
        try await save(Array(lines[start..<min(start + Self.batchLines, lines.count)]))
      }
      guard waiting.count < lines.count else {
        throw ImportFailure(
          line: first.number,
          reason:
            "record '\(first.recordName)' refers to a record that is neither in the database nor in "
            + "the file: \(waitingReason)")
      }
    }
  }

  /// The server's reason for the last line that began to wait.
  private var waitingReason = ""

  // MARK: Files

  /// The most files of a request to `assets/upload`.
  private static let uploadsPerRequest = 200

  private func upload(_ line: inout ImportedLine) async throws {
    guard let folder else { return }
    do {
      var values: [JSONValue] = []
      let tokens = line.uploadTokens
      for start in stride(from: 0, to: tokens.count, by: Self.uploadsPerRequest) {
        let part = tokens[start..<min(start + Self.uploadsPerRequest, tokens.count)]
        let answer = try await access.post(
          "assets/upload",
          place.merging([
            "tokens": .array(Array(part)), "zoneID": ["zoneName": .string(line.zoneName)],
          ]) { $1 })
        let targets = answer["tokens"]?.array?.compactMap { $0["url"]?.string } ?? []
        for (url, file) in zip(targets, line.files[start...]) {
          let data = try folder.data(of: file)
          let (status, body) = try await access.transfer(.upload(data, url: url))
          // An answer that is no JSON has no items.
          let json = (try? JSONValue(parsing: body)) ?? .null
          guard status == 200, let value = json["singleFile"] else {
            throw AdminFailure(json) ?? AdminFailure("the upload was answered with \(status)")
          }
          values.append(value)
        }
      }
      guard values.count == line.files.count else {
        throw AdminFailure("the answer has \(values.count) uploads, not \(line.files.count)")
      }
      line.setFiles(values)
    } catch {
      throw ImportFailure(line: line.number, reason: "\(error)")
    }
  }

  // MARK: Requests

  /// Sends lines in one atomic request. If the request is too large, the method sends only the
  /// first half of the lines.
  ///
  /// - Returns: The lines that must be sent again: those that failed only because other lines of
  ///   their zone failed, or the second half of a request that was too large.
  private mutating func send(_ lines: [ImportedLine]) async throws -> [ImportedLine] {
    let answer: JSONValue
    do {
      answer = try await patiently {
        try await access.post("records/modify", body: body(of: lines))
      }
    } catch let failure as AdminFailure where failure.limit != nil && lines.count > 1 {
      // The request was too large, because the bytes of JSON are only an estimate of the records'
      // sizes. This method sends the first half, and the caller sends the second half.
      let half = lines.count / 2
      try await save(Array(lines[..<half]))
      return Array(lines[half...])
    } catch {
      throw ImportFailure(
        line: lines.count == 1 ? lines.first?.number : nil,
        reason: "lines \(lines.first?.number ?? 0) to \(lines.last?.number ?? 0): \(error)")
    }
    let items = answer["records"]?.array ?? []
    guard items.count == lines.count else {
      throw ImportFailure(reason: "the answer has \(items.count) records, not \(lines.count)")
    }
    return try settle(lines, items)
  }

  /// Counts the results. Lines that refer to missing records join ``waiting``.
  ///
  /// - Returns: The lines to send again, because only other lines of the request failed.
  /// - Throws: ``ImportFailure`` for the first line that was refused, or for the whole request.
  private mutating func settle(
    _ lines: [ImportedLine], _ items: [JSONValue]
  ) throws -> [ImportedLine] {
    var again: [ImportedLine] = []
    var refused: ImportFailure?
    var isMoved = false
    for (line, item) in zip(lines, items) {
      guard let failure = AdminFailure(item) else {
        if line.isDeletion { deleted += 1 } else { saved += 1 }
        continue
      }
      switch failure.code {
      case "ATOMIC_ERROR": again.append(line)
      case "VALIDATING_REFERENCE_ERROR" where hasRoom:
        isMoved = true
        waiting.append(line)
        bytesWaiting += line.record.count
        waitingReason = failure.reason
      case "EXISTS" where existing == .skip:
        // Another client created the record after the lookup.
        isMoved = true
        skipped += 1
      default:
        if refused == nil { refused = ImportFailure(line: line.number, reason: "\(failure)") }
      }
    }
    if let refused { throw refused }
    guard again.isEmpty || isMoved else {
      throw ImportFailure(line: again[0].number, reason: "the server refused the whole request")
    }
    return again
  }

  private var hasRoom: Bool {
    waiting.count < Self.waitingLines && bytesWaiting < Self.waitingBytes
  }

  private func body(of lines: [ImportedLine]) -> Data {
    let kind = existing == .replace ? "forceReplace" : "create"
    var body = Data()
    body.reserveCapacity(lines.reduce(1_000) { $0 + $1.record.count + 64 })
    var head = JSONWriter()
    head.object { writer in
      writer.member("atomic", true)
      for (name, value) in place { writer.member(name, value) }
    }
    // The records are encoded JSON already, so the list is appended to the object without parsing.
    body.append(head.data.dropLast())
    body.append(contentsOf: Array(#","operations":["#.utf8))
    for (index, line) in lines.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      let kind = line.isDeletion ? "forceDelete" : kind
      body.append(contentsOf: Array(#"{"operationType":"\#(kind)","record":"#.utf8))
      body.append(line.record)
      body.append(UInt8(ascii: "}"))
    }
    body.append(contentsOf: Array("]}".utf8))
    return body
  }

  /// Returns the lines that are deletions or whose records do not exist yet. Counts the others as
  /// skipped.
  private mutating func withoutExisting(_ lines: [ImportedLine]) async throws -> [ImportedLine] {
    let names = lines.map { line -> JSONValue in
      [
        "recordName": .string(line.recordName), "zoneID": ["zoneName": .string(line.zoneName)],
        "desiredKeys": [],
      ]
    }
    let items: [JSONValue]
    do {
      let answer = try await patiently {
        try await access.post(
          "records/lookup", place.merging(["records": .array(names)]) { $1 })
      }
      items = answer["records"]?.array ?? []
    } catch let failure as AdminFailure where failure.code == "NOT_FOUND" {
      // The database does not exist yet.
      return lines
    }
    guard items.count == lines.count else {
      throw ImportFailure(reason: "the answer has \(items.count) records, not \(lines.count)")
    }
    var missing: [ImportedLine] = []
    for (line, item) in zip(lines, items) {
      if line.isDeletion || item["serverErrorCode"] != nil {
        missing.append(line)
      } else {
        skipped += 1
      }
    }
    return missing
  }

  private mutating func makeZones(of lines: [ImportedLine]) async throws {
    for zone in Set(lines.map(\.zoneName)).subtracting(knownZones).sorted() {
      let operation: JSONValue = [
        "operationType": "create", "zone": ["zoneID": ["zoneName": .string(zone)]],
      ]
      let answer = try await access.post(
        "zones/modify", place.merging(["operations": [operation]]) { $1 })
      if let failure = answer["zones"]?.array?.first.flatMap({ AdminFailure($0) }) {
        throw ImportFailure(reason: "zone '\(zone)' cannot be created: \(failure)")
      }
      knownZones.insert(zone)
    }
  }

  /// Makes a request. While the server is overloaded (`TRY_AGAIN_LATER`, `THROTTLED`), the method
  /// makes the request again after a second, with at most 30 attempts in total.
  private func patiently(
    _ request: () async throws -> JSONValue
  ) async throws -> JSONValue {
    for _ in 1..<Self.attempts {
      do {
        return try await request()
      } catch let failure as AdminFailure
        where ["TRY_AGAIN_LATER", "THROTTLED"].contains(failure.code)
      {
        try await Task.sleep(for: .seconds(1))
      }
    }
    return try await request()
  }
}
