import CloudKitModel
import StoreModel

/// Changes to a container's schema in one environment, as ``SchemaComparison`` computes them. The
/// transaction has all locks, so no other transaction saves a record at the same time.
struct SchemaModifier {
  let transaction: StoreTransaction
  let container: String
  let environment: ContainerEnvironment

  /// Also raises the catalog version, so that all processes read the schema again.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the schema no longer has the type or field of a
  ///   change.
  func apply(_ changes: [SchemaChange]) throws {
    guard !changes.isEmpty else { return }
    // The transaction changes entries of its own catalog from here on.
    try CounterTable(transaction: transaction).raiseCatalogVersion()
    for change in changes { try apply(change) }
    // Later jobs of the transaction read what the changes made of the entries.
    transaction.catalog.forgetSchemas()
  }

  private var types: RecordTypeTable { RecordTypeTable(transaction: transaction) }

  /// A field whose type changes is removed, and added again under a new number.
  private func apply(_ change: SchemaChange) throws {
    switch change {
    case .addRole(let role):
      try RoleTable(transaction: transaction).add(role, in: container, environment)
    case .removeRole(let role):
      try RoleTable(transaction: transaction).remove(role, in: container, environment)
    case .addRecordType(let name, let definition):
      _ = try types.add(
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
      try types.replace(field, with: new, ofType: type.number)
      type.systemIndexes[field] = new
      if RecordTypeEntry.systemFieldsIndexedByOption.contains(field) {
        try updateIndex(of: field, in: type)
      }
    case .changeGrants(let typeName, _, let new):
      let type = try type(typeName)
      try types.replace(new, ofType: type.number)
      type.grants = new
      try updateIndex(of: .createdUserRecordName, in: type)
    case .addSubscriptionType(let type):
      try SubscriptionTypeTable(transaction: transaction).insert(
        type, at: ContainerPlace(container: container, environment: environment))
    }
  }

  private func type(_ name: String) throws -> RecordTypeEntry {
    guard let type = try types.type(named: name, of: container, in: environment) else {
      throw StoreError(.notFound, "the schema no longer has record type '\(name)'; try again")
    }
    return type
  }

  private func field(_ name: String, of type: RecordTypeEntry) throws -> RecordTypeEntry.Field {
    guard let field = try types.field(name, of: type) else {
      throw StoreError(.notFound, "record type '\(type.name)' no longer has field '\(name)'")
    }
    return field
  }

  /// Removes also the subscription types with this record type.
  private func remove(_ type: RecordTypeEntry) throws {
    try types.drop(type.number)
    try SubscriptionTypeTable(transaction: transaction).remove(
      withType: type.name, at: ContainerPlace(container: container, environment: environment))
  }

  /// No index must be built, because no record has a value in the field.
  private func add(
    _ name: String, _ field: ContainerSchema.Field, to type: RecordTypeEntry
  ) throws {
    try types.addField(
      name, of: field.type, isEncrypted: field.isEncrypted, indexes: field.indexes, to: type)
  }

  private func remove(_ name: String, from type: RecordTypeEntry) throws {
    try types.removeField(try field(name, of: type).number)
    type.fields[name] = nil
  }

  // MARK: Indexes

  /// The type's options and grants may now require another index than before.
  private func updateIndex(of field: SystemField, in type: RecordTypeEntry) throws {
    let name = field.schemaName
    let old = try self.field(name, of: type).indexes
    let new = ContainerSchema.RecordType(systemIndexes: type.systemIndexes, grants: type.grants)
      .valueIndexes(of: field)
    try changeIndexes(of: name, in: type, from: old, to: new)
    type.fields[name]?.indexes = new
  }

  /// Registers work on an index that the new options need and the old did not, or the reverse.
  /// ``IndexWorker`` does it in later transactions.
  private func changeIndexes(
    of name: String, in type: RecordTypeEntry, from old: FieldIndexes, to new: FieldIndexes
  ) throws {
    let number = try field(name, of: type).number
    try types.setIndexes(new, ofField: number)
    let work = IndexWorkTable(transaction: transaction)
    if old.usesValues != new.usesValues {
      try work.begin(workOn: number, isWanted: new.usesValues)
    }
    if old.contains(.searchable) != new.contains(.searchable) {
      try work.begin(workOn: -number, isWanted: new.contains(.searchable))
    }
  }
}
