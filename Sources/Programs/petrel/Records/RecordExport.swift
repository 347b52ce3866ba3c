import CommandInterface
import Foundation
import JSONCoding

/// Writes the records of zones as lines of JSON, with one page of them in memory.
struct RecordExport {
  let access: any AdminAccess
  /// The database, as arguments of the admin API.
  let place: [String: String]
  let recordType: String?
  let assets: PortableRecord.Assets
  /// Where files go.
  let folder: AssetFolder?
  let output: FileHandle
  let progress: ProgressLine
  private(set) var records = 0
  private(set) var assetsLeftOut = 0
  private(set) var sharesLeftOut = 0

  init(
    access: any AdminAccess, place: [String: String], recordType: String?,
    assets: PortableRecord.Assets, folder: AssetFolder?, output: FileHandle,
    progress: ProgressLine
  ) {
    self.access = access
    self.place = place
    self.recordType = recordType
    self.assets = assets
    self.folder = folder
    self.output = output
    self.progress = progress
  }

  /// Writes a zone in the order in which its records were last changed. What changes meanwhile comes
  /// once more at the end, and what is deleted as a line that says so.
  mutating func write(zone: String) async throws {
    var query: [String: String?] = place.mapValues { $0 }
    query["zone"] = zone
    query["recordType"] = recordType
    query["limit"] = "200"
    while true {
      let page = try await access.get("records/changes", query)
      var lines = JSONLines()
      for record in page["records"]?.array ?? [] { try await add(record, to: &lines) }
      try output.write(contentsOf: lines.takeData())
      progress.show(records.counting("record") + " ")
      guard page["moreComing"]?.bool == true else { return }
      query["syncToken"] = page["syncToken"]?.string
    }
  }

  /// Writes the records of a public database that a user created or modified last, in the order in which
  /// they were made.
  mutating func writePublicRecords(of user: String) async throws {
    var query: [String: String?] = place.mapValues { $0 }
    query["user"] = user
    query["limit"] = "200"
    while true {
      let page = try await access.get("users/public-records", query)
      var lines = JSONLines()
      for record in page["records"]?.array ?? [] { try await add(record, to: &lines) }
      try output.write(contentsOf: lines.takeData())
      progress.show(records.counting("record") + " ")
      guard let next = page["continuationMarker"]?.string else { return }
      query["continuation"] = next
    }
  }

  private mutating func add(_ json: JSONValue, to lines: inout JSONLines) async throws {
    guard let members = json.object else { return }
    if members["recordType"] == .string(PortableRecord.shareType) {
      sharesLeftOut += 1
      return
    }
    let record: PortableRecord
    do {
      record = try PortableRecord(members, assets: assets)
    } catch {
      throw AdminFailure("\(error)")
    }
    assetsLeftOut += record.assetsLeftOut
    for file in record.files { try await folder?.save(file, from: access) }
    lines.add(.object(record.members))
    records += 1
  }
}

/// Lines of JSON that are being put together.
private struct JSONLines {
  private var data = Data()

  mutating func add(_ json: JSONValue) {
    var writer = JSONWriter()
    writer.value(json)
    data.append(writer.data)
    data.append(UInt8(ascii: "\n"))
  }

  mutating func takeData() -> Data {
    defer { data = Data() }
    return data
  }
}
