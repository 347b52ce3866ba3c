extension CKRecord {
  /// The types that every container has.
  public enum SystemType {
    public static let userRecord: CKRecord.RecordType = "Users"
    public static let share: CKRecord.RecordType = "cloudkit.share"
  }

  /// The names of the properties that every record has, for predicates and sort descriptors.
  public enum SystemFieldKey {
    public static let recordID: CKRecord.FieldKey = "___recordID"
    public static let creatorUserRecordID: CKRecord.FieldKey = "___createdBy"
    public static let creationDate: CKRecord.FieldKey = "___createTime"
    public static let lastModifiedUserRecordID: CKRecord.FieldKey = "___modifiedBy"
    public static let modificationDate: CKRecord.FieldKey = "___modTime"
    public static let parent: CKRecord.FieldKey = "___parent"
    public static let share: CKRecord.FieldKey = "___share"
  }

  /// What becomes of the record that holds a reference when the target is deleted.
  public enum ReferenceAction: UInt, Sendable {
    /// Nothing: the reference dangles.
    case none = 0
    /// It is deleted too.
    case deleteSelf = 1
  }
}
