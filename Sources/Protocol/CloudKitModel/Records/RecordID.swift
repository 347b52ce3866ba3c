/// The name of a record and the zone it lies in: unique in a database.
public struct RecordID: Sendable, Hashable, CustomStringConvertible {
  public var recordName: String
  public var zoneID: ZoneID

  public init(recordName: String, zoneID: ZoneID = .default) {
    self.recordName = recordName
    self.zoneID = zoneID
  }

  public var description: String { "\(recordName) in \(zoneID)" }

  /// Throws unless the name may be given to a new record: 1 to 255 ASCII characters that do not
  /// begin with `_`.
  public func validate() throws(ModelError) {
    try Identifier.validate(recordName, as: "recordName")
  }
}
