import CommandInterface

/// The command `petrel users list`, which prints the users with their record names.
///
/// It calls `GET users` of the admin API.
enum UsersListCommand: Command {
  static let name = "users list"
  static let example = "petrel users list"
  static let summary = "Lists the users with their record names."
  static let options: [Arguments.Option] =
    [
      .init("text", "TEXT", "only users whose names begin with this text"), Listing.limitOption,
      AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    try await AdminOptions.withAccess(arguments) { access in
      try await Listing(
        "users", of: "users", ["text": arguments.string("text")], by: access,
        emptiness: "there are no users",
        [
          .init("NAME", "name"), .init("USER RECORD", "userRecordName"),
          .init("ADDED") { $0["created"]?.timeText ?? "" }, .init("FULL NAME", "fullName"),
        ]
      ).show(arguments)
    }
    return 0
  }
}
