/// A zone: a part of a database with records of its own.
///
/// Every private and public database has a default zone. The current user can add custom zones to
/// the private database. Only custom zones have a feed of changes, atomic saves and sharing. In
/// Petrel, the default zone of the public database has a feed too; see
/// ``PetrelFetchPublicChangesOperation``. Save a custom zone before its first record; otherwise the
/// save of the record fails with `zoneNotFound`.
open class CKRecordZone: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The type of zone IDs.
  public typealias ID = CKRecordZoneID

  /// The abilities of a zone. Default zones have none of them, custom zones have all.
  public struct Capabilities: OptionSet, Sendable, BitwiseCopyable {
    /// The abilities as bits.
    public let rawValue: UInt
    /// Makes a set of abilities from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The zone has a feed of changes, so zone and database subscriptions work.
    public static let fetchChanges = Capabilities(rawValue: 1)
    /// The changes of several records can succeed or fail together.
    public static let atomic = Capabilities(rawValue: 2)
    /// Hierarchies of records can be shared.
    public static let sharing = Capabilities(rawValue: 4)
    /// The zone can be shared as a whole.
    public static let zoneWideSharing = Capabilities(rawValue: 8)

    /// The abilities of a custom zone.
    package static let all: Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
  }

  /// The choice between one encryption key for each record and one key for the whole zone.
  public typealias EncryptionScope = CKRecordZoneEncryptionScope

  /// The ID of the zone. It cannot change.
  public let zoneID: CKRecordZone.ID
  /// The abilities of the zone, as the server returned them. Empty in a zone that the program made.
  public let capabilities: Capabilities
  /// The reference to the share of the whole zone; nil if the zone is not shared as a whole.
  public let share: CKRecord.Reference?

  private let scope: Locked<EncryptionScope>

  /// The choice between one encryption key for each record and one for the whole zone; `.perRecord`
  /// unless set.
  ///
  /// Copies and archives keep the value. The server does not encrypt fields and ignores the value,
  /// so a fetched zone has `.perRecord`.
  open var encryptionScope: EncryptionScope {
    get { scope.withLock { $0 } }
    set { scope.withLock { $0 = newValue } }
  }

  /// Returns the default zone of the current user.
  open class func `default`() -> CKRecordZone {
    CKRecordZone(zoneID: .default)
  }

  /// Makes a zone of the current user. Save it before its first record.
  ///
  /// - Precondition: `zoneName` is not empty.
  public convenience init(zoneName: String) {
    self.init(zoneID: CKRecordZone.ID(zoneName: zoneName))
  }

  /// Makes a zone with this ID, without abilities.
  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, capabilities: [], share: nil)
  }

  package init(zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference?) {
    self.zoneID = zoneID
    self.capabilities = capabilities
    self.share = share
    scope = Locked(.perRecord)
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a zone from an archive. Returns nil, and makes the decoder fail, if the ID is missing.
  public required init?(coder: NSCoder) {
    guard let zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "ZoneID", "zoneID") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.zoneID = zoneID
    capabilities = Capabilities(
      rawValue: coder.decodeOptional(NSNumber.self, forKey: "Capabilities")?.uintValue
        ?? UInt(clamping: coder.decodeInteger(forKey: "capabilities")))
    share = coder.decodeOptional(CKReference.self, forKey: "ShareReference", "share")
    scope = Locked(
      EncryptionScope(number: coder.decodeInteger(forKey: "encryptionScope")))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(zoneID, forKey: "ZoneID")
    coder.encode(NSNumber(value: capabilities.rawValue), forKey: "Capabilities")
    coder.encode(share, forKey: "ShareReference")
    coder.encode(encryptionScope.rawValue, forKey: "encryptionScope")
  }

  /// Returns a separate zone with the same properties.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKRecordZone(zoneID: zoneID, capabilities: capabilities, share: share)
    copy.encryptionScope = encryptionScope
    return copy
  }

  open override var description: String {
    "<CKRecordZone: \(zoneID.zoneName):\(zoneID.ownerName)>"
  }
}
