/// A zone: a part of a database whose changes can be fetched together.
open class CKRecordZone: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  public typealias ID = CKRecordZoneID

  /// What a zone can do. Default zones can do none of it, custom zones all.
  public struct Capabilities: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The zone has a change feed, so that zone and database subscriptions work.
    public static let fetchChanges = Capabilities(rawValue: 1)
    /// Changes of several records can be made to succeed or fail together.
    public static let atomic = Capabilities(rawValue: 2)
    /// Hierarchies of records can be shared.
    public static let sharing = Capabilities(rawValue: 4)
    /// The zone can be shared as a whole.
    public static let zoneWideSharing = Capabilities(rawValue: 8)

    package static let all: Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
  }

  /// What the keys of encrypted fields are for.
  public enum EncryptionScope: Int, Sendable {
    /// Each record has keys of its own.
    case perRecord = 0
    /// One key is for the whole zone.
    case perZone = 1
  }

  public let zoneID: CKRecordZone.ID
  /// What the zone can do; valid only in zones that the server returned.
  public let capabilities: Capabilities
  /// The share of the whole zone, in fetched zones that have one.
  public let share: CKRecord.Reference?

  private let scope: Locked<EncryptionScope>

  /// Kept with the zone, in copies and archives too. Petrel's server, which encrypts no fields, does
  /// not look at it: a fetched zone has `perRecord`.
  open var encryptionScope: EncryptionScope {
    get { scope.withLock { $0 } }
    set { scope.withLock { $0 = newValue } }
  }

  /// The default zone of the current user.
  open class func `default`() -> CKRecordZone {
    CKRecordZone(zoneID: .default)
  }

  /// A zone of the current user, to be saved before records go into it.
  ///
  /// - Precondition: `zoneName` is not empty.
  public convenience init(zoneName: String) {
    self.init(zoneID: CKRecordZone.ID(zoneName: zoneName))
  }

  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, capabilities: [], share: nil)
  }

  /// A zone as the server returned it.
  package init(zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference?) {
    self.zoneID = zoneID
    self.capabilities = capabilities
    self.share = share
    scope = Locked(.perRecord)
  }

  open class var supportsSecureCoding: Bool { true }

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
      EncryptionScope(rawValue: coder.decodeInteger(forKey: "encryptionScope")) ?? .perRecord)
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(zoneID, forKey: "ZoneID")
    coder.encode(NSNumber(value: capabilities.rawValue), forKey: "Capabilities")
    coder.encode(share, forKey: "ShareReference")
    coder.encode(encryptionScope.rawValue, forKey: "encryptionScope")
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKRecordZone(zoneID: zoneID, capabilities: capabilities, share: share)
    copy.encryptionScope = encryptionScope
    return copy
  }

  open override var description: String {
    "<CKRecordZone: \(zoneID.zoneName):\(zoneID.ownerName)>"
  }
}
