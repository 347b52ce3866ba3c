import CloudKitModel

/// The settings for reading and writing messages that the messages themselves do not contain.
public struct MessageContext: Sendable, Hashable {
  /// The relation between owner names on the wire and in the model.
  public enum OwnerNaming: Sendable, Hashable {
    /// The server's way. On the wire, this user record name stands for the model's "current owner".
    case relative(to: String)
    /// A client's way in the user's own databases and the public one. Each owner on the wire
    /// becomes the "current owner" of the model.
    case implied
    /// Names are the same on the wire and in the model.
    case explicit
  }

  /// The relation between owner names on the wire and in the model.
  public var ownerNaming: OwnerNaming
  /// Whether integers and doubles are written as strings. JavaScript's numbers have 53 bits.
  public var numbersAsStrings: Bool
  /// Whether answers contain facts that a reader could infer. These are the zone of a reference to
  /// the record's own zone, and a device name for changes without one. Some public clients cannot
  /// read records without them.
  public var writesImplied: Bool
  /// The zone that is written for references without a zone; nil writes none.
  var zoneOfReferences: ZoneID?

  /// Creates a context.
  public init(
    ownerNaming: OwnerNaming, numbersAsStrings: Bool = false, writesImplied: Bool = false
  ) {
    self.ownerNaming = ownerNaming
    self.numbersAsStrings = numbersAsStrings
    self.writesImplied = writesImplied
  }
}
