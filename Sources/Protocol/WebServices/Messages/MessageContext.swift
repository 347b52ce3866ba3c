import CloudKitModel

/// The settings for reading and writing messages that the messages themselves do not contain.
public struct MessageContext: Sendable, Hashable {
  /// The relation between the owner names in messages and in the model.
  public enum OwnerNaming: Sendable, Hashable {
    /// The server's rule: this user record name in messages is the model's "current owner"
    /// (`ZoneID.currentOwnerName`).
    case relative(to: String)
    /// A client's rule for the user's own databases and the public database: each owner in a
    /// message becomes the model's "current owner".
    case implied
    /// Owner names are the same in messages and in the model.
    case explicit
  }

  /// The relation between the owner names in messages and in the model.
  public var ownerNaming: OwnerNaming
  /// Whether integers and doubles are written as strings. JavaScript's numbers are exact only up to
  /// 53 bits.
  public var numbersAsStrings: Bool
  /// Whether answers contain two values that a reader could infer, because some public clients
  /// cannot read records without them. The first is the zone of a reference without a zone, which
  /// is the record's own zone. The second is a device name for a save without a device name.
  public var writesImplied: Bool
  /// Whether answers have `ZoneID.currentOwnerName` in place of the caller's record name, for the users
  /// of records and shares and for the owners of zones. Petrel's native client asks for it, because
  /// Apple's native framework names the current user so.
  public var namesCallerByDefault: Bool
  /// The zone that is written for references without a zone; nil writes none.
  var zoneOfReferences: ZoneID?

  /// Creates a context.
  public init(
    ownerNaming: OwnerNaming, numbersAsStrings: Bool = false, writesImplied: Bool = false,
    namesCallerByDefault: Bool = false
  ) {
    self.ownerNaming = ownerNaming
    self.numbersAsStrings = numbersAsStrings
    self.writesImplied = writesImplied
    self.namesCallerByDefault = namesCallerByDefault
  }
}

extension MessageContext {
  /// The name of the query parameter that sets ``namesCallerByDefault``. Its one value is
  /// `ZoneID.currentOwnerName`.
  public static let callerNameParameter = "callerName"

  /// Returns the name of a record or a user for a name in a request. On the server,
  /// `ZoneID.currentOwnerName` becomes the caller's record name.
  ///
  /// A value of a filter may have any number of combining marks. Swift orders the marks of texts that
  /// it compares, which takes the square of their number, so the bytes are compared.
  func modelName(_ name: String) -> String {
    guard name.utf8.elementsEqual(ZoneID.currentOwnerName.utf8),
      case .relative(let own) = ownerNaming
    else { return name }
    return own
  }

  func wireName(ofUser name: String) -> String {
    guard namesCallerByDefault, case .relative(name) = ownerNaming else { return name }
    return ZoneID.currentOwnerName
  }
}
