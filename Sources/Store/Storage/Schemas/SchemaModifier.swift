import CloudKitModel
import StoreModel

/// Changes the schema of a container in an environment, in the writer's transaction.
struct SchemaModifier {
  let session: StoreSession
  let container: String
  let environment: ContainerEnvironment

  func apply(_ changes: [SchemaChange]) throws {
    guard !changes.isEmpty else { return }
    for change in changes { try apply(change) }
    try CounterTable(session: session).raiseSchemaVersion()
  }

  private var place: [SQLValue] { [.text(container), .text(environment.rawValue)] }

  private func apply(_ change: SchemaChange) throws {
    switch change {
    case .addRole(let role):
      try session.connection.run(
        "INSERT INTO security_roles (container, environment, name) VALUES ($1, $2, $3)",
        place + [.text(role)])
    case .removeRole(let role):
      for statement in [
        "DELETE FROM role_members WHERE container = $1 AND environment = $2 AND role = $3",
        "DELETE FROM security_roles WHERE container = $1 AND environment = $2 AND name = $3",
      ] {
        try session.connection.run(statement, place + [.text(role)])
      }
    case .addRecordType(let name, let definition):
      _ = try session.addRecordType(
        named: name, definition, container: container, environment: environment)
    case .removeRecordType(let name):
      try remove(try type(name))
    case .addField(let name, let typeName, let field):
      try add(name, field, to: try type(typeName))
    case .removeField(let name, let typeName, _):
      try remove(name, from: try type(typeName))
    case .changeField(let name, let typeName, _, let field):
      let type = try type(typeName)
      try remove(name, from: type)
      try add(name, field, to: type)
    case .changeIndexes(let name, let typeName, let old, let new):
      try changeIndexes(of: name, in: try type(typeName), from: old, to: new)
    case .changeSystemIndexes(let field, let typeName, _, let new):
      let type = try type(typeName)
      try session.connection.run(
        "DELETE FROM system_field_indexes WHERE type_number = $1 AND name = $2",
        [.integer(type.number), .text(field.schemaName)])
      try RecordTypeEntry.insertSystemIndexes(
        [field: new], ofType: type.number, through: session.connection)
      type.systemIndexes[field] = new
      if StoreSession.systemFieldsIndexedByOption.contains(field) {
        try updateIndex(of: field, in: type)
      }
    case .changeGrants(let typeName, _, let new):
      let type = try type(typeName)
      try session.connection.run(
        "DELETE FROM record_type_grants WHERE type_number = $1", [.integer(type.number)])
      try RecordTypeEntry.insertGrants(new, ofType: type.number, through: session.connection)
      type.grants = new
      try updateIndex(of: .createdUserRecordName, in: type)
    case .addSubscriptionType(let type):
      try SubscriptionTypeTable(session: session).insert(
        type, at: ContainerPlace(container: container, environment: environment))
    }
  }

  private func type(_ name: String) throws -> RecordTypeEntry {
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    guard let type = try session.recordType(named: name, at: address) else {
      throw StoreError(.notFound, "the schema has no record type '\(name)' any more; try again")
    }
    return type
  }

  private func field(_ name: String, of type: RecordTypeEntry) throws -> RecordTypeEntry.Field {
    guard let field = try session.field(name, of: type) else {
      throw StoreError(.notFound, "record type '\(type.name)' has no field '\(name)' any more")
    }
    return field
  }

  /// The number of the type stays, for deletions in change feeds may bear it.
  private func remove(_ type: RecordTypeEntry) throws {
    for statement in [
      "DELETE FROM record_fields WHERE type_number = $1",
      "DELETE FROM system_field_indexes WHERE type_number = $1",
      "DELETE FROM record_type_grants WHERE type_number = $1",
      "UPDATE record_types SET dropped = 1 WHERE type_number = $1",
    ] {
      try session.connection.run(statement, [.integer(type.number)])
    }
    try SubscriptionTypeTable(session: session).remove(
      withType: type.name, at: ContainerPlace(container: container, environment: environment))
  }

  private func add(
    _ name: String, _ field: ContainerSchema.Field, to type: RecordTypeEntry
  ) throws {
    try session.addField(
      name, of: field.type, isEncrypted: field.isEncrypted, indexes: field.indexes, to: type)
  }

  private func remove(_ name: String, from type: RecordTypeEntry) throws {
    try session.connection.run(
      "DELETE FROM record_fields WHERE field_number = $1",
      [.integer(try field(name, of: type).number)])
    type.fields[name] = nil
  }

  // MARK: Indexes

  /// Has the value index hold a system field, or not, as the type's options and grants are now.
  private func updateIndex(of field: SystemField, in type: RecordTypeEntry) throws {
    let name = field.schemaName
    let old = try self.field(name, of: type).indexes
    let new = ContainerSchema.RecordType(systemIndexes: type.systemIndexes, grants: type.grants)
      .valueIndexes(of: field)
    try changeIndexes(of: name, in: type, from: old, to: new)
    type.fields[name]?.indexes = new
  }

  private func changeIndexes(
    of name: String, in type: RecordTypeEntry, from old: FieldIndexes, to new: FieldIndexes
  ) throws {
    let number = try field(name, of: type).number
    try session.connection.run(
      "UPDATE record_fields SET indexes = $2 WHERE field_number = $1",
      [.integer(number), .integer(Int64(new.rawValue))])
    let work = IndexWorkTable(session: session)
    if old.usesValues != new.usesValues {
      try work.begin(workOn: number, isWanted: new.usesValues)
    }
    if old.contains(.searchable) != new.contains(.searchable) {
      try work.begin(workOn: -number, isWanted: new.contains(.searchable))
    }
  }
}
