/// A record: a set of named fields with values, with an ID and a type.
///
/// A program makes a record, sets its fields and saves it in a database. The save returns a new
/// object with the change tag, users and dates that the server has set. The original object gets
/// them too, so a program can change and save either of the two.
///
/// ```swift
/// let note = CKRecord(recordType: "Note")
/// note["title"] = "Shopping"
/// note["pages"] = 3
/// let saved = try await database.save(note)
/// note["pages"] = 4
/// try await database.save(note)
/// ```
///
/// A record has at most 1 MB (1,000,000 bytes) of fields, assets not counted. A field name begins
/// with a letter and has only letters, digits and `_`. The server checks the size and the names
/// when the record is saved.
///
/// Several threads may use one record. Each access is atomic; a sequence of accesses is not.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting,
  @unchecked Sendable
{
  /// The type of record IDs.
  public typealias ID = CKRecordID
  /// The type of references to records.
  public typealias Reference = CKReference
  /// The type of the names of record types.
  public typealias RecordType = String
  /// The type of the names of fields.
  public typealias FieldKey = String

  private let storedType: RecordType
  private let storedID: ID
  var systemFields: SystemFields { contents.withLock { $0.system } }
  /// The system fields, the fields, the parent, the share and the changes. The lock protects them.
  let contents: Locked<Contents>

  /// The type of the record, such as `Note`.
  open var recordType: RecordType { storedType }
  /// The ID of the record. It cannot change.
  open var recordID: ID { storedID }
  /// The tag of the record's version on the server. Each save on the server makes a new tag. Nil in
  /// a new record.
  open var recordChangeTag: String? { systemFields.changeTag }
  /// The ID of the user who created the record; nil in a new record. The current user has the record
  /// name ``CKCurrentUserDefaultName``.
  open var creatorUserRecordID: ID? { systemFields.creator }
  /// The date of the first save, by the server's clock; nil in a new record.
  open var creationDate: Date? { systemFields.creationDate }
  /// The ID of the user who changed the record last; nil in a new record. The current user has the
  /// record name ``CKCurrentUserDefaultName``.
  open var lastModifiedUserRecordID: ID? { systemFields.lastModifier }
  /// The date of the last save, by the server's clock; nil in a new record.
  open var modificationDate: Date? { systemFields.modificationDate }
  /// The reference to the record's share. Making a ``CKShare`` sets it on the root record. The server
  /// sets it on the root of a shared hierarchy and on the share itself. Nil for other records.
  open var share: Reference? { contents.withLock { $0.share } }

  /// Makes a new record.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - recordID: The ID of the record. By default, the name is a new UUID and the zone is the
  ///     default zone.
  /// - Precondition: `recordType` is not empty.
  public init(recordType: RecordType, recordID: ID = CKRecord.ID()) {
    requireArgument(!recordType.isEmpty, "CKRecord: recordType must not be empty")
    storedType = recordType
    storedID = recordID
    contents = Locked(Contents())
  }

  /// Makes a new record in a zone, with a new UUID as its name.
  @available(*, deprecated, message: "Use init(recordType:recordID:)")
  public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
    self.init(recordType: recordType, recordID: ID(zoneID: zoneID))
  }

  init(recordType: RecordType, recordID: ID, contents: Contents) {
    storedType = recordType
    storedID = recordID
    self.contents = Locked(contents)
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a record from an archive, either a whole record or the result of
  /// ``encodeSystemFields(with:)``.
  ///
  /// Returns nil if the archive has no record type or ID. The coder then gets an error, if its
  /// policy is `.setErrorAndReturn`.
  public required init?(coder: NSCoder) {
    guard let recordType = coder.decodeOptionalString(forKey: "RecordType", "recordType"),
      let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    else {
      // Under the other policy, `.raiseException`, `failWithError` would end the program. That
      // policy is the default on Linux and not on Apple's systems.
      if coder.decodingFailurePolicy == .setErrorAndReturn {
        coder.failWithError(CocoaError(.coderValueNotFound))
      }
      return nil
    }
    storedType = recordType
    storedID = recordID
    contents = Locked(Contents(coder: coder))
  }

  /// Decodes a record for subclasses whose decoding initializer is not failable. An archive without
  /// record type or ID makes the decoder fail. The record then has an empty type or a new ID.
  init(decoding coder: NSCoder) {
    let recordType = coder.decodeOptionalString(forKey: "RecordType", "recordType")
    let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    if recordType == nil || recordID == nil {
      coder.failWithError(CocoaError(.coderValueNotFound))
    }
    storedType = recordType ?? ""
    storedID = recordID ?? ID()
    contents = Locked(Contents(coder: coder))
  }

  open func encode(with coder: NSCoder) {
    encodeSystemFields(with: coder)
    contents.withLock { $0 }.encodeFields(with: coder)
  }

  /// Encodes the record without its fields: type, ID, change tag, users, dates, parent and share.
  ///
  /// A program can store this archive beside its own data. To save a change later, the program
  /// decodes the record, sets its fields and saves it.
  open func encodeSystemFields(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(recordType, forKey: "RecordType")
    coder.encode(recordID, forKey: "RecordID")
    systemFields.encode(with: coder)
    coder.encode(share, forKey: "ShareReference")
    coder.encode(parent, forKey: "ParentReference")
  }

  /// Returns a separate record with the same fields, changed keys and change tag.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKRecord(recordType: recordType, recordID: recordID, contents: contents.withLock { $0 })
  }

  /// Takes what the server set in a save of this object: the system fields and the share. The fields
  /// that the save sent do not count as changed any more.
  ///
  /// If the program changed the record during the save, all changed fields stay marked as changed,
  /// and the next save sends them again.
  func update(from saved: CKRecord, after save: AssetUploader.Save) {
    let saved = saved.contents.withLock { $0 }
    contents.withLock { contents in
      contents.system = saved.system
      // A new share of this record that is not saved yet stays.
      if saved.share != nil || contents.share == contents.fetched?.share {
        contents.share = saved.share
      }
      contents.fetched = saved.fetched
      guard contents.editCount == save.editCount else { return }
      contents.changedKeys = []
      contents.isParentChanged = false
    }
  }

  open override var description: String {
    "<CKRecord: \(recordType) \(recordID.recordName), zone \(recordID.zoneID.zoneName), "
      + "change tag \(recordChangeTag ?? "none"), fields \(allKeys())>"
  }
}
