/// What to fetch of one zone: `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
  @unchecked Sendable
{
  private struct Values {
    var previousServerChangeToken: CKServerChangeToken?
    var resultsLimit = 0
    var desiredKeys: [CKRecord.FieldKey]?
  }

  private let values = Locked(Values())

  /// Where to go on; nil fetches everything.
  open var previousServerChangeToken: CKServerChangeToken? {
    get { values.withLock { $0.previousServerChangeToken } }
    set { values.withLock { $0.previousServerChangeToken = newValue } }
  }

  /// Changes in one answer at most; 0 leaves it to the server.
  open var resultsLimit: Int {
    get { values.withLock { $0.resultsLimit } }
    set { values.withLock { $0.resultsLimit = newValue } }
  }

  /// The fields to fetch; nil means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]? {
    get { values.withLock { $0.desiredKeys } }
    set { values.withLock { $0.desiredKeys = newValue } }
  }

  public override init() {
    super.init()
  }

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

  open func copy(with zone: NSZone? = nil) -> Any {
    CKFetchRecordZoneChangesConfiguration(
      previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
      desiredKeys: desiredKeys)
  }
}
