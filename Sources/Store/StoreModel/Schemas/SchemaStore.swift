import CloudKitModel

/// The schemas of containers.
///
/// Every change is one transaction. Each process that has the store open uses the changed schema
/// from its next transaction on.
public protocol SchemaStore: SchemaReading {
  /// Replaces the development schema of a container.
  ///
  /// - A change that would lose data is refused, and then nothing is changed. Three conditions
  ///   permit the removal of a record type or a field, or another type for a field: production does
  ///   not have the type or field, no development record has values of it, and none of its indexes
  ///   is being built or removed.
  /// - If `schema` does not have the record type `Users`, the present one stays.
  /// - Parameter isDryRun: whether to return the changes and refusals without changing the schema.
  /// - Throws: ``StoreError/Code/overloaded`` if another call changed the schema meanwhile; try
  ///   again.
  func importSchema(
    _ schema: ContainerSchema, of container: String, isDryRun: Bool
  ) async throws -> SchemaOutcome
  /// Adds a container's development schema to its production schema. The types of the subscriptions
  /// that were saved in development are added too.
  ///
  /// - The production schema keeps its record types and fields. Options of fields and grants become
  ///   those of development. If a field has another type in production, the change is refused, and
  ///   then nothing is changed.
  /// - Parameter isDryRun: whether to return the changes and refusals without changing the schema.
  func deploySchema(of container: String, isDryRun: Bool) async throws -> SchemaOutcome
}
