import CloudKitModel
import DatabaseAPI
import Storage
import StoreModel
import WebServices

/// The check of the names in a query that a person typed.
struct QueryNames: Sendable {
  let schemas: SchemaService

  /// Throws `BAD_REQUEST` with the nearest name if the schema lacks a name of the query.
  func check(_ query: Query, _ arguments: AdminArguments) async throws {
    let place = try arguments.place()
    let schema = try await schemas.schema(of: place.container, in: place.environment)
    guard let unknown = schema.unknownNames(in: query).first else { return }
    let argument: AdminArgument
    switch unknown.place {
    case .recordType:
      throw arguments.mistake(
        .recordType,
        "is no record type of \(place.container), \(place.environment.rawValue): \(unknown.advice)")
    case .filter: argument = .predicate
    case .sortKey: argument = .sortBy
    }
    throw arguments.mistake(
      argument, "names a field that '\(query.recordType)' does not have: \(unknown.advice)")
  }
}
