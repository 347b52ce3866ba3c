extension CKRecord {
  /// The properties that the server sets. The program cannot change them.
  struct SystemFields: Sendable {
    var changeTag: String?
    var creator: CKRecord.ID?
    var creationDate: Date?
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

  func encode(with coder: NSCoder) {
    coder.encode(changeTag != nil, forKey: "KnownToServer")
    coder.encodeOptional(changeTag, forKey: "ETag")
    coder.encode(creator, forKey: "CreatorUserRecordID")
    coder.encode(creationDate.map { $0 as NSDate }, forKey: "RecordCtime")
    coder.encode(lastModifier, forKey: "LastModifiedUserRecordID")
    coder.encode(modificationDate.map { $0 as NSDate }, forKey: "RecordMtime")
  }
}
