import CommandInterface
import JSONCoding

/// The command `petrel records delete`, which deletes records by name.
///
/// The command calls `POST records/lookup` and `POST records/modify` of the admin API. If the
/// command changes a store in a file without a server, no server may have that store open. It exits
/// with status 1 if a record is missing or cannot be deleted.
enum RecordsDeleteCommand: Command {
  static let name = "records delete"
  static let example = "petrel records delete note-17 note-18 --container iCloud.com.example.app"
  static let summary = "Deletes records by their names."
  static let operands = "NAME…"
  static let options: [Arguments.Option] =
    PlaceOptions.all + [PlaceOptions.zone, AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard !arguments.positional.isEmpty else { throw UsageError("needs the NAME of a record") }
    let place = try PlaceOptions.members(arguments).json
    let names = arguments.positional
    let zone = arguments.string("zone") ?? "_defaultZone"
    let items = try await AdminOptions.withAccess(arguments, .withoutServer) { access in
      // Without this lookup, the deletion of a mistyped name would look like a success.
      let found = try await access.post(
        "records/lookup",
        place.merging([
          "records": .array(names.map { .string($0) }), "zoneID": ["zoneName": .string(zone)],
        ]) { $1 })
      var items = found["records"]?.array ?? []
      let places = items.indices.filter { items[$0]["serverErrorCode"] == nil }
      guard !places.isEmpty else { return items }
      let operations = places.map { index -> JSONValue in
        [
          "operationType": "forceDelete",
          "record": [
            "recordName": .string(names[index]), "zoneID": ["zoneName": .string(zone)],
          ],
        ]
      }
      let answer = try await access.post(
        "records/modify", place.merging(["operations": .array(operations)]) { $1 })
      for (index, item) in zip(places, answer["records"]?.array ?? []) { items[index] = item }
      return items
    }
    if arguments.flag("json") { Output.json(["records": .array(items)]) }
    var status: Int32 = 0
    for (name, item) in zip(names, items) {
      if let failure = AdminFailure(item) {
        Output.complain("record '\(name)': \(failure)".printable)
        status = 1
      } else if !arguments.flag("json") {
        Output.line("deleted \(name)".printable)
      }
    }
    return status
  }
}
