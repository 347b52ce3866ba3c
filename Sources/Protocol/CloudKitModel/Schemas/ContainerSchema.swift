/// The roles and record types of a container in one environment.
public struct ContainerSchema: Sendable, Hashable {
  /// The declaration of a field in a record type.
  public struct Field: Sendable, Hashable {
    /// The type of the field's values.
    public var type: FieldType
    /// Whether the field's values are encrypted. Such a field cannot have indexes.
    public var isEncrypted: Bool
    /// The options of the field, which decide how queries may use it.
    public var indexes: FieldIndexes

    /// Creates the declaration of a field.
    public init(_ type: FieldType, isEncrypted: Bool = false, indexes: FieldIndexes = []) {
      self.type = type
      self.isEncrypted = isEncrypted
      self.indexes = indexes
    }
  }

  /// The declaration of a record type: its fields, their indexes, and the grants (the permissions
  /// of each role).
  public struct RecordType: Sendable, Hashable {
    /// The fields that records of the type may have, by name.
    public var fields: [String: Field]
    /// The options of the system fields. A system field without options is absent. Only the fields
    /// of ``SystemField/inSchema`` may have options.
    public var systemIndexes: [SystemField: FieldIndexes]
    /// The permissions of the roles in the public database. A type that declares no grants has
    /// ``RecordGrants/standard``.
    public var grants: RecordGrants

    /// Creates the declaration of a record type.
    public init(
      fields: [String: Field] = [:], systemIndexes: [SystemField: FieldIndexes] = [:],
      grants: RecordGrants = .standard
    ) {
      self.fields = fields
      self.systemIndexes = systemIndexes
      self.grants = grants
    }

    /// The record type that the `development` environment creates when a record of an unknown type
    /// is saved.
    public static let implicit = RecordType(systemIndexes: SystemField.implicitIndexes)
  }

  /// The roles that were created for the container, without the system's roles.
  public var roles: Set<String>
  /// The record types by name, without the system type `cloudkit.share`.
  public var recordTypes: [String: RecordType]

  /// Creates a schema.
  public init(roles: Set<String> = [], recordTypes: [String: RecordType] = [:]) {
    self.roles = roles
    self.recordTypes = recordTypes
  }

  /// The record types that exist in every container, declared or not: `Users` for the users' own
  /// records, and `cloudkit.share` for shares.
  public static let systemTypes: Set<String> = ["Users", "cloudkit.share"]
}

extension SystemField {
  /// The system fields that a schema may name: all except ``parent`` and ``share``.
  public static let inSchema: [SystemField] = [
    .recordName, .createdTimestamp, .modifiedTimestamp, .createdUserRecordName,
    .modifiedUserRecordName, .recordChangeTag,
  ]

  /// Creates the system field with this name in the schema language; nil for any other name.
  public init?(schemaName: String) {
    guard let field = Self.inSchema.first(where: { $0.schemaName == schemaName }) else {
      return nil
    }
    self = field
  }

  /// The type of the field in the schema language, where the names of records and users are
  /// references.
  public var schemaType: ValueType {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: .timestamp
    case .recordChangeTag: .string
    case .recordName, .createdUserRecordName, .modifiedUserRecordName, .parent, .share: .reference
    }
  }

  /// The options of the system fields in a record type that the `development` environment creates.
  public static let implicitIndexes: [SystemField: FieldIndexes] = Dictionary(
    uniqueKeysWithValues: inSchema.map { ($0, [.queryable, .sortable]) })
}
