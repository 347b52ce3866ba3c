/// A record: named fields with values, under an ID, of a type.
///
/// A record is made, filled, and saved in a database; the save returns a new object with the
/// server's change tag, users and dates. Limits: 1 MB without assets; field names begin with a
/// letter and hold letters, digits and `_`. The server checks them.
///
/// Threads may share a record: each access is atomic.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting,
  @unchecked Sendable
{
  public typealias ID = CKRecordID
  public typealias Reference = CKReference
  public typealias RecordType = String
  public typealias FieldKey = String

  private let storedType: RecordType
  private let storedID: ID
  let systemFields: SystemFields
  let contents: Locked<Contents>

  open var recordType: RecordType { storedType }
  open var recordID: ID { storedID }
  /// Changes with each save; nil before the first.
  open var recordChangeTag: String? { systemFields.changeTag }
  open var creatorUserRecordID: ID? { systemFields.creator }
  open var creationDate: Date? { systemFields.creationDate }
  open var lastModifiedUserRecordID: ID? { systemFields.lastModifier }
  open var modificationDate: Date? { systemFields.modificationDate }
  /// The share that the record belongs to.
  open var share: Reference? { systemFields.share }

  /// A new record.
  ///
  /// - Precondition: `recordType` is not empty.
  public init(recordType: RecordType, recordID: ID = CKRecord.ID()) {
    requireArgument(!recordType.isEmpty, "CKRecord: recordType must not be empty")
    storedType = recordType
    storedID = recordID
    systemFields = SystemFields()
    contents = Locked(Contents())
  }

  /// A new record with a UUID as its name.
  @available(*, deprecated, message: "Use init(recordType:recordID:)")
  public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
    self.init(recordType: recordType, recordID: ID(zoneID: zoneID))
  }

  init(recordType: RecordType, recordID: ID, system: SystemFields, contents: Contents) {
    storedType = recordType
    storedID = recordID
    systemFields = system
    self.contents = Locked(contents)
  }

  open class var supportsSecureCoding: Bool { true }

  /// A record from an archive: all of it, or its system fields (``encodeSystemFields(with:)``).
  ///
  /// An archive that lacks type or ID makes the decoder fail, and gives nil.
  public required init?(coder: NSCoder) {
    guard let recordType = coder.decodeOptionalString(forKey: "RecordType", "recordType"),
      let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    else {
      // Under the other policy, the default here and not at Apple, this would end the program.
      if coder.decodingFailurePolicy == .setErrorAndReturn {
        coder.failWithError(CocoaError(.coderValueNotFound))
      }
      return nil
    }
    storedType = recordType
    storedID = recordID
    systemFields = SystemFields(coder: coder)
    contents = Locked(Contents(coder: coder))
  }

  /// A record from an archive, for subclasses whose decoding cannot give nil. One that lacks type or
  /// ID makes the decoder fail, and a record without a type.
  init(decoding coder: NSCoder) {
    let recordType = coder.decodeOptionalString(forKey: "RecordType", "recordType")
    let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    if recordType == nil || recordID == nil {
      coder.failWithError(CocoaError(.coderValueNotFound))
    }
    storedType = recordType ?? ""
    storedID = recordID ?? ID()
    systemFields = SystemFields(coder: coder)
    contents = Locked(Contents(coder: coder))
  }

  open func encode(with coder: NSCoder) {
    encodeSystemFields(with: coder)
    contents.withLock { $0 }.encodeFields(with: coder)
  }

  /// Encodes what the server needs to recognise the record (type, ID, change tag, users, dates,
  /// parent and share), without its fields. For keeping beside data of your own.
  open func encodeSystemFields(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(recordType, forKey: "RecordType")
    coder.encode(recordID, forKey: "RecordID")
    systemFields.encode(with: coder)
    coder.encode(parent, forKey: "ParentReference")
  }

  /// A record of its own with the same fields, changed keys and change tag.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKRecord(
      recordType: recordType, recordID: recordID, system: systemFields,
      contents: contents.withLock { $0 })
  }

  open override var description: String {
    "<CKRecord: \(recordType) \(recordID.recordName), zone \(recordID.zoneID.zoneName), "
      + "change tag \(recordChangeTag ?? "none"), fields \(allKeys())>"
  }
}
