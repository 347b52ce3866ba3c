import CloudKitModel
import HTTPService
import JSONCoding
import SchemaLanguage
import StoreModel

/// Record types, fields and their indexes, and what production does not have yet.
struct AdminSchemaEndpoints: AdminEndpoints {
  let store: any SchemaStore

  var endpoints: [AdminEndpoint] {
    [
      .get("schema", [.needed("container"), "environment"], show)
        .described(
          "Record types, fields, indexes, grants and subscription types, and the whole as text",
          answers: .schema),
      .get("schema/differences", [.needed("container")], differences)
        .described(
          "What a deploy would change, and what it would refuse", answers: .schemaOutcome),
      .get("schema/index-work", [], indexWork)
        .described(
          "The indexes of all containers that are being built",
          answers: .object(["indexWork": .list(.placedIndexWork)])),
      .post("schema/validate", [.needed(Self.text), "container"], changes: false, validate)
        .described(
          "Reads a schema, and tells what an import into a container would change and refuse",
          answers: .schemaReport),
      .post("schema/import", [.needed("container"), .needed(Self.text)], importText)
        .described(
          "Makes a schema the development schema of a container", answers: .schemaOutcome),
      .post("schema/deploy", [.needed("container")], deploy)
        .described(
          "Adds the development schema to that of production", answers: .schemaOutcome),
    ]
  }

  private func show(_ request: AdminRequest) async throws -> HTTPResponse {
    let (container, environment) = try request.arguments.place()
    let schema = try await store.schema(of: container, in: environment)
    let subscriptionTypes = try await store.subscriptionTypes(of: container, in: environment)
    let work = try await store.indexWork().filter {
      $0.container == container && $0.environment == environment
    }
    return request.object { writer in
      writer.key("recordTypes")
      writer.array { writer in
        for (name, type) in schema.recordTypes.sorted(by: { $0.key < $1.key }) {
          writer.object { Self.write(type, named: name, to: &$0) }
        }
      }
      writer.member("subscriptionTypes", ifPresent: subscriptionTypes.map { "\($0)" })
      writer.member("roles", ifPresent: schema.roles.sorted())
      writer.key("indexWork")
      writer.array { writer in
        for item in work { writer.object { Self.write(item, to: &$0) } }
      }
      writer.member("text", schema.text)
    }
  }

  private static func write(
    _ type: ContainerSchema.RecordType, named name: String, to writer: inout JSONWriter
  ) {
    writer.member("recordType", name)
    writer.key("fields")
    writer.array { writer in
      for (name, field) in type.fields.sorted(by: { $0.key < $1.key }) {
        writer.object { writer in
          writer.member("name", name)
          writer.member("type", field.typeText)
          writer.member("indexes", ifPresent: field.indexes.names)
        }
      }
    }
    writer.key("systemFields")
    writer.array { writer in
      for field in SystemField.inSchema {
        writer.object { writer in
          writer.member("name", field.schemaName)
          writer.member("type", field.schemaType.rawValue)
          writer.member("indexes", ifPresent: (type.systemIndexes[field] ?? []).names)
        }
      }
    }
    writer.key("grants")
    writer.object { writer in
      for (role, permissions) in type.grants.permissions.sorted(by: { $0.key < $1.key }) {
        writer.member(role, ifPresent: permissions.names)
      }
    }
  }

  private static func write(_ work: IndexWork, to writer: inout JSONWriter) {
    writer.member("recordType", work.recordType)
    writer.member("field", work.field)
    writer.member("phase", work.phase == .clearing ? "clearing" : "building")
    writer.member("done", work.done)
    if let total = work.total { writer.member("total", total) }
  }

  /// The indexes of all containers that are not complete.
  private func indexWork(_ request: AdminRequest) async throws -> HTTPResponse {
    let work = try await store.indexWork()
    return request.object { writer in
      writer.key("indexWork")
      writer.array { writer in
        for item in work {
          writer.object { writer in
            writer.member("container", item.container)
            writer.member("environment", item.environment.rawValue)
            Self.write(item, to: &writer)
            writer.member("text", "\(item.name): \(item.progress)")
          }
        }
      }
    }
  }

  private func differences(_ request: AdminRequest) async throws -> HTTPResponse {
    let (container, _) = try request.arguments.place()
    return answer(request, try await store.deploySchema(of: container, isDryRun: true))
  }

  private func deploy(_ request: AdminRequest) async throws -> HTTPResponse {
    let (container, _) = try request.arguments.place()
    return answer(request, try await store.deploySchema(of: container, isDryRun: false))
  }

  func answer(_ request: AdminRequest, _ outcome: SchemaOutcome) -> HTTPResponse {
    request.object { Self.write(outcome, to: &$0) }
  }

  static func write(_ outcome: SchemaOutcome, to writer: inout JSONWriter) {
    writer.member("changes", ifPresent: outcome.changes.map { "\($0)" })
    writer.member("refusals", ifPresent: outcome.refusals.map(\.reason))
  }
}
