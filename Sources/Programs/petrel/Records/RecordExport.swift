import CommandInterface
import Foundation
import JSONCoding

/// An export of records as lines of JSON. It keeps one page of at most 200 records in memory.
struct RecordExport {
  let access: any AdminAccess
  let place: [String: JSONValue]
  let recordType: String?
  let assets: PortableRecord.Assets
  /// The folder for the files of asset fields; `nil` if files are not exported.
  let folder: AssetFolder?
  let output: FileHandle
  let progress: ProgressLine
  private(set) var records = 0
  private(set) var assetsLeftOut = 0
  /// The number of records that were left out because they are shares.
  private(set) var sharesLeftOut = 0

  init(
    access: any AdminAccess, place: [String: JSONValue], recordType: String?,
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

  /// Writes the records of a zone in the order of their last changes.
  ///
  /// A record that changes during the export appears again at the end. A record that is deleted
  /// during the export appears as a deletion.
  mutating func write(zone: String) async throws {
    var query = place
    query["zone"] = .string(zone)
    query["recordType"] = recordType.map { .string($0) }
    query["limit"] = "200"
    while true {
      let page = try await access.get("records/changes", query)
      var lines = LineFile()
      for record in page["records"]?.array ?? [] { try await add(record, to: &lines) }
      try output.write(contentsOf: lines.takeData())
      progress.show(records.counting("record") + " ")
      guard page["moreComing"]?.bool == true else { return }
      query["syncToken"] = page["syncToken"]
    }
  }

  /// Writes records of a public database, in the order of their creation: those that the user
  /// created, and those whose last change is by the user.
  ///
  /// - Parameter user: The user record name.
  mutating func writePublicRecords(of user: JSONValue) async throws {
    var query = place
    query["user"] = user
    query["limit"] = "200"
    while true {
      let page = try await access.get("users/public-records", query)
      var lines = LineFile()
      for record in page["records"]?.array ?? [] { try await add(record, to: &lines) }
      try output.write(contentsOf: lines.takeData())
      progress.show(records.counting("record") + " ")
      guard let next = page["continuationMarker"] else { return }
      query["continuation"] = next
    }
  }

  /// Appends the line of a record, and saves the files of the record in ``folder``, if there is
  /// one. A share is only counted.
  ///
  /// - Throws: ``AdminFailure`` if the record cannot be exported or a file cannot be downloaded.
  private mutating func add(_ json: JSONValue, to lines: inout LineFile) async throws {
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

/// A buffer for lines of JSON.
private struct LineFile {
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
