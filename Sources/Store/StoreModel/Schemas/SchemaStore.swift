import CloudKitModel

/// The schemas of containers.
///
/// Every change is one transaction. It takes effect with the next transaction of each process that
/// has the store open.
public protocol SchemaStore: SchemaReading {
  /// Makes a schema the development schema of a container.
  ///
  /// - A change that would lose data is refused: removing a field or type of the production schema
  ///   or of saved values, or changing its type. Then nothing is changed.
  /// - The users' own record type stays if the schema does not name it.
  /// - Parameter isDryRun: whether to return only what would be changed and refused (a dry run).
  func importSchema(
    _ schema: ContainerSchema, of container: String, isDryRun: Bool
  ) async throws -> SchemaOutcome
  /// Adds a container's development schema to its production schema, with the types of the
  /// subscriptions that were saved in development.
  ///
  /// - Only options of fields are removed. Grants become those of development. A field that has
  ///   another type in production is refused, and then nothing is changed.
  /// - Parameter isDryRun: whether to return only what would be changed and refused (a dry run).
  func deploySchema(of container: String, isDryRun: Bool) async throws -> SchemaOutcome
}
