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

  var members: [String: JSONValue]
  /// How many fields with files were left out.
  private(set) var assetsLeftOut = 0
  /// Whether the record was shared, which is left out.
  private(set) var isShared: Bool

  static let shareType = "cloudkit.share"

  /// - Parameter leavesOutAssets: whether fields with files are left out, instead of being an error.
  /// - Throws: ``Obstacle`` naming record and field.
  init(_ record: [String: JSONValue], leavesOutAssets: Bool) throws(Obstacle) {
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
        guard leavesOutAssets else {
          throw Obstacle(
            description:
              "the field '\(name)' of record '\(record["recordName"]?.string ?? "")' has a "
              + "file in it, which goes with 'petrel backup' only; --without-assets leaves such "
              + "fields out")
        }
        kept[name] = nil
        assetsLeftOut += 1
      } else if case .object(var field) = field {
        field["value"] = Self.withoutOwners(value)
        kept[name] = .object(field)
      }
    }
    members["fields"] = .object(kept)
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
