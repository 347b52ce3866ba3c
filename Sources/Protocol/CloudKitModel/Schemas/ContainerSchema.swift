/// The roles and record types of a container in one environment.
public struct ContainerSchema: Sendable, Hashable {
  public struct Field: Sendable, Hashable {
    public var type: FieldType
    public var isEncrypted: Bool
    public var indexes: FieldIndexes

    public init(_ type: FieldType, isEncrypted: Bool = false, indexes: FieldIndexes = []) {
      self.type = type
      self.isEncrypted = isEncrypted
      self.indexes = indexes
    }
  }

  public struct RecordType: Sendable, Hashable {
    /// The fields that records of the type may have, by name.
    public var fields: [String: Field]
    /// The options of system fields; absent are those without any. Only fields in
    /// ``SystemField/inSchema`` have a place here.
    public var systemIndexes: [SystemField: FieldIndexes]
    /// Not empty: a type that names no grants has the standard ones.
    public var grants: RecordGrants

    public init(
      fields: [String: Field] = [:], systemIndexes: [SystemField: FieldIndexes] = [:],
      grants: RecordGrants = .standard
    ) {
      self.fields = fields
      self.systemIndexes = systemIndexes
      self.grants = grants
    }

    /// A type as `development` makes it when a record of it is first saved.
    public static let implicit = RecordType(systemIndexes: SystemField.implicitIndexes)
  }

  /// Roles that were made for the container, besides the system's.
  public var roles: Set<String>
  /// By name. `cloudkit.share` belongs to the system and has no place here.
  public var recordTypes: [String: RecordType]

  public init(roles: Set<String> = [], recordTypes: [String: RecordType] = [:]) {
    self.roles = roles
    self.recordTypes = recordTypes
  }

  /// Record types that are in every schema, whether it names them or not: the users' own records,
  /// and shares.
  public static let systemTypes: Set<String> = ["Users", "cloudkit.share"]
}

extension SystemField {
  /// The system fields that a schema names.
  public static let inSchema: [SystemField] = [
    .recordName, .createdTimestamp, .modifiedTimestamp, .createdUserRecordName,
    .modifiedUserRecordName, .recordChangeTag,
  ]

  /// The system field with this name in the schema language; nil for one that schemas do not name.
  public init?(schemaName: String) {
    guard let field = Self.inSchema.first(where: { $0.schemaName == schemaName }) else {
      return nil
    }
    self = field
  }

  /// The type in the schema language: names of records and users are references there.
  public var schemaType: ValueType {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: .timestamp
    case .recordChangeTag: .string
    case .recordName, .createdUserRecordName, .modifiedUserRecordName, .parent, .share: .reference
    }
  }

  /// The options of the system fields of a type that `development` makes.
  public static let implicitIndexes: [SystemField: FieldIndexes] = Dictionary(
    uniqueKeysWithValues: inSchema.map { ($0, [.queryable, .sortable]) })
}
