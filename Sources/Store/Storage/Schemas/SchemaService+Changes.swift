import CloudKitModel
import StoreModel

extension SchemaService {
  /// Replaces the development schema of a container.
  ///
  /// - A change that would lose data is refused, and then nothing is changed. A type or field may
  ///   be removed, or get another type, under three conditions. Production does not have it, no
  ///   development record has values of it, and none of its indexes is being built or removed.
  /// - If `schema` does not have the record type `Users`, the present one stays.
  ///
  /// - Parameter isDryRun: whether to change nothing.
  /// - Throws: ``StoreError/Code/overloaded`` if another call changed the schema meanwhile; try
  ///   again.
  public func importSchema(
    _ schema: ContainerSchema, of container: String, isDryRun: Bool
  ) async throws -> SchemaOutcome {
    let (changes, production, start) = try await transactions.read { transaction in
      let changes = try SchemaComparison(transaction: transaction).importChanges(
        schema, of: container)
      return (
        changes,
        try RecordTypeTable(transaction: transaction).schema(of: container, in: .production),
        try changes.contains { $0.removed != nil }
          ? ImportStart(of: container, transaction: transaction) : nil
      )
    }
    var refusals: [SchemaOutcome.Refusal] = []
    for change in changes {
      if let reason = try await loss(of: change, container: container, production: production) {
        refusals.append(.init(change: change, reason: reason))
      }
    }
    let outcome = SchemaOutcome(changes: changes, refusals: refusals)
    guard !isDryRun, refusals.isEmpty else { return outcome }
    try await transactions.write(locking: .everything) { transaction in
      let comparison = SchemaComparison(transaction: transaction)
      guard try comparison.importChanges(schema, of: container) == changes else {
        throw StoreError(
          .overloaded, "the development schema of \(container) was changed meanwhile; try again")
      }
      if let start {
        try comparison.refuseLosses(of: changes, inRecordsSavedSince: start, in: container)
      }
      try ContainerTable(transaction: transaction).enter(container, for: nil)
      try SchemaModifier(transaction: transaction, container: container, environment: .development)
        .apply(changes)
    }
    return outcome
  }

  /// Adds the development schema to the production schema, with the types of subscriptions that
  /// were saved in development.
  ///
  /// - The production schema keeps its types and fields, and gets the options and grants of
  ///   development. If a field has another type in production, the change is refused, and then
  ///   nothing is changed.
  ///
  /// - Parameter isDryRun: whether to change nothing.
  public func deploySchema(of container: String, isDryRun: Bool) async throws -> SchemaOutcome {
    // A dry run waits neither for writers nor for the disk.
    if isDryRun {
      return try await transactions.read {
        try SchemaComparison(transaction: $0).deployment(of: container)
      }
    }
    return try await transactions.write(locking: .everything) { transaction in
      let outcome = try SchemaComparison(transaction: transaction).deployment(of: container)
      if outcome.refusals.isEmpty {
        try SchemaModifier(transaction: transaction, container: container, environment: .production)
          .apply(outcome.changes)
      }
      return outcome
    }
  }

  private func loss(
    of change: SchemaChange, container: String, production: ContainerSchema
  ) async throws -> String? {
    guard let (type, field) = change.removed else { return nil }
    guard let field else {
      if production.recordTypes[type] != nil {
        return "record type '\(type)' is in the production schema"
      }
      let hasRecords = try await transactions.read { transaction in
        try SchemaComparison(transaction: transaction).scan(ofType: type, in: container)?
          .hasRecords()
          ?? false
      }
      if hasRecords {
        return "there are records of type '\(type)' in development; delete them first"
      }
      return try await isAtWork(onType: type, field: nil, of: container)
        ? "indexes of record type '\(type)' are being built or removed; try again later" : nil
    }
    if production.recordTypes[type]?.fields[field] != nil {
      return "field '\(field)' of record type '\(type)' is in the production schema"
    }
    if try await hasValues(of: field, inType: type, of: container) {
      return "records of type '\(type)' in development have values in field '\(field)'; remove "
        + "them first"
    }
    return try await isAtWork(onType: type, field: field, of: container)
      ? "an index of field '\(field)' of record type '\(type)' is being built or removed; try "
        + "again later" : nil
  }

  private func hasValues(
    of field: String, inType type: String, of container: String
  ) async throws -> Bool {
    var position: TypeScan.Position? = TypeScan.Position()
    while let start = position {
      let found = try await transactions.read { transaction -> (Bool, TypeScan.Position?) in
        guard
          let scan = try SchemaComparison(transaction: transaction).scan(
            ofType: type, in: container)
        else { return (false, nil) }
        let page = try scan.records(after: start, limit: 500)
        return (page.records.contains { $0.record.fields[field] != nil }, page.next)
      }
      if found.0 { return true }
      position = found.1
    }
    return false
  }

  /// A field of nil stands for any field of the type.
  private func isAtWork(
    onType type: String, field: String?, of container: String
  ) async throws -> Bool {
    try await indexWork().contains {
      $0.container == container && $0.environment == .development && $0.recordType == type
        && (field == nil || $0.field == field)
    }
  }
}

/// The outcome of an import or a deployment of a schema.
public struct SchemaOutcome: Sendable, Hashable {
  /// A change that was refused, because it would lose data.
  public struct Refusal: Sendable, Hashable {
    /// As the file or the deployment asked for it.
    public var change: SchemaChange
    /// The data that would be lost, for a person to read.
    public var reason: String
  }

  /// The requested changes in the order in which they are made, the refused ones too.
  public var changes: [SchemaChange]
  /// The refused changes. If there are any, nothing was changed.
  public var refusals: [Refusal]
}
