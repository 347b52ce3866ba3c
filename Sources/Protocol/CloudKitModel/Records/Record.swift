/// A record as the server keeps it.
public struct Record: Sendable, Hashable {
  /// When a record was saved, by whom, and from which device.
  public struct Stamp: Sendable, Hashable {
    public var timestamp: Timestamp
    public var userRecordName: String
    /// The name that the client gave for its device; nil when it gave none.
    public var deviceID: String?

    public init(timestamp: Timestamp, userRecordName: String, deviceID: String? = nil) {
      self.timestamp = timestamp
      self.userRecordName = userRecordName
      self.deviceID = deviceID
    }
  }

  public var recordID: RecordID
  public var recordType: String
  /// Changes with each save; nil before the first.
  public var recordChangeTag: String?
  public var created: Stamp?
  public var modified: Stamp?
  /// The parent for sharing a hierarchy of records.
  public var parent: Reference?
  /// The share that the record belongs to.
  public var share: Reference?
  /// What a record that is a share has beyond its fields; nil for other records.
  public var shareContent: ShareContent?
  public var fields: RecordFields<RecordValue>
  /// The names of those fields that are marked as encrypted. Filters and sorts do not see them, and
  /// notifications do not carry them.
  public var encryptedFields: Set<String>

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
    self.shareContent = shareContent
    self.fields = fields
    self.encryptedFields = encryptedFields
  }

  /// The value that a filter or a sort on `key` sees; nil when the record has none, and for
  /// ``FieldKey/allText``, which is no single value.
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

  /// About how many bytes the fields count towards ``ServiceLimits/recordSize``.
  public var approximateSize: Int {
    fields.reduce(recordID.recordName.utf8.count) {
      $0 + $1.key.utf8.count + $1.value.approximateSize
    }
  }

  /// Throws unless names and values are well formed and the record is within its size limit.
  public func validate() throws(ModelError) {
    try Identifier.validateRecordType(recordType)
    for (name, value) in fields {
      try Identifier.validateFieldName(name)
      try value.validate(field: name)
      let element = value.type.element
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
