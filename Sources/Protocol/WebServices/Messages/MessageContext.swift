import CloudKitModel

/// What the reading and writing of messages must know beyond the message.
public struct MessageContext: Sendable, Hashable {
  /// How owners of zones are named on the wire and in the model.
  public enum OwnerNaming: Sendable, Hashable {
    /// The server's way: this user record name stands on the wire where the model says "current
    /// owner".
    case relative(to: String)
    /// A client's way in its own and in the public database: whatever the wire says, the owner is
    /// the current one.
    case implied
    /// Names stand in the model as they stand on the wire.
    case explicit
  }

  public var ownerNaming: OwnerNaming
  /// Whether integers and doubles are written as strings, for readers with 53-bit numbers.
  public var numbersAsStrings: Bool
  /// Whether is written what a reader could infer: the zone of a reference into its record's own
  /// zone, and the device of a change that no device's name came with. Some public clients cannot
  /// read records without.
  public var writesImplied: Bool
  /// What is written for references that name no zone.
  var zoneOfReferences: ZoneID?

  public init(
    ownerNaming: OwnerNaming, numbersAsStrings: Bool = false, writesImplied: Bool = false
  ) {
    self.ownerNaming = ownerNaming
    self.numbersAsStrings = numbersAsStrings
    self.writesImplied = writesImplied
  }
}
