import Foundation
import JSONCoding

/// A line of a file of records, ready to be saved.
struct ImportedLine {
  var number: Int
  var recordName: String
  var zoneName: String
  /// Whether the line says that the record was deleted.
  var isDeletion: Bool
  /// The record as JSON.
  var record: Data
  var assetsLeftOut: Int

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - zone: where the record goes; nil is where it says.
  ///   - leavesOutAssets: whether fields with files are left out, instead of being an error.
  /// - Throws: ``ImportFailure`` with the rule that the line breaks.
  init(
    _ data: Data, number: Int, zone: String?, leavesOutAssets: Bool
  ) throws(ImportFailure) {
    func failure(_ reason: String) -> ImportFailure { ImportFailure(line: number, reason: reason) }
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: data)
    } catch {
      throw failure("no JSON: \(error)")
    }
    guard let members = json.object else {
      throw failure("must be a record as a JSON object, not \(json.kind)")
    }
    guard let name = members["recordName"]?.string, !name.isEmpty else {
      throw failure("'recordName' is missing, or no string")
    }
    let portable: PortableRecord
    do throws(PortableRecord.Obstacle) {
      portable = try PortableRecord(members, leavesOutAssets: leavesOutAssets)
    } catch {
      throw failure("\(error)")
    }
    var record = portable.members
    if let zone { record["zoneID"] = ["zoneName": .string(zone)] }
    isDeletion = record["deleted"]?.bool == true
    if !isDeletion {
      guard let type = record["recordType"]?.string, !type.isEmpty else {
        throw failure("'recordType' of record '\(name)' is missing, or no string")
      }
      guard type != PortableRecord.shareType else {
        throw failure("record '\(name)' is a share, which cannot be imported")
      }
    }
    for member in ["created", "modified", "deleted"] { record[member] = nil }
    self.number = number
    recordName = name
    zoneName = record["zoneID"]?["zoneName"]?.string ?? "_defaultZone"
    assetsLeftOut = portable.assetsLeftOut
    var writer = JSONWriter()
    writer.value(.object(record))
    self.record = writer.data
  }
}

/// Why an import stopped.
struct ImportFailure: Error {
  /// The line in question; nil where it is none in particular.
  var line: Int?
  var reason: String
}
