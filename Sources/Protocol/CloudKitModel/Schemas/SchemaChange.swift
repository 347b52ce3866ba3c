/// One difference between two schemas, the old and the new one.
///
/// The first string of a case is the name of the role, record type or field. `of` is the record
/// type, `from` the old declaration and `to` the new declaration.
public enum SchemaChange: Sendable, Hashable {
  /// A role is new.
  case addRole(String)
  /// A role is removed.
  case removeRole(String)
  /// A record type is new.
  case addRecordType(String, ContainerSchema.RecordType)
  /// A record type is removed.
  case removeRecordType(String)
  /// A record type that is in both schemas has a new field.
  case addField(String, of: String, ContainerSchema.Field)
  /// A field is removed from a record type that is in both schemas.
  case removeField(String, of: String, ContainerSchema.Field)
  /// A field has another type, or is encrypted in only one of the two schemas.
  case changeField(
    String, of: String, from: ContainerSchema.Field, to: ContainerSchema.Field)
  /// The options of a field differ; its type is the same.
  case changeIndexes(String, of: String, from: FieldIndexes, to: FieldIndexes)
  /// The options of a system field differ.
  case changeSystemIndexes(SystemField, of: String, from: FieldIndexes, to: FieldIndexes)
  /// The grants of a record type differ.
  case changeGrants(of: String, from: RecordGrants, to: RecordGrants)
  /// Subscriptions of a new type become allowed. ``ContainerSchema/changes(to:)`` never returns
  /// this case, because a ``ContainerSchema`` has no subscription types.
  case addSubscriptionType(SubscriptionType)
}

extension ContainerSchema {
  /// Returns the changes that turn this schema into `target`, in an order in which they can be
  /// applied.
  ///
  /// New roles come first, because grants may name them. Removed roles come last, when no grant
  /// names them any more.
  public func changes(to target: ContainerSchema) -> [SchemaChange] {
    var changes: [SchemaChange] = target.roles.subtracting(roles).sorted().map { .addRole($0) }
    for name in Set(recordTypes.keys).union(target.recordTypes.keys).sorted() {
      switch (recordTypes[name], target.recordTypes[name]) {
      case (nil, let new?): changes.append(.addRecordType(name, new))
      case (_?, nil): changes.append(.removeRecordType(name))
      case (let old?, let new?): changes += old.changes(to: new, named: name)
      case (nil, nil): break
      }
    }
    return changes + roles.subtracting(target.roles).sorted().map { .removeRole($0) }
  }

  /// Returns this schema with everything that `other` has in addition. Nothing is removed.
  ///
  /// For a record type or field that both schemas have, the declaration of `other` counts, with its
  /// options and grants.
  public func extended(by other: ContainerSchema) -> ContainerSchema {
    var schema = self
    schema.roles.formUnion(other.roles)
    for (name, type) in other.recordTypes {
      var merged = type
      merged.fields.merge(recordTypes[name]?.fields ?? [:]) { new, _ in new }
      schema.recordTypes[name] = merged
    }
    return schema
  }
}

extension ContainerSchema.RecordType {
  fileprivate func changes(
    to target: ContainerSchema.RecordType, named type: String
  ) -> [SchemaChange] {
    var changes: [SchemaChange] = []
    for name in Set(fields.keys).union(target.fields.keys).sorted() {
      switch (fields[name], target.fields[name]) {
      case (nil, let new?): changes.append(.addField(name, of: type, new))
      case (let old?, nil): changes.append(.removeField(name, of: type, old))
      case (let old?, let new?):
        if old.type != new.type || old.isEncrypted != new.isEncrypted {
          changes.append(.changeField(name, of: type, from: old, to: new))
        } else if old.indexes != new.indexes {
          changes.append(.changeIndexes(name, of: type, from: old.indexes, to: new.indexes))
        }
      case (nil, nil): break
      }
    }
    for field in SystemField.inSchema {
      let (old, new) = (systemIndexes[field] ?? [], target.systemIndexes[field] ?? [])
      if old != new {
        changes.append(.changeSystemIndexes(field, of: type, from: old, to: new))
      }
    }
    if grants != target.grants {
      changes.append(.changeGrants(of: type, from: grants, to: target.grants))
    }
    return changes
  }
}
