/// The name of a record and its zone, which together are unique in a database.
public struct RecordID: Sendable, Hashable, CustomStringConvertible {
  /// The name of the record, unique in its zone.
  public var recordName: String
  /// The zone that contains the record.
  public var zoneID: ZoneID

  /// Creates an ID without checks; call ``validate()`` to check it. The name is kept in the form
  /// ``Swift/String/composed``.
  public init(recordName: String, zoneID: ZoneID = .default) {
    self.recordName = recordName.composed
    self.zoneID = zoneID
  }

  public var description: String { "\(recordName) in \(zoneID)" }

  /// Checks that a new record may have the name: 1 to 255 characters without control
  /// characters, not beginning with `_`.
  ///
  /// Records of the system, such as those of type `Users`, have names that begin with `_`.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public func validate() throws(ModelError) {
    try Identifier.validate(recordName, as: "recordName")
  }
}
