/// One operation on one record (`records/modify`).
public struct RecordOperation: Sendable, Hashable {
  /// The effect of an operation. The raw values are the web-services names.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Creates a record. The operation fails with `EXISTS` when the record exists.
    case create
    /// Changes the named fields and leaves the others. The record must exist and have the
    /// operation's change tag.
    case update
    /// Changes the named fields without a check of the change tag. The operation creates the record
    /// when the record does not exist.
    case forceUpdate
    /// Replaces all fields: those that the operation does not name lose their values. The record
    /// must exist and have the operation's change tag.
    case replace
    /// Replaces all fields without a check of the change tag. The operation creates the record when
    /// the record does not exist.
    case forceReplace
    /// Deletes a record. The record must exist and have the operation's change tag.
    case delete
    /// Deletes a record without a check of the change tag. The operation also succeeds when the
    /// record does not exist.
    case forceDelete
  }

  /// The effect of the operation.
  public var kind: Kind
  /// The name and the zone of the record.
  public var recordID: RecordID
  /// The type of the record. Operations that may create a record need the type; for others it may
  /// be nil.
  public var recordType: String?
  /// The version of the record that the client knows. ``Kind/update``, ``Kind/replace`` and
  /// ``Kind/delete`` compare this version with the stored version.
  public var recordChangeTag: String?
  /// The fields to set. A nil value removes the field.
  public var fields: RecordFields<RecordValue?>
  /// The names of the fields that are marked as encrypted.
  public var encryptedFields: Set<String> = []
  /// The names of the fields to which the request gives an empty list without a type.
  public var untypedLists: Set<String> = []
  /// The parent to set. `.some(nil)` removes the parent; nil leaves it as it is.
  public var parent: Reference??
  /// Whether the record gets a short GUID, and the answer names it. A later share of the record has
  /// this short GUID.
  public var createsShortGUID = false
  /// The content of a share in addition to its fields; nil for records that are no shares.
  public var shareContent: ShareContent? {
    get { boxedShareContent?.value }
    set { boxedShareContent = newValue.map(Boxed.init) }
  }
  private var boxedShareContent: Boxed<ShareContent>?

  /// Creates an operation without checks.
  public init(
    kind: Kind, recordID: RecordID, recordType: String? = nil, recordChangeTag: String? = nil,
    fields: RecordFields<RecordValue?> = [:], parent: Reference?? = nil,
    shareContent: ShareContent? = nil
  ) {
    self.kind = kind
    self.recordID = recordID
    self.recordType = recordType
    self.recordChangeTag = recordChangeTag
    self.fields = fields
    self.parent = parent
    boxedShareContent = shareContent.map(Boxed.init)
  }

  /// The estimated number of bytes of the record's name and fields. The sum over a request is
  /// limited by ``ServiceLimits/recordsSizePerRequest``.
  public var approximateSize: Int {
    fields.reduce(recordID.recordName.utf8.count) {
      $0 + $1.key.utf8.count + ($1.value?.approximateSize ?? 0)
    }
  }
}
