import CommandInterface
import Foundation
import JSONCoding

/// The command `petrel records query`, which prints the records of a type that match a predicate.
///
/// It calls `POST records/query` of the admin API.
enum RecordsQueryCommand: Command {
  static let name = "records query"
  static let example =
    "petrel records query --container iCloud.com.example.app --type Earthquake "
    + "--sort -time"
  static let summary = "Finds records of a type by a predicate."
  static let options: [Arguments.Option] =
    PlaceOptions.all + [
      .init("type", "TYPE", "the record type", isRequired: true),
      .init("predicate", "TEXT", "as apps write it, such as 'magnitude > 5' (default all)"),
      .init(
        "sort", "LIST", "fields to sort by; a - before a field sorts from high to low: -time,name"),
      .init("zone", "NAME", "only in this zone (default all zones)"), Listing.limitOption,
      AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else {
      throw UsageError("takes only options; quote the predicate after --predicate")
    }
    var body = try PlaceOptions.members(arguments).json
    guard let type = arguments.string("type") else {
      throw UsageError("needs --type, the record type")
    }
    body["recordType"] = .string(type)
    if let predicate = arguments.string("predicate") { body["predicate"] = .string(predicate) }
    if let zone = arguments.string("zone") { body["zoneName"] = .string(zone) }
    if let sort = arguments.string("sort") {
      body["sortBy"] = .array(
        sort.split(separator: ",").map { .string($0.trimmingCharacters(in: .whitespaces)) })
    }
    try await AdminOptions.withAccess(arguments) { [body] access in
      try await Listing(
        name: "records",
        columns: [
          .init("NAME", "recordName", width: 40),
          .init("ZONE", width: 30) { record in
            let zone = record["zoneID"]?["zoneName"]?.string ?? ""
            return zone == "_defaultZone" ? "" : zone
          },
          .init("MODIFIED") { $0["modified"]?["timestamp"]?.timeText ?? "" },
          .init("FIELDS", width: 120) { $0.fieldsText },
        ], emptiness: "no records were found"
      ) { limit, continuation in
        var body = body
        body["limit"] = .int(Int64(limit))
        if let continuation { body["continuation"] = .string(continuation) }
        let answer = try await access.post("records/query", body)
        return (answer["records"]?.array ?? [], answer["continuationMarker"]?.string)
      }.show(arguments)
    }
    return 0
  }
}

extension JSONValue {
  /// The fields of a record in one line, for people.
  fileprivate var fieldsText: String {
    let fields = self["fields"]?.object ?? [:]
    return fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.fieldText)" }
      .joined(separator: " ")
  }
}
