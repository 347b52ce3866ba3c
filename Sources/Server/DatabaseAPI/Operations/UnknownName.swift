import CloudKitModel
import Spelling

/// A name in a query that the schema does not have, with the name that was perhaps meant.
///
/// No record has such a name. So the query finds nothing, and a person takes a misspelt name for an
/// empty database.
package struct UnknownName: Sendable {
  /// The part of a query that a name is in.
  package enum Place: Sendable {
    case recordType
    case filter
    case sortKey
  }

  package let place: Place
  /// The first letters of the name, in quotes.
  package let quoted: String
  /// The known name that differs least; nil if all names differ much.
  package let near: String?
  /// All known names of the place, in alphabetical order.
  private let known: [String]

  fileprivate init(_ name: String, in place: Place, among known: [String]) {
    self.place = place
    self.known = known.sorted()
    quoted = "'\(name.prefix(80))'"
    near = NearestWord.among(self.known, to: name)
  }

  /// The unknown name with the nearest known one, or with the first ten known ones.
  package var advice: String {
    if let near { return "\(quoted); did you mean '\(near)'?" }
    guard !known.isEmpty else { return quoted }
    let rest = known.count > 10 ? " and \(known.count - 10) more" : ""
    return "\(quoted); known are \(known.prefix(10).joined(separator: ", "))\(rest)"
  }
}

extension ContainerSchema {
  /// Returns the names in a query that the schema does not have: its record type, or the fields of
  /// its filters and sort keys. In a schema without record types, every name is known.
  package func unknownNames(in query: Query) -> [UnknownName] {
    let own = recordTypes.keys.filter { !Self.systemTypes.contains($0) }
    guard !own.isEmpty, !Self.systemTypes.contains(query.recordType) else { return [] }
    guard let type = recordTypes[query.recordType] else {
      return [UnknownName(query.recordType, in: .recordType, among: own)]
    }
    let keys =
      query.filters.map { (UnknownName.Place.filter, $0.key) }
      + query.sortKeys.map { (UnknownName.Place.sortKey, $0.key) }
    return keys.compactMap { place, key in
      guard case .field(let name) = key, type.fields[name] == nil else { return nil }
      return UnknownName(name, in: place, among: Array(type.fields.keys))
    }
  }
}
