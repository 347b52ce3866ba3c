import CommandInterface
import JSONCoding

/// The command `petrel servers list`, which prints the servers of a store in PostgreSQL. It shows
/// the number of each server's leases and pending wake-ups. A lease is the right to dispatch the
/// changes of a database; a wake-up informs a server of changes to dispatch.
///
/// It calls `GET servers` of the admin API.
enum ServersListCommand: Command {
  static let name = "servers list"
  static let example = "petrel servers list --store postgres:///petrel"
  static let summary = "Lists the servers that have a store in PostgreSQL open."
  static let options: [Arguments.Option] = [AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let answer = try await AdminOptions.withAccess(arguments) { try await $0.get("servers") }
    let servers = answer["servers"]?.array ?? []
    if arguments.flag("json") {
      Output.json(answer)
    } else if answer["isShared"]?.bool != true {
      Output.line("the store is in a file, which only one server at a time can open")
    } else if servers.isEmpty {
      Output.line("no server has the store open")
    } else {
      var table = Table([
        .init("ID", "id"), .init("SERVER", "description"),
        .init("ALIVE FOR") { text(ofSeconds: $0["secondsLeft"]?.double ?? 0) },
        .init("DATABASES", "leasedDatabases"), .init("WAKE-UPS", "pendingWakeUps"),
      ])
      table.print(servers)
    }
    return 0
  }

  /// Returns the seconds until a server's membership expires, as text such as `4.2 s`; `overdue` if
  /// it has expired. A running server renews its membership periodically.
  static func text(ofSeconds seconds: Double) -> String {
    guard seconds > 0 else { return "overdue" }
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
