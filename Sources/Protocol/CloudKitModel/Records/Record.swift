/// A record as the server stores it and returns it.
///
/// ```swift
/// var note = Record(recordID: RecordID(recordName: "n-1"), recordType: "Note")
/// note.fields["title"] = .string("Milk")
/// ```
public struct Record: Sendable, Hashable {
  /// The time, user and device of a save.
  public struct Stamp: Sendable, Hashable {
    /// The time of the save by the server's clock.
    public var timestamp: Timestamp
    /// The record name of the user who saved the record. When the user is deleted,
    /// ``UserIdentity/deletedUserRecordName`` replaces the name in public records.
    public var userRecordName: String
    /// The name that the client gave for its device; nil when the client gave none.
    public var deviceID: String?

    /// Creates a stamp.
    public init(timestamp: Timestamp, userRecordName: String, deviceID: String? = nil) {
      self.timestamp = timestamp
      self.userRecordName = userRecordName
      self.deviceID = deviceID
    }
  }

  /// The name of the record and its zone.
  public var recordID: RecordID
  /// The type of the record. It never changes after the record's creation.
  public var recordType: String
  /// The version of the record, an opaque text. It changes with each save; nil before the first
  /// save.
  public var recordChangeTag: String?
  /// The stamp of the first save; nil before the first save.
  public var created: Stamp?
  /// The stamp of the latest save; nil before the first save.
  public var modified: Stamp?
  /// The parent in a hierarchy of records. A shared hierarchy contains the root record and its
  /// descendants.
  public var parent: Reference?
  /// The share that the record belongs to; nil when it belongs to none.
  public var share: Reference?
  /// The identifier that a share of the record has or would have. Only the answer to an operation with
  /// ``RecordOperation/createsShortGUID`` has it; a share has it in ``shareContent``.
  public var shortGUID: String?
  /// The content that a share has in addition to its fields; nil for records that are no shares.
  public var shareContent: ShareContent? {
    get { boxedShareContent?.value }
    set { boxedShareContent = newValue.map(Boxed.init) }
  }
  private var boxedShareContent: Boxed<ShareContent>?
  /// The record's own fields. A field without a value is absent.
  public var fields: RecordFields<RecordValue>
  /// The names of the fields that are marked as encrypted. For filters and sorts these fields are
  /// absent, and notifications do not contain their values.
  public var encryptedFields: Set<String>

  /// Creates a record without checks; call ``validate()`` to check it.
  public init(
    recordID: RecordID, recordType: String, recordChangeTag: String? = nil, created: Stamp? = nil,
    modified: Stamp? = nil, parent: Reference? = nil, share: Reference? = nil,
    shareContent: ShareContent? = nil, fields: RecordFields<RecordValue> = [:],
    encryptedFields: Set<String> = []
  ) {
    self.recordID = recordID
    self.recordType = recordType
    self.recordChangeTag = recordChangeTag
    self.created = created
    self.modified = modified
    self.parent = parent
    self.share = share
    boxedShareContent = shareContent.map(Boxed.init)
    self.fields = fields
    self.encryptedFields = encryptedFields
  }

  /// Returns the value that a filter or a sort on `key` sees.
  ///
  /// - Returns: nil when the record has no value, when the field is encrypted, and for
  ///   ``FieldKey/allText``, which is no single value.
  public func value(for key: FieldKey) -> RecordValue? {
    switch key {
    case .field(let name): encryptedFields.contains(name) ? nil : fields[name]
    case .allText: nil
    case .system(let field): value(for: field)
    }
  }

  private func value(for field: SystemField) -> RecordValue? {
    switch field {
    case .recordName: .string(recordID.recordName)
    case .createdTimestamp: created.map { .timestamp($0.timestamp) }
    case .modifiedTimestamp: modified.map { .timestamp($0.timestamp) }
    case .createdUserRecordName: created.map { .string($0.userRecordName) }
    case .modifiedUserRecordName: modified.map { .string($0.userRecordName) }
    case .recordChangeTag: recordChangeTag.map { .string($0) }
    case .parent: parent.map { .reference($0) }
    case .share: share.map { .reference($0) }
    }
  }

  /// The estimated number of bytes of the record's name and fields. ``ServiceLimits/recordSize``
  /// limits it; assets do not count.
  public var approximateSize: Int {
    fields.reduce(recordID.recordName.utf8.count) {
      $0 + $1.key.utf8.count + $1.value.approximateSize
    }
  }

  /// Checks the names and values of the record, its encrypted fields, and its size.
  ///
  /// - Throws: ``ModelError`` for the first mistake. A record that is too large gives
  ///   ``ModelError/Code/limitExceeded``.
  public func validate() throws(ModelError) {
    try Identifier.validateRecordType(recordType)
    for (name, value) in fields {
      try Identifier.validateFieldName(name, ofRecordType: recordType)
      try value.validate(field: name)
      let element = value.type.element
      if !encryptedFields.contains(name), value.isPrecise {
        throw ModelError(
          .wrongType, field: name,
          "field '\(name)' of record '\(recordID.recordName)' has a date with a fraction of a "
            + "millisecond; only encrypted fields may have one")
      }
      if encryptedFields.contains(name), element == .asset || element == .reference {
        throw ModelError(
          .wrongType, field: name,
          "field '\(name)' of record '\(recordID.recordName)' cannot be encrypted: assets and "
            + "references never are")
      }
    }
    let size = approximateSize
    let limit = ServiceLimits.recordSize
    guard size <= limit else {
      throw ModelError(
        .limitExceeded,
        "record '\(recordID.recordName)' has \(size) bytes; the limit is \(limit)", limit: limit)
    }
  }
}
