/// A pointer from a record to another record of the same database.
public struct Reference: Sendable, Hashable {
  /// The effect of a reference on the record that contains the reference. The raw values are the
  /// web-services names.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// The reference has no effect.
    case none = "NONE"
    /// When the server deletes the target, the server also deletes the record that contains the
    /// reference. At most ``ServiceLimits/deleteSelfReferencesPerTarget`` references with this
    /// action may point to one target.
    case deleteSelf = "DELETE_SELF"
    /// The target must exist when the record is saved, or the same request must create the target.
    /// Otherwise the save fails with `VALIDATING_REFERENCE_ERROR`.
    case validate = "VALIDATE"
  }

  /// The name of the target.
  public var recordName: String
  /// The target's zone; nil means the zone of the record that contains the reference.
  public var zoneID: ZoneID?
  /// The effect of the reference.
  public var action: Action

  /// Creates a reference. The name is kept in the form ``Swift/String/composed``, as that of the
  /// target's ``RecordID`` is.
  public init(recordName: String, zoneID: ZoneID? = nil, action: Action = .none) {
    self.recordName = recordName.composed
    self.zoneID = zoneID
    self.action = action
  }

  /// Returns whether both references point to the same record. The actions may differ. A reference
  /// without a zone matches a reference with any zone.
  public func hasSameTarget(as other: Reference) -> Bool {
    guard recordName.hasSameBytes(as: other.recordName) else { return false }
    guard let zoneID, let otherZoneID = other.zoneID else { return true }
    return zoneID == otherZoneID
  }
}
