/// A property that every record has besides its own fields.
public enum SystemField: String, Sendable, Hashable, CaseIterable {
  case recordName
  case createdTimestamp
  case modifiedTimestamp
  case createdUserRecordName
  case modifiedUserRecordName
  case recordChangeTag
  case parent
  case share

  /// The field that a filter, a sort or a predicate means by `name`: the web-services name, the
  /// native property's name, or the name in the schema language.
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

  /// The name in the schema language.
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

  /// The type that filter values on the field are compared as. Names of records and users also
  /// accept a reference.
  public var type: ValueType {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: .timestamp
    case .parent, .share: .reference
    case .recordName, .createdUserRecordName, .modifiedUserRecordName, .recordChangeTag: .string
    }
  }
}
