import CloudKitModel
import HTTPService
import JSONCoding
import SchemaLanguage
import StoreModel
import WebServices

/// Schemas that come as text.
extension AdminSchemaEndpoints {
  static let text = AdminArgument("text", .text, "a schema in the schema language")

  private func schema(_ arguments: AdminArguments) throws(ServiceError) -> ContainerSchema {
    let text = try arguments.required("text")
    do throws(SchemaSyntaxError) {
      return try ContainerSchema(parsing: text)
    } catch {
      throw arguments.mistake("text", "is no schema: \(error)")
    }
  }

  func validate(_ request: AdminRequest) async throws -> HTTPResponse {
    let schema = try schema(request.arguments)
    var outcome: SchemaOutcome?
    if try request.arguments.text("container") != nil {
      let (container, _) = try request.arguments.place()
      outcome = try await store.importSchema(schema, of: container, isDryRun: true)
    }
    return request.object { [outcome] writer in
      writer.member("recordTypes", schema.recordTypes.count)
      writer.member(
        "fields", schema.recordTypes.values.reduce(0) { $0 + $1.fields.count })
      writer.member("roles", schema.roles.count)
      if let outcome { Self.write(outcome, to: &writer) }
    }
  }

  func importText(_ request: AdminRequest) async throws -> HTTPResponse {
    let (container, _) = try request.arguments.place()
    let schema = try schema(request.arguments)
    do {
      return answer(
        request, try await store.importSchema(schema, of: container, isDryRun: false))
    } catch let error as StoreError where error.code == .overloaded {
      // Which of two reasons it is makes a difference to who waits.
      throw ServiceError(.tryAgainLater, error.reason, retryAfter: 1)
    }
  }
}
