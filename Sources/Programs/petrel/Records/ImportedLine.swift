import Foundation
import JSONCoding

/// A line of a file with records, parsed and checked. Its record can be saved.
struct ImportedLine {
  var number: Int
  var recordName: String
  var zoneName: String
  var isDeletion: Bool
  private(set) var record: Data
  private(set) var files: [PortableRecord.File]
  /// The members of the record while it has files to upload; otherwise empty.
  private var members: [String: JSONValue]
  var assetsLeftOut: Int

  /// Parses a line.
  ///
  /// - Parameter zone: The name of the zone for the record; `nil` for the zone in the line.
  /// - Throws: ``ImportFailure`` with the rule that the line violates.
  init(
    _ data: Data, number: Int, zone: String?, assets: PortableRecord.Assets
  ) throws(ImportFailure) {
    func failure(_ reason: String) -> ImportFailure { ImportFailure(line: number, reason: reason) }
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: data)
    } catch {
      throw failure("\(error)")
    }
    guard let object = json.object else {
      throw failure("must be a record as a JSON object, not \(json.kind)")
    }
    guard let name = object["recordName"]?.string, !name.isEmpty else {
      throw failure("'recordName' is missing or is not a string")
    }
    let portable: PortableRecord
    do throws(PortableRecord.Obstacle) {
      portable = try PortableRecord(object, assets: assets)
    } catch {
      throw failure("\(error)")
    }
    var record = portable.members
    if let zone { record["zoneID"] = ["zoneName": .string(zone)] }
    isDeletion = record["deleted"]?.bool == true
    if !isDeletion {
      guard let type = record["recordType"]?.string, !type.isEmpty else {
        throw failure("'recordType' of record '\(name)' is missing or is not a string")
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
    files = isDeletion ? [] : portable.files
    members = files.isEmpty ? [:] : record
    self.record = Self.data(record)
  }

  /// The list `tokens` of a request to `assets/upload`, with an element for each file.
  var uploadTokens: [JSONValue] {
    files.map { file in
      [
        "recordName": .string(recordName), "recordType": members["recordType"] ?? "",
        "fieldName": .string(file.fieldName),
      ]
    }
  }

  /// - Parameter values: One value for each element of ``files``, in the same order.
  mutating func setFiles(_ values: [JSONValue]) {
    var fields = members["fields"]?.object ?? [:]
    for (file, value) in zip(files, values) {
      guard var field = fields[file.fieldName]?.object else { continue }
      if let index = file.index, var list = field["value"]?.array, list.indices.contains(index) {
        list[index] = value
        field["value"] = .array(list)
      } else {
        field["value"] = value
      }
      fields[file.fieldName] = .object(field)
    }
    members["fields"] = .object(fields)
    record = Self.data(members)
    files = []
    members = [:]
  }

  private static func data(_ members: [String: JSONValue]) -> Data {
    var writer = JSONWriter()
    writer.value(.object(members))
    return writer.data
  }
}

/// The reason why an import stopped.
struct ImportFailure: Error {
  /// The number of the line, from 1; `nil` if the reason concerns no single line.
  var line: Int?
  var reason: String
}
