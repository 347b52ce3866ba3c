/// One difference between two schemas.
public enum SchemaChange: Sendable, Hashable {
  case addRole(String)
  case removeRole(String)
  case addRecordType(String, ContainerSchema.RecordType)
  case removeRecordType(String)
  case addField(String, of: String, ContainerSchema.Field)
  case removeField(String, of: String, ContainerSchema.Field)
  /// The field has another type, or is encrypted and was not, or the reverse.
  case changeField(
    String, of: String, from: ContainerSchema.Field, to: ContainerSchema.Field)
  case changeIndexes(String, of: String, from: FieldIndexes, to: FieldIndexes)
  case changeSystemIndexes(SystemField, of: String, from: FieldIndexes, to: FieldIndexes)
  case changeGrants(of: String, from: RecordGrants, to: RecordGrants)
  case addSubscriptionType(SubscriptionType)
}

extension ContainerSchema {
  /// What makes this schema the other, in an order in which it can be done: roles are there before
  /// grants name them, and gone after.
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

  /// This schema with everything that the other has besides; options and grants are the other's
  /// where both have the field or type. Nothing is taken away.
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
