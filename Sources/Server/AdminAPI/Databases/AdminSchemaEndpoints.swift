import CloudKitModel
import JSONCoding
import SchemaLanguage
import StoreModel
import WebServices

/// Record types, fields and their indexes, and what production does not have yet.
struct AdminSchemaEndpoints: AdminEndpoints {
  let store: any SchemaStore

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "schema", [.container.needed, .environment],
        "Record types, fields, indexes, grants and subscription types, and the whole as text",
        answers: DescribedSchema.shape, show),
      .get(
        "schema/differences", [.container.needed],
        "What a deploy would change, and what it would refuse", answers: SchemaOutcome.shape
      ) { request in
        try await store.deploySchema(of: request.arguments.place().container, isDryRun: true)
      },
      .get(
        "schema/index-work", [], "The indexes of all containers that are being built",
        answers: .list("indexWork", of: IndexWork.placedShape)
      ) { _ in try await store.indexWork() },
      .post(
        "schema/validate", [Self.text.needed, .container], changes: false,
        "Reads a schema, and says what an import into a container would change and refuse",
        answers: SchemaReport.shape, validate),
      .post(
        "schema/import", [.container.needed, Self.text.needed],
        "Makes a schema the development schema of a container", answers: SchemaOutcome.shape,
        importText),
      .post(
        "schema/deploy", [.container.needed],
        "Adds the development schema to that of production", answers: SchemaOutcome.shape
      ) { request in
        try await store.deploySchema(of: request.arguments.place().container, isDryRun: false)
      },
    ]
  }

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

  private func schema(_ arguments: AdminArguments) throws(ServiceError) -> ContainerSchema {
    let text = try arguments.required(Self.text)
    do throws(SchemaSyntaxError) {
      return try ContainerSchema(parsing: text)
    } catch {
      throw arguments.mistake(Self.text, "is no schema: \(error)")
    }
  }

  private func validate(_ request: AdminRequest) async throws -> SchemaReport {
    var report = SchemaReport(schema: try schema(request.arguments))
    if request.arguments.text(.container) != nil {
      report.outcome = try await store.importSchema(
        report.schema, of: request.arguments.place().container, isDryRun: true)
    }
    return report
  }

  private func importText(_ request: AdminRequest) async throws -> SchemaOutcome {
    let container = try request.arguments.place().container
    let schema = try schema(request.arguments)
    do {
      return try await store.importSchema(schema, of: container, isDryRun: false)
    } catch let error as StoreError where error.code == .overloaded {
      // Which of two reasons it is makes a difference to who waits.
      throw ServiceError(.tryAgainLater, error.reason, retryAfter: 1)
    }
  }
}
