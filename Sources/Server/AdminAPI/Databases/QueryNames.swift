import CloudKitModel
import Spelling
import StoreModel
import WebServices

/// The check of the names in a query that a person typed: the store finds no records for a name
/// that does not exist, and a person then takes a misspelt name for an empty database.
struct QueryNames: Sendable {
  let schemas: any SchemaReading

  /// Checks that the schema has the record type of a query, and that the type has the fields of
  /// its filters and sort keys. In an environment without record types, every name passes.
  ///
  /// - Throws: `BAD_REQUEST` with the nearest name.
  func check(_ query: Query, _ arguments: AdminArguments) async throws {
    let place = try arguments.place()
    let types = try await schemas.schema(of: place.container, in: place.environment).recordTypes
    let own = types.keys.filter { !ContainerSchema.systemTypes.contains($0) }
    guard !own.isEmpty, !ContainerSchema.systemTypes.contains(query.recordType) else { return }
    guard let type = types[query.recordType] else {
      throw arguments.mistake(
        .recordType,
        "is no record type of \(place.container), \(place.environment.rawValue): "
          + Self.advice(on: query.recordType, among: own))
    }
    let parts: [(AdminArgument, [FieldKey])] = [
      (.predicate, query.filters.map(\.key)), (.sortBy, query.sortKeys.map(\.key)),
    ]
    for (argument, keys) in parts {
      for case .field(let name) in keys where type.fields[name] == nil {
        throw arguments.mistake(
          argument,
          "names a field that '\(query.recordType)' does not have: "
            + Self.advice(on: name, among: Array(type.fields.keys)))
      }
    }
  }

  /// Returns the unknown name with the nearest known one, or with the first ten known ones.
  private static func advice(on name: String, among known: [String]) -> String {
    let known = known.sorted()
    let quoted = "'\(name.prefix(80))'"
    if let near = NearestWord.among(known, to: name) { return "\(quoted); did you mean '\(near)'?" }
    guard !known.isEmpty else { return quoted }
    let rest = known.count > 10 ? " and \(known.count - 10) more" : ""
    return "\(quoted); known are \(known.prefix(10).joined(separator: ", "))\(rest)"
  }
}
