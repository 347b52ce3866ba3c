/// The options of a fetch for one zone. Apps use the name
/// `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
///
/// The class has a top-level name because Foundation on Linux cannot archive nested classes. A lock
/// protects its properties.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
  @unchecked Sendable
{
  /// The properties, which the lock protects together.
  private struct Values {
    var previousServerChangeToken: CKServerChangeToken?
    var resultsLimit = 0
    var desiredKeys: [CKRecord.FieldKey]?
  }

  private let values = Locked(Values())

  /// The token of the zone's previous fetch; `nil` starts at the beginning of the zone's feed.
  open var previousServerChangeToken: CKServerChangeToken? {
    get { values.withLock { $0.previousServerChangeToken } }
    set { values.withLock { $0.previousServerChangeToken = newValue } }
  }

  /// The largest number of changes in one answer; 0 lets the server choose. The server returns at
  /// most 200.
  open var resultsLimit: Int {
    get { values.withLock { $0.resultsLimit } }
    set { values.withLock { $0.resultsLimit = newValue } }
  }

  /// The fields to fetch; `nil` means all. An empty list means only the system fields, such as the
  /// change tag.
  open var desiredKeys: [CKRecord.FieldKey]? {
    get { values.withLock { $0.desiredKeys } }
    set { values.withLock { $0.desiredKeys = newValue } }
  }

  public override init() {
    super.init()
  }

  /// Creates the options. A `resultsLimit` of `nil` means 0.
  public convenience init(
    previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil
  ) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
    self.resultsLimit = resultsLimit ?? 0
    self.desiredKeys = desiredKeys
  }

  open class var supportsSecureCoding: Bool { true }

  public required convenience init?(coder: NSCoder) {
    self.init(
      previousServerChangeToken: coder.decodeOptional(
        CKServerChangeToken.self, forKey: "previousServerChangeToken"),
      resultsLimit: coder.decodeInteger(forKey: "resultsLimit"),
      desiredKeys: coder.decodeOptionalStrings(forKey: "desiredKeys"))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(previousServerChangeToken, forKey: "previousServerChangeToken")
    coder.encode(resultsLimit, forKey: "resultsLimit")
    coder.encodeOptional(desiredKeys, forKey: "desiredKeys")
  }

  /// Returns a separate copy. Later changes of the original do not change the copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKFetchRecordZoneChangesConfiguration(
      previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
      desiredKeys: desiredKeys)
  }
}
