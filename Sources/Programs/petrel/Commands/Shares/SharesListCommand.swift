import CommandInterface
import JSONCoding

/// The command `petrel shares list`, which prints the shares of a container.
///
/// It calls `GET shares` of the admin API.
enum SharesListCommand: Command {
  static let name = "shares list"
  static let example = "petrel shares list --container iCloud.com.example.app --participant ben"
  static let summary = "Lists shares with their owners and the numbers of their participants."
  static let options: [Arguments.Option] =
    [
      ContainerOptions.container, ContainerOptions.environment,
      .init("owner", "USER", "only shares of this owner: a name or a user record name"),
      .init(
        "participant", "USER",
        "only shares with this participant: a name or a user record name"),
      Listing.limitOption, AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    var query: [String: String?] = try RolesCommand.place(arguments).mapValues { $0 }
    query["owner"] = arguments.string("owner")
    query["participant"] = arguments.string("participant")
    try await AdminOptions.withAccess(arguments) { [query] access in
      try await Listing(
        "shares", of: "shares", query, by: access, emptiness: "no shares were found",
        [
          .init("SHARE", "share"),
          .init("OWNER") { $0["ownerName"]?.string ?? $0["owner"]?.string ?? "" },
          .init("ZONE", "zone"), .init("ROOT") { $0["root"]?.string ?? "the whole zone" },
          .init("PUBLIC", "publicPermission"), .init("INVITED", "invited"),
          .init("ACCEPTED", "accepted"),
        ]
      ).show(arguments)
    }
    return 0
  }
}
