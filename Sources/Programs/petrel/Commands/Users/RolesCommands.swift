import CommandInterface
import JSONCoding

/// The parts that the `roles` commands share.
enum RolesCommand {
  /// The options of the commands.
  static let options: [Arguments.Option] =
    [ContainerOptions.container, ContainerOptions.environment, AdminOptions.json]
    + AdminOptions.all

  /// Returns the arguments of the admin API that name the container and its environment.
  static func place(_ arguments: Arguments) throws -> [String: String] {
    [
      "container": try ContainerOptions.container(arguments),
      "environment": try ContainerOptions.environment(arguments).rawValue,
    ]
  }

  /// Grants or revokes a role. The words of the command are the ROLE and the USER.
  ///
  /// - Parameter path: The path of the `POST` call of the admin API: `roles/grant` or
  ///   `roles/revoke`.
  static func post(_ path: String, _ arguments: Arguments) async throws -> Int32 {
    let words = arguments.positional
    guard words.count == 2, !words.contains("") else {
      throw UsageError("needs a ROLE and a USER")
    }
    var body = try place(arguments)
    body["role"] = words[0]
    body["user"] = words[1]
    let answer = try await AdminOptions.withAccess(arguments) { [body] in
      try await $0.post(path, body.json)
    }
    if arguments.flag("json") { Output.json(answer) }
    return 0
  }
}

/// The command `petrel roles grant`, which gives a user or a server-to-server key a role of the
/// schema.
enum RolesGrantCommand: Command {
  static let name = "roles grant"
  static let example = "petrel roles grant editor anna --container iCloud.com.example.app"
  static let summary = "Gives a user or a server-to-server key a role of a container's schema."
  static let operands = "ROLE USER"
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await RolesCommand.post("roles/grant", arguments)
  }
}

/// The command `petrel roles revoke`, which removes a role from a user or a server-to-server key.
enum RolesRevokeCommand: Command {
  static let name = "roles revoke"
  static let example = "petrel roles revoke editor anna --container iCloud.com.example.app"
  static let summary = "Takes a role away again."
  static let operands = "ROLE USER"
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await RolesCommand.post("roles/revoke", arguments)
  }
}

/// The command `petrel roles list`, which prints the roles of a schema with their members.
///
/// It calls `GET roles` of the admin API.
enum RolesListCommand: Command {
  static let name = "roles list"
  static let example = "petrel roles list --container iCloud.com.example.app"
  static let summary = "Lists a container's own roles with those who have them."
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let place = try RolesCommand.place(arguments)
    let answer = try await AdminOptions.withAccess(arguments) {
      try await $0.get("roles", place.mapValues { $0 })
    }
    if arguments.flag("json") {
      Output.json(answer)
      return 0
    }
    let roles = answer["roles"]?.array ?? []
    if roles.isEmpty { Output.line("the schema has no roles of its own") }
    for role in roles {
      let members = (role["members"]?.array ?? []).compactMap(\.string)
      Output.line(
        "\(role["role"]?.string ?? ""): "
          .appending(members.isEmpty ? "nobody" : members.joined(separator: ", ")).printable)
    }
    return 0
  }
}
