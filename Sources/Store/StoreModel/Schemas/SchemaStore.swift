import CloudKitModel

/// The schemas of containers.
///
/// Every change is one transaction. It holds from the next transaction of each process that has the
/// store open.
public protocol SchemaStore: SchemaReading {
  /// Makes a schema the development schema of a container.
  ///
  /// - What would lose data is refused: removal or another type of what the production schema has,
  ///   or of what records have values of. Then nothing is changed.
  /// - The users' own record type stays when the schema does not name it.
  /// - Parameter isTrial: whether to tell only what would be changed and refused.
  func importSchema(
    _ schema: ContainerSchema, of container: String, isTrial: Bool
  ) async throws -> SchemaOutcome
  /// Adds what a container's development schema has to its production schema, with the types of
  /// the subscriptions that were saved in development.
  ///
  /// - Nothing is taken away but options of fields; grants become those of development. A field
  ///   that has another type in production is refused, and then nothing is changed.
  /// - Parameter isTrial: whether to tell only what would be changed and refused.
  func deploySchema(of container: String, isTrial: Bool) async throws -> SchemaOutcome
}
