import CloudKitModel
import JSONCoding
import SchemaLanguage
import Storage
import StoreModel
import WebServices

/// The endpoints `schema…`, which show and check the schema of a container, import a schema, and
/// deploy the development schema to production.
///
/// An import changes the development environment only. A deployment then adds the development
/// schema to production. The answers of import and deployment list the changes, and the changes
/// that were refused:
///
///     { "changes": ["…"], "refusals": [] }
struct AdminSchemaEndpoints: AdminEndpoints {
  let store: SchemaService

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "schema", AdminArgument.place,
      "Record types, fields, indexes, grants and subscription types, and the whole schema as text",
      answers: DescribedSchema.shape, Self.show),
    .get(
      "schema/differences", [.container.needed],
      "What a deploy would change, and what it would refuse", answers: SchemaOutcome.shape
    ) { group in
      { try await group.store.deploySchema(of: $0.arguments.place().container, isDryRun: true) }
    },
    .get(
      "schema/index-work", [], "The indexes of all containers that are being built",
      answers: .list("indexWork", of: IndexWork.placedShape)
    ) { group in { _ in try await group.store.indexWork() } },
    .post(
      "schema/validate", [Self.text.needed, .container], changes: false,
      "Reads a schema, and says what an import into a container would change and refuse",
      answers: SchemaReport.shape, Self.validate),
    .post(
      "schema/import", [.container.needed, Self.text.needed],
      "Makes a schema the development schema of a container", answers: SchemaOutcome.shape,
      Self.importText),
    .post(
      "schema/deploy", [.container.needed],
      "Adds the development schema to that of production", answers: SchemaOutcome.shape
    ) { group in
      { try await group.store.deploySchema(of: $0.arguments.place().container, isDryRun: false) }
    },
  ]

  private func show(_ request: AdminRequest) async throws -> DescribedSchema {
    let place = try request.arguments.place()
    return DescribedSchema(
      schema: try await store.schema(of: place.container, in: place.environment),
      subscriptionTypes: try await store.subscriptionTypes(
        of: place.container, in: place.environment),
      indexWork: try await store.indexWork().filter {
        $0.container == place.container && $0.environment == place.environment
      })
  }

  // MARK: Schemas that come as text

  private static let text = AdminArgument("text", .text, "a schema in the schema language")

  /// Parses the argument `text`. Throws `BAD_REQUEST` with the position of a syntax error.
  private func schema(_ arguments: AdminArguments) throws(ServiceError) -> ContainerSchema {
    let text = try arguments.required(Self.text)
    do throws(SchemaSyntaxError) {
      return try ContainerSchema(parsing: text)
    } catch {
      throw arguments.mistake(Self.text, "is not a valid schema: \(error)")
    }
  }

  /// Returns the numbers of record types, fields and roles in a schema. If the request names a
  /// container, the answer also says which changes an import would make. Nothing is imported.
  private func validate(_ request: AdminRequest) async throws -> SchemaReport {
    var report = SchemaReport(schema: try schema(request.arguments))
    if request.arguments.text(.container) != nil {
      report.outcome = try await store.importSchema(
        report.schema, of: request.arguments.place().container, isDryRun: true)
    }
    return report
  }

  /// Throws `TRY_AGAIN_LATER` if the store is overloaded or the schema changed meanwhile.
  private func importText(_ request: AdminRequest) async throws -> SchemaOutcome {
    let container = try request.arguments.place().container
    let schema = try schema(request.arguments)
    do {
      return try await store.importSchema(schema, of: container, isDryRun: false)
    } catch let error as StoreError where error.code == .overloaded {
      // The store uses this error code for two faults. The reason says which fault it is, so the
      // caller gets the reason and can decide whether to wait.
      throw ServiceError(.tryAgainLater, error.reason, retryAfter: 1)
    }
  }
}
