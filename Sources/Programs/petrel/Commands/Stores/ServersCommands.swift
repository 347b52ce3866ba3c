import AdminAPI
import CommandInterface
import JSONCoding

/// The commands for the servers of a store in PostgreSQL. For each database, or each part of a
/// divided one, one server has the lease: the right to dispatch the changes.
extension AdminCommand {
  static let serversList = AdminCommand(
    "servers list", "Lists the servers that have a store in PostgreSQL open.",
    example: "petrel servers list --store postgres:///petrel", .get("servers"),
    prints: .lines { answer, _ in
      let servers = answer["servers"]?.array ?? []
      guard answer["isShared"]?.bool == true else {
        return ["the store is in a file, which only one server at a time can open"]
      }
      guard !servers.isEmpty else { return ["no server has the store open"] }
      return Table.lines(
        [
          .init("ID", "id"), .init("SERVER", "description"),
          .init("ALIVE FOR") { aliveText(ofSeconds: $0["secondsLeft"]?.double ?? 0) },
          .init("DATABASES", "leasedDatabases"), .init("WAKE-UPS", "pendingWakeUps"),
        ], servers)
    })

  /// Returns the seconds until a server's membership expires, as text such as `4.2 s`; `overdue` if
  /// it has expired. A running server renews its membership periodically.
  static func aliveText(ofSeconds seconds: Double) -> String {
    guard seconds > 0 else { return "overdue" }
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }

  /// A new number of parts applies when all waiting changes have been dispatched.
  static let databasesPartition = AdminCommand(
    "databases partition",
    "Divides a public database's subscribers into parts, each dispatched by one server. Without --parts, shows them.",
    example: "petrel databases partition --container iCloud.com.example.app --parts 4 "
      + "--store postgres:///petrel", .get("databases/partition"), adding: [.parts],
    call: { access, members in
      let isChange = members["parts"] != nil
      return try await access.answer(
        isChange ? .post("databases/partition") : .get("databases/partition"), members)
    },
    prints: .lines { answer, _ in
      let count = answer["parts"]?.int ?? 1
      let servers = answer["servers"]?.array ?? []
      return [count == 1 ? "one part: one server dispatches it" : "\(count) parts"]
        + (answer["nextParts"]?.int.map {
          ["\($0) as soon as the waiting changes are dispatched"]
        } ?? [])
        + Table.lines(
          [
            .init("PART", "part"), .init("ID", "id"),
            .init("SERVER", anyOf: ["description"], else: "none yet"),
          ], servers)
    })
}
