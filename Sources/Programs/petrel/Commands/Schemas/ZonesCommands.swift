import CommandInterface
import JSONCoding

/// The command `petrel zones list`, which prints the zones of a database.
///
/// It calls `GET zones` of the admin API.
enum ZonesListCommand: Command {
  static let name = "zones list"
  static let example =
    "petrel zones list --container iCloud.com.example.app --database private "
    + "--user anna"
  static let summary = "Lists the zones of a database."
  static let options: [Arguments.Option] =
    PlaceOptions.all + [AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let place = try PlaceOptions.members(arguments)
    let answer = try await AdminOptions.withAccess(arguments) {
      try await $0.get("zones", place)
    }
    if arguments.flag("json") {
      Output.json(answer)
      return 0
    }
    let zones = answer["zones"]?.array ?? []
    var table = Table([.init("ZONE", "zoneName", width: 255), .init("OWNER", "ownerRecordName")])
    table.print(zones)
    if zones.isEmpty { Output.line("nothing was ever saved in this database") }
    return 0
  }
}

/// The parts that `petrel zones save` and `petrel zones delete` share.
private enum ZonesWork {
  /// The options of both commands.
  static let options: [Arguments.Option] =
    PlaceOptions.all + [AdminOptions.json] + AdminOptions.all

  /// Creates or deletes the zones that the words of the command name, with `POST zones/modify` of
  /// the admin API.
  ///
  /// - Parameters:
  ///   - kind: The type of the operations, `create` or `delete`.
  ///   - done: The word that is printed before the name of each zone, such as `saved`.
  ///   - arguments: The words of the command.
  /// - Returns: The exit status: 1 if a zone failed.
  static func modify(_ kind: String, done: String, _ arguments: Arguments) async throws -> Int32 {
    guard !arguments.positional.isEmpty else { throw UsageError("needs the NAME of a zone") }
    let place = try PlaceOptions.members(arguments)
    let operations = arguments.positional.map { name -> JSONValue in
      ["operationType": .string(kind), "zone": ["zoneID": ["zoneName": .string(name)]]]
    }
    let answer = try await AdminOptions.withAccess(arguments, .withoutServer) { access in
      try await access.post(
        "zones/modify", place.json.merging(["operations": .array(operations)]) { $1 })
    }
    let items = answer["zones"]?.array ?? []
    var status: Int32 = 0
    if arguments.flag("json") { Output.json(answer) }
    for (name, item) in zip(arguments.positional, items) {
      if let failure = AdminFailure(item) {
        Output.complain("zone '\(name)': \(failure)".printable)
        status = 1
      } else if !arguments.flag("json") {
        Output.line("\(done) \(name)".printable)
      }
    }
    return status
  }
}

/// The command `petrel zones save`, which creates zones. Existing zones stay unchanged.
enum ZonesSaveCommand: Command {
  static let name = "zones save"
  static let example =
    "petrel zones save Notes --container iCloud.com.example.app --database private "
    + "--user anna"
  static let summary = "Creates zones in a private database. Existing zones stay as they are."
  static let operands = "NAME…"
  static let options = ZonesWork.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await ZonesWork.modify("create", done: "saved", arguments)
  }
}

/// The command `petrel zones delete`, which deletes zones with all their records.
enum ZonesDeleteCommand: Command {
  static let name = "zones delete"
  static let example =
    "petrel zones delete Notes --container iCloud.com.example.app --database private "
    + "--user anna"
  static let summary = "Deletes zones of a private database with all their records."
  static let operands = "NAME…"
  static let options = ZonesWork.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await ZonesWork.modify("delete", done: "deleted", arguments)
  }
}
