import CommandInterface
import JSONCoding
import StoreModel

/// The command `petrel databases partition`, which divides the subscribers of a public database
/// into parts. Without `--parts`, it shows the parts.
///
/// For each part, one server dispatches the changes: it matches them against the subscriptions in
/// that part. A new number of parts applies when all waiting changes have been dispatched. The
/// command calls `GET` or `POST databases/partition` of the admin API.
enum DatabasesPartitionCommand: Command {
  static let name = "databases partition"
  static let example =
    "petrel databases partition --container iCloud.com.example.app --parts 4 "
    + "--store postgres:///petrel"
  static let summary =
    "Divides a public database's subscribers into parts, each dispatched by one server."
  static let options: [Arguments.Option] =
    [
      ContainerOptions.container, ContainerOptions.environment,
      .init(
        "parts", "N",
        "the number of parts, \(DatabasePart.counts.lowerBound) to \(DatabasePart.counts.upperBound); 1 "
          + "joins them again (without this option, the command shows the number)"),
      AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let place = [
      "container": try ContainerOptions.container(arguments),
      "environment": try ContainerOptions.environment(arguments).rawValue,
    ]
    let parts = try arguments.int("parts", in: DatabasePart.counts)
    let answer = try await AdminOptions.withAccess(arguments) { access in
      guard let parts else { return try await access.get("databases/partition", place) }
      return try await access.post(
        "databases/partition", place.json.merging(["parts": .string("\(parts)")]) { $1 })
    }
    if arguments.flag("json") {
      Output.json(answer)
      return 0
    }
    let count = answer["parts"]?.int ?? 1
    Output.line(count == 1 ? "one part: one server dispatches it" : "\(count) parts")
    if let next = answer["nextParts"]?.int {
      Output.line("\(next) as soon as the waiting changes are dispatched")
    }
    let servers = answer["servers"]?.array ?? []
    guard !servers.isEmpty else { return 0 }
    var table = Table([
      .init("PART", "part"), .init("ID", "id"),
      .init("SERVER") { $0["description"]?.string ?? "none yet" },
    ])
    table.print(servers)
    return 0
  }
}
