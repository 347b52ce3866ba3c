/// One operation on one record (`records/modify`).
public struct RecordOperation: Sendable, Hashable {
  /// The raw values are the web-services names.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record must not exist.
    case create
    /// Changes the named fields; the record must exist and its change tag agree.
    case update
    /// As ``update`` without looking at the tag; creates the record when there is none.
    case forceUpdate
    /// As ``update``, and fields that are not named lose their values.
    case replace
    /// As ``replace`` without looking at the tag; creates the record when there is none.
    case forceReplace
    /// The record must exist and its change tag agree.
    case delete
    /// Deletes without looking at the tag; a record that does not exist is no failure.
    case forceDelete
  }

  public var kind: Kind
  public var recordID: RecordID
  /// Needed by operations that may create.
  public var recordType: String?
  public var recordChangeTag: String?
  /// The fields to set; nil removes the field's value.
  public var fields: RecordFields<RecordValue?>
  /// The names of those fields that are marked as encrypted.
  public var encryptedFields: Set<String> = []
  /// The parent to set; `.some(nil)` removes it, nil leaves it.
  public var parent: Reference??
  /// What a share is to have beyond its fields; nil for other records.
  public var shareContent: ShareContent?

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
    self.shareContent = shareContent
  }

  /// About how many bytes the fields count towards ``ServiceLimits/recordsSizePerRequest``.
  public var approximateSize: Int {
    fields.reduce(recordID.recordName.utf8.count) {
      $0 + $1.key.utf8.count + ($1.value?.approximateSize ?? 0)
    }
  }
}
