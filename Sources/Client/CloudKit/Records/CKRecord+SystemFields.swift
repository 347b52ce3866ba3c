extension CKRecord {
  /// The properties that the server sets. The program cannot change them.
  struct SystemFields: Sendable {
    /// The tag of the record's version; nil in a new record.
    var changeTag: String?
    /// The ID of the user who created the record.
    var creator: CKRecord.ID?
    var creationDate: Date?
    /// The ID of the user who changed the record last.
    var lastModifier: CKRecord.ID?
    var modificationDate: Date?
  }
}

extension CKRecord.SystemFields {
  /// Decodes the properties from a record's archive, in the layout of Apple's framework or in that
  /// of earlier versions of Petrel.
  init(coder: NSCoder) {
    changeTag = coder.decodeOptionalString(forKey: "ETag", "recordChangeTag")
    creator = coder.decodeOptional(
      CKRecordID.self, forKey: "CreatorUserRecordID", "creatorUserRecordID")
    creationDate = coder.decodeOptional(NSDate.self, forKey: "RecordCtime", "creationDate").map {
      $0 as Date
    }
    lastModifier = coder.decodeOptional(
      CKRecordID.self, forKey: "LastModifiedUserRecordID", "lastModifiedUserRecordID")
    modificationDate =
      coder.decodeOptional(NSDate.self, forKey: "RecordMtime", "modificationDate").map {
        $0 as Date
      }
  }

  /// Encodes the properties under the keys that Apple's framework uses.
  func encode(with coder: NSCoder) {
    coder.encode(changeTag != nil, forKey: "KnownToServer")
    coder.encodeOptional(changeTag, forKey: "ETag")
    coder.encode(creator, forKey: "CreatorUserRecordID")
    coder.encode(creationDate.map { $0 as NSDate }, forKey: "RecordCtime")
    coder.encode(lastModifier, forKey: "LastModifiedUserRecordID")
    coder.encode(modificationDate.map { $0 as NSDate }, forKey: "RecordMtime")
  }
}
