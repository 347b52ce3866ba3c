extension CKRecord {
  /// What the server sets besides type and ID.
  struct SystemFields: Sendable {
    var changeTag: String?
    var creator: CKRecord.ID?
    var creationDate: Date?
    var lastModifier: CKRecord.ID?
    var modificationDate: Date?
    var share: CKRecord.Reference?
  }
}

extension CKRecord.SystemFields {
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
    share = coder.decodeOptional(CKReference.self, forKey: "ShareReference", "share")
  }

  func encode(with coder: NSCoder) {
    coder.encode(changeTag != nil, forKey: "KnownToServer")
    coder.encodeOptional(changeTag, forKey: "ETag")
    coder.encode(creator, forKey: "CreatorUserRecordID")
    coder.encode(creationDate.map { $0 as NSDate }, forKey: "RecordCtime")
    coder.encode(lastModifier, forKey: "LastModifiedUserRecordID")
    coder.encode(modificationDate.map { $0 as NSDate }, forKey: "RecordMtime")
    coder.encode(share, forKey: "ShareReference")
  }
}
