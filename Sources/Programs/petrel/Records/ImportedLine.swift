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
  private(set) var record: Data
  /// The files that are to be uploaded before the record is saved.
  private(set) var files: [PortableRecord.File]
  /// The record as a value, while there are files.
  private var members: [String: JSONValue]
  var assetsLeftOut: Int

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - zone: where the record goes; nil is where it says.
  /// - Throws: ``ImportFailure`` with the rule that the line breaks.
  init(
    _ data: Data, number: Int, zone: String?, assets: PortableRecord.Assets
  ) throws(ImportFailure) {
    func failure(_ reason: String) -> ImportFailure { ImportFailure(line: number, reason: reason) }
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: data)
    } catch {
      throw failure("no JSON: \(error)")
    }
    guard let object = json.object else {
      throw failure("must be a record as a JSON object, not \(json.kind)")
    }
    guard let name = object["recordName"]?.string, !name.isEmpty else {
      throw failure("'recordName' is missing, or no string")
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
    files = isDeletion ? [] : portable.files
    members = files.isEmpty ? [:] : record
    self.record = Self.data(record)
  }

  /// What `assets/upload` is asked for each of the files.
  var uploadTokens: [JSONValue] {
    files.map { file in
      [
        "recordName": .string(recordName), "recordType": members["recordType"] ?? "",
        "fieldName": .string(file.fieldName),
      ]
    }
  }

  /// Puts what uploads were answered in the places of the files.
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

/// Why an import stopped.
struct ImportFailure: Error {
  /// The line in question; nil where it is none in particular.
  var line: Int?
  var reason: String
}
