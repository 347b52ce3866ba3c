/// A field's pointer to another record of the same database.
public struct Reference: Sendable, Hashable {
  /// What becomes of the record that holds the reference.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    case none = "NONE"
    /// The holder is deleted when the target is.
    case deleteSelf = "DELETE_SELF"
    /// The target must exist when the holder is saved.
    case validate = "VALIDATE"
  }

  public var recordName: String
  /// The target's zone; nil means the zone of the record that holds the reference.
  public var zoneID: ZoneID?
  public var action: Action

  public init(recordName: String, zoneID: ZoneID? = nil, action: Action = .none) {
    self.recordName = recordName
    self.zoneID = zoneID
    self.action = action
  }

  /// Whether both point at the same record. The action does not count, and a missing zone agrees
  /// with any.
  public func hasSameTarget(as other: Reference) -> Bool {
    guard recordName.hasSameBytes(as: other.recordName) else { return false }
    guard let zoneID, let otherZoneID = other.zoneID else { return true }
    return zoneID == otherZoneID
  }
}
