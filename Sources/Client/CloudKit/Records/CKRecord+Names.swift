extension CKRecord {
  /// The record types that every container has.
  public enum SystemType {
    /// The type of user records: `Users`.
    public static let userRecord: CKRecord.RecordType = "Users"
    /// The type of shares: `cloudkit.share`. Records of this type are of class ``CKShare``.
    public static let share: CKRecord.RecordType = "cloudkit.share"
  }

  /// The names of the properties that every record has, for predicates and sort descriptors.
  ///
  /// The names of the Swift properties, such as `creationDate`, work as well.
  public enum SystemFieldKey {
    /// The name of ``CKRecord/recordID``.
    public static let recordID: CKRecord.FieldKey = "___recordID"
    /// The name of ``CKRecord/creatorUserRecordID``.
    public static let creatorUserRecordID: CKRecord.FieldKey = "___createdBy"
    /// The name of ``CKRecord/creationDate``.
    public static let creationDate: CKRecord.FieldKey = "___createTime"
    /// The name of ``CKRecord/lastModifiedUserRecordID``.
    public static let lastModifiedUserRecordID: CKRecord.FieldKey = "___modifiedBy"
    /// The name of ``CKRecord/modificationDate``.
    public static let modificationDate: CKRecord.FieldKey = "___modTime"
    /// The name of ``CKRecord/parent``.
    public static let parent: CKRecord.FieldKey = "___parent"
    /// The name of ``CKRecord/share``.
    public static let share: CKRecord.FieldKey = "___share"
  }

  /// The rule that says what happens to a record with a reference when the target of the reference
  /// is deleted.
  public typealias ReferenceAction = CKReferenceAction
}
