import JSONCoding

/// A record in the form of CloudKit Web Services, without what belongs to the database it comes from.
///
/// Kept are the name, the type, the zone's name, the fields, the parent, and who created and modified
/// it when, which is for reading: what saves the record again sets its own. Owners of zones go, for in
/// another database they are others, and so does the change tag.
struct PortableRecord {
  /// What cannot be carried from one database to another.
  struct Obstacle: Error, CustomStringConvertible {
    var description: String
  }

  /// What is done with fields that have files in them.
  enum Assets: Sendable {
    /// They are an error.
    case refused
    case leftOut
    /// They are kept with checksum and size; the file itself lies elsewhere.
    case kept
  }

  /// A file in a field.
  struct File: Sendable {
    var fieldName: String
    /// Its place in a list; nil for a single one.
    var index: Int?
    /// The SHA-256 of the file, in hexadecimal.
    var checksum: String
    /// Where it can be fetched; nil in a line of a file.
    var url: String?
  }

  var members: [String: JSONValue]
  /// How many fields with files were left out.
  private(set) var assetsLeftOut = 0
  /// The files of the fields that were kept.
  private(set) var files: [File] = []
  /// Whether the record was shared, which is left out.
  private(set) var isShared: Bool

  static let shareType = "cloudkit.share"

  /// - Throws: ``Obstacle`` naming record and field.
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
              "the field '\(name)' of record '\(record["recordName"]?.string ?? "")' has a "
              + "file in it; --assets names a directory for files, and --without-assets leaves such "
              + "fields out")
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

  /// A field with files, without what is good for one database only.
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

  /// A value, or a list of them, in which references name no owner.
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
