import AdminAPI
import CommandInterface
import JSONCoding

/// The command `petrel records put`, which saves a record from JSON or from words such as
/// `title=Milk`.
///
/// The command calls `POST records/modify` of the admin API. For words such as `title=Milk`, it
/// first reads the types of the fields with `GET schema`. If the command changes a store in a file
/// without a server, no server may have that store open.
struct RecordsPutCommand: Command {
  let name = "records put"
  let example =
    "petrel records put note-17 title=Milk --type Note "
    + "--container iCloud.com.example.app"
  let summary = "Saves a record, from JSON or from arguments of the command."
  let operands = "[NAME FIELD=VALUE…]"
  let options: [Arguments.Option] =
    AdminArgument.ofDatabase.options + [
      .init("zone", "NAME", "the zone (default the one that the record names, or _defaultZone)"),
      .init("type", "TYPE", "the record type, if fields are arguments"),
      .init(
        "file", "FILE",
        "the record as JSON of CloudKit Web Services, if no fields are arguments (default standard input)"
      ),
      .init(
        "force", nil, "overwrites changes that were made after the record in the file was read"),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    var place = try AdminArgument.ofDatabase.members(arguments)
    let answer: JSONValue
    if arguments.positional.isEmpty {
      let operation = try Self.operation(ofFile: arguments.string("file") ?? "-", arguments)
      place["operations"] = [operation]
      answer = try await AdminOptions.withAccess(arguments, .withoutServer, makesStore: true) {
        [place] in try await $0.post("records/modify", place)
      }
    } else {
      guard arguments.string("file") == nil else {
        throw UsageError("takes --file or arguments with fields, not both")
      }
      guard let type = arguments.string("type") else {
        throw UsageError("needs --type, the record type, if fields are arguments")
      }
      let schemaPlace = place.filter { ["container", "environment"].contains($0.key) }
      answer = try await AdminOptions.withAccess(arguments, .withoutServer, makesStore: true) {
        [place] access in
        let schema = try await access.get("schema", schemaPlace)
        let fields = try RecordWords(type: type, schema: schema).fields(
          arguments.positional.dropFirst())
        var record: [String: JSONValue] = [
          "recordName": .string(arguments.positional[0]), "recordType": .string(type),
          "fields": .object(fields),
        ]
        if let zone = arguments.string("zone") { record["zoneID"] = ["zoneName": .string(zone)] }
        let operation: JSONValue = [
          "operationType": "forceUpdate", "record": .object(record),
        ]
        return try await access.post(
          "records/modify", place.merging(["operations": [operation]]) { $1 })
      }
    }
    guard let record = answer["records"]?.array?.first else {
      throw AdminFailure("the answer has no record")
    }
    if let failure = AdminFailure(record) { throw failure }
    if arguments.flag("json") {
      Output.json(record)
    } else {
      Output.line("saved \(record["recordName"]?.string ?? "")".printable)
    }
    return 0
  }

  /// Returns the operation that saves a record in JSON:
  ///
  /// - `replace` if the JSON has a change tag. The operation then fails if the record in the store
  ///   has changed since the tag was read. `--force` ignores the tag.
  /// - `create` if the JSON has no record name. The server chooses the name.
  /// - `forceReplace` otherwise.
  private static func operation(
    ofFile file: String, _ arguments: Arguments
  ) throws -> JSONValue {
    let json = try JSONFile.read(file)
    guard let object = json["record"]?.object ?? json.object else {
      throw UsageError("a record must be a JSON object, not \(json.kind)")
    }
    var record: [String: JSONValue]
    do {
      record = try PortableRecord(object, assets: .refused).members
    } catch {
      throw UsageError("\(error)")
    }
    for member in ["created", "modified", "deleted"] { record[member] = nil }
    if let type = arguments.string("type") { record["recordType"] = .string(type) }
    if let zone = arguments.string("zone") { record["zoneID"] = ["zoneName": .string(zone)] }
    var kind = record["recordName"] == nil ? "create" : "forceReplace"
    if let tag = object["recordChangeTag"]?.string, !arguments.flag("force") {
      record["recordChangeTag"] = .string(tag)
      kind = "replace"
    }
    return ["operationType": .string(kind), "record": .object(record)]
  }
}
