/// A property that a record has in addition to its own fields. Most records have no ``parent`` and
/// no ``share``. The raw values are the web-services names.
public enum SystemField: String, Sendable, Hashable, CaseIterable {
  case recordName
  case createdTimestamp
  case modifiedTimestamp
  case createdUserRecordName
  case modifiedUserRecordName
  case recordChangeTag
  case parent
  case share

  /// Creates the system field with this name, as written in a filter, a sort or a predicate. Three
  /// kinds of names are accepted: web-services names, names of `CKRecord` properties such as
  /// `creationDate`, and names of the schema language.
  ///
  /// - Returns: nil for any other name, which is then the name of an ordinary field. If an app has
  ///   its own field with one of these names, such as `parent`, the name in a predicate means the
  ///   system field.
  public init?(anyName name: String) {
    switch name {
    case "recordName", "recordID", "___recordID": self = .recordName
    case "createdTimestamp", "creationDate", "___createTime": self = .createdTimestamp
    case "modifiedTimestamp", "modificationDate", "___modTime": self = .modifiedTimestamp
    case "createdUserRecordName", "creatorUserRecordID", "___createdBy":
      self = .createdUserRecordName
    case "modifiedUserRecordName", "lastModifiedUserRecordID", "___modifiedBy":
      self = .modifiedUserRecordName
    case "recordChangeTag", "___etag": self = .recordChangeTag
    case "parent", "___parent": self = .parent
    case "share", "___share": self = .share
    default: return nil
    }
  }

  /// The name in the schema language, such as `___createTime`.
  public var schemaName: String {
    switch self {
    case .recordName: "___recordID"
    case .createdTimestamp: "___createTime"
    case .modifiedTimestamp: "___modTime"
    case .createdUserRecordName: "___createdBy"
    case .modifiedUserRecordName: "___modifiedBy"
    case .recordChangeTag: "___etag"
    case .parent: "___parent"
    case .share: "___share"
    }
  }

  /// The type of the field for filters. A filter on the name of a record or a user also accepts a
  /// reference.
  public var type: ValueType {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: .timestamp
    case .parent, .share: .reference
    case .recordName, .createdUserRecordName, .modifiedUserRecordName, .recordChangeTag: .string
    }
  }
}
