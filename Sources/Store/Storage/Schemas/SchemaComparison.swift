import CloudKitModel
import StoreModel

/// The changes of a deployment or an import. ``SchemaModifier`` makes them.
struct SchemaComparison {
  let transaction: StoreTransaction
  private var schemas: RecordTypeTable { RecordTypeTable(transaction: transaction) }

  /// Another type or encryption of a field is refused.
  func deployment(of container: String) throws -> SchemaOutcome {
    let development = try schemas.schema(of: container, in: .development)
    let production = try schemas.schema(of: container, in: .production)
    let types = SubscriptionTypeTable(transaction: transaction)
    let known = Set(try types.types(of: container, in: .production))
    var changes = production.changes(to: production.extended(by: development))
    for type in try types.types(of: container, in: .development)
    where !known.contains(type) {
      changes.append(.addSubscriptionType(type))
    }
    let refusals = changes.compactMap { change -> SchemaOutcome.Refusal? in
      guard case .changeField(let name, let type, _, _) = change else { return nil }
      return .init(
        change: change,
        reason: "field '\(name)' of record type '\(type)' has another type in production, which "
          + "cannot change; use another field")
    }
    return SchemaOutcome(changes: changes, refusals: refusals)
  }

  /// Turns the development schema into `schema`. The system's record types, such as `Users`, stay
  /// in any case.
  func importChanges(
    _ schema: ContainerSchema, of container: String
  ) throws -> [SchemaChange] {
    let current = try schemas.schema(of: container, in: .development)
    var target = schema
    for name in ContainerSchema.systemTypes where target.recordTypes[name] == nil {
      target.recordTypes[name] = current.recordTypes[name]
    }
    return current.changes(to: target)
  }

  func scan(ofType name: String, in container: String) throws -> TypeScan? {
    try schemas.type(named: name, of: container, in: .development).map {
      TypeScan(type: $0, container: container, environment: .development, transaction: transaction)
    }
  }

  /// - Throws: ``StoreError/Code/overloaded`` with a record that was saved after the checks began
  ///   and would lose data.
  func refuseLosses(
    of changes: [SchemaChange], inRecordsSavedSince start: ImportStart, in container: String
  ) throws {
    for (type, field) in changes.compactMap(\.removed) {
      guard let scan = try scan(ofType: type, in: container) else { continue }
      let loser = try start.record(savedLaterIn: scan) { record in
        field.map { record.fields[$0] != nil } ?? true
      }
      guard let loser else { continue }
      let part = field.map { " with a value in field '\($0)'" } ?? ""
      throw StoreError(
        .overloaded,
        "record '\(loser.recordID.recordName)' of type '\(type)' was saved\(part) meanwhile; try "
          + "again")
    }
  }
}

extension SchemaChange {
  var removed: (type: String, field: String?)? {
    switch self {
    case .removeRecordType(let type): (type, nil)
    case .removeField(let field, let type, _), .changeField(let field, let type, _, _):
      (type, field)
    case .addRole, .removeRole, .addRecordType, .addField, .changeIndexes, .changeSystemIndexes,
      .changeGrants, .addSubscriptionType:
      nil
    }
  }
}
