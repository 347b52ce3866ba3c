import CommandInterface
import JSONCoding

/// The command `petrel records get`, which prints records by name.
///
/// It calls `POST records/lookup` of the admin API, and exits with status 1 if a record is missing
/// or cannot be read.
enum RecordsGetCommand: Command {
  static let name = "records get"
  static let example = "petrel records get quake-17 --container iCloud.com.example.app"
  static let summary = "Shows records by their names."
  static let operands = "NAME…"
  static let options: [Arguments.Option] =
    PlaceOptions.all + [PlaceOptions.zone, AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard !arguments.positional.isEmpty else { throw UsageError("needs the NAME of a record") }
    var body = try PlaceOptions.members(arguments).json
    body["records"] = .array(arguments.positional.map { .string($0) })
    body["zoneID"] = ["zoneName": .string(arguments.string("zone") ?? "_defaultZone")]
    let answer = try await AdminOptions.withAccess(arguments) { [body] in
      try await $0.post("records/lookup", body)
    }
    var status: Int32 = 0
    for (name, record) in zip(arguments.positional, answer["records"]?.array ?? []) {
      if let failure = AdminFailure(record) {
        Output.complain("record '\(name)': \(failure)".printable)
        status = 1
      } else if arguments.flag("json") {
        Output.json(record)
      } else {
        show(record)
      }
    }
    return status
  }

  /// Prints a record with its fields for people.
  private static func show(_ record: JSONValue) {
    let zone = record["zoneID"]?["zoneName"]?.string ?? ""
    Output.line("\(record["recordName"]?.string ?? "") in \(zone)".printable)
    var rows = [("type", record["recordType"]?.string ?? "")]
    for name in ["created", "modified"] {
      guard let stamp = record[name] else { continue }
      let device = stamp["deviceID"]?.string.map { " on \($0)" } ?? ""
      rows.append(
        (
          name,
          (stamp["timestamp"]?.timeText ?? "") + " by \(stamp["userRecordName"]?.string ?? "")"
            + device
        ))
    }
    rows.append(("change tag", record["recordChangeTag"]?.string ?? ""))
    if let parent = record["parent"]?["recordName"]?.string { rows.append(("parent", parent)) }
    for (title, text) in rows { Output.line("  \(title.padding(to: 12))\(text.printable)") }
    let fields = (record["fields"]?.object ?? [:]).sorted { $0.key < $1.key }
    guard !fields.isEmpty else { return }
    Output.line("fields:")
    let width = fields.map { $0.key.count }.max() ?? 0
    for (name, field) in fields {
      Output.line("  \(name.padding(to: width))  \(field.fieldText.printable)")
    }
  }
}
