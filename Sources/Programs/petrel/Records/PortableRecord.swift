import JSONCoding

/// A record in the format of CloudKit Web Services, without the parts that belong to one database.
///
/// The name, the type, the zone's name, the fields and the parent are kept, and the mark of a
/// deletion. The times and users of creation and last change are kept for information only: saving
/// the record sets new ones. Owners of zones and the change tag are left out, because they differ
/// in another database.
struct PortableRecord {
  /// The error for a part of a record that cannot be transferred to another database.
  struct Obstacle: Error, CustomStringConvertible {
    var description: String
  }

  /// The handling of fields with files (assets).
  enum Assets: Sendable {
    /// A field with a file is an error.
    case refused
    /// The field is left out, and ``PortableRecord/assetsLeftOut`` counts it.
    case leftOut
    /// The field keeps checksum and size. The file itself is in an ``AssetFolder``.
    case kept
  }

  /// A file in a field.
  struct File: Sendable {
    var fieldName: String
    /// The position in a list of files, from 0; `nil` for a field with a single file.
    var index: Int?
    /// The SHA-256 of the file in hexadecimal.
    var checksum: String
    /// The URL from which the file can be downloaded; `nil` in a line of an export.
    var url: String?
  }

  var members: [String: JSONValue]
  private(set) var assetsLeftOut = 0
  private(set) var files: [File] = []
  /// Whether the record is shared. The share itself is left out.
  private(set) var isShared: Bool

  static let shareType = "cloudkit.share"

  /// Creates the record from an answer of the server or a line of an export.
  ///
  /// - Throws: ``Obstacle`` if `fields` is no object, if `assets` refuses a field with a file, or
  ///   if a file has no SHA-256.
  init(_ record: [String: JSONValue], assets: Assets) throws(Obstacle) {
    members = [:]
    for name in ["recordName", "recordType", "created", "modified"] {
      members[name] = record[name]
    }
    isShared = record["share"].map { $0 != .null } ?? false
    let zone = record["zoneID"]
    if let zoneName = zone?["zoneName"]?.string ?? zone?.string {
      members["zoneID"] = ["zoneName": .string(zoneName)]
    }
    if let parent = record["parent"], parent != .null {
      members["parent"] = Self.withoutOwner(parent)
    }
    if record["deleted"]?.bool == true { members["deleted"] = true }
    guard let fields = record["fields"], fields != .null else { return }
    guard var kept = fields.object else {
      throw Obstacle(description: "'fields' must be an object, not \(fields.kind)")
    }
    for (name, field) in kept {
      guard let value = field["value"] else { continue }
      if Self.isAsset(field, value) {
        switch assets {
        case .refused:
          throw Obstacle(
            description:
              "the field '\(name)' of record '\(record["recordName"]?.string ?? "")' contains a "
              + "file; name a directory for files with --assets, or leave such fields out with "
              + "--without-assets")
        case .leftOut:
          kept[name] = nil
          assetsLeftOut += 1
        case .kept:
          kept[name] = try file(field, value, named: name)
        }
      } else if case .object(var field) = field {
        field["value"] = Self.withoutOwners(value)
        kept[name] = .object(field)
      }
    }
    members["fields"] = .object(kept)
  }

  /// Returns a field with files, reduced to checksum and size of each file, and adds the files to
  /// ``files``.
  private mutating func file(
    _ field: JSONValue, _ value: JSONValue, named name: String
  ) throws(Obstacle) -> JSONValue {
    func reduced(_ value: JSONValue, at index: Int?) throws(Obstacle) -> JSONValue {
      guard let checksum = value["fileChecksum"]?.string,
        checksum.wholeMatch(of: /[0-9a-f]{64}/) != nil
      else {
        throw Obstacle(
          description: "the field '\(name)' has a file without a SHA-256 in 'fileChecksum'")
      }
      files.append(
        File(
          fieldName: name, index: index, checksum: checksum, url: value["downloadURL"]?.string))
      return ["fileChecksum": .string(checksum), "size": value["size"] ?? 0]
    }
    var members = field.object ?? [:]
    if let elements = value.array {
      var list: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        list.append(try reduced(element, at: index))
      }
      members["value"] = .array(list)
    } else {
      members["value"] = try reduced(value, at: nil)
    }
    return .object(members)
  }

  private static func isAsset(_ field: JSONValue, _ value: JSONValue) -> Bool {
    if let type = field["type"]?.string { return type.hasPrefix("ASSET") }
    return value["fileChecksum"] != nil || value.array?.first?["fileChecksum"] != nil
  }

  /// Returns a field's value. In a reference, or a list of references, the owner of the zone is
  /// removed.
  private static func withoutOwners(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements):
      guard elements.first?["recordName"] != nil else { return value }
      return .array(elements.map(withoutOwner))
    case .object: return withoutOwner(value)
    default: return value
    }
  }

  private static func withoutOwner(_ reference: JSONValue) -> JSONValue {
    guard var members = reference.object, var zone = members["zoneID"]?.object else {
      return reference
    }
    zone["ownerRecordName"] = nil
    zone["ownerName"] = nil
    members["zoneID"] = .object(zone)
    return .object(members)
  }
}
