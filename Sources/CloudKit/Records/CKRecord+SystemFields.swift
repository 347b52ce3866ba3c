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
    changeTag = coder.decodeOptionalString(forKey: "recordChangeTag")
    creator = coder.decodeOptional(CKRecordID.self, forKey: "creatorUserRecordID")
    creationDate = coder.decodeOptional(NSDate.self, forKey: "creationDate").map { $0 as Date }
    lastModifier = coder.decodeOptional(CKRecordID.self, forKey: "lastModifiedUserRecordID")
    modificationDate =
      coder.decodeOptional(NSDate.self, forKey: "modificationDate").map { $0 as Date }
    share = coder.decodeOptional(CKReference.self, forKey: "share")
  }

  func encode(with coder: NSCoder) {
    coder.encodeOptional(changeTag, forKey: "recordChangeTag")
    coder.encode(creator, forKey: "creatorUserRecordID")
    coder.encode(creationDate.map { $0 as NSDate }, forKey: "creationDate")
    coder.encode(lastModifier, forKey: "lastModifiedUserRecordID")
    coder.encode(modificationDate.map { $0 as NSDate }, forKey: "modificationDate")
    coder.encode(share, forKey: "share")
  }
}
