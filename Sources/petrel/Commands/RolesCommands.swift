import CloudKitModel
import JSONCoding
import PetrelServer
import Storage

/// What the commands `petrel roles …` have in common.
enum RolesCommand {
  static let options: [Arguments.Option] = [
    ContainerOptions.container, ContainerOptions.environment, ServeCommand.dataOption,
  ]

  /// Gives a role to somebody, or takes it away.
  static func setMembership(_ isMember: Bool, _ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.count == 2 else { throw UsageError("needs a ROLE and a USER") }
    let container = try ContainerOptions.container(arguments)
    let environment = try ContainerOptions.environment(arguments)
    try await ServeCommand.withStore(arguments) { store in
      try await store.setMembership(
        isMember,
        of: try await recordName(
          of: arguments.positional[1], container: container, environment: environment, in: store),
        in: arguments.positional[0], container: container, environment: environment)
    }
    return 0
  }

  /// The record name of a user, or of a server-to-server key by its ID.
  private static func recordName(
    of name: String, container: String, environment: ContainerEnvironment, in store: any RecordStore
  ) async throws -> String {
    if let user = try await store.user(named: name) { return user.userRecordName }
    let keys = try await store.programCredentials(
      container: container, environment: environment
    ).serverKeys
    if let key = keys.first(where: { $0.keyID == name }) { return key.userRecordName }
    throw UsageError(
      "there is neither a user '\(name)' nor a server-to-server key with this ID; see "
        + "petrel users list and petrel keys list")
  }

  /// What somebody with this record name is called.
  static func name(of recordName: String, in store: any RecordStore) async throws -> String {
    if let user = try await store.user(withRecordName: recordName) { return user.name }
    let keys = try await store.programCredentials().serverKeys
    return keys.first { $0.userRecordName == recordName }?.keyID ?? recordName
  }
}

/// `petrel roles grant`
enum RolesGrantCommand: Command {
  static let name = "roles grant"
  static let example = "petrel roles grant editor anna --container iCloud.com.example.app"
  static let summary = "Gives a user or a server-to-server key a role of a container's schema."
  static let operands = "ROLE USER"
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await RolesCommand.setMembership(true, arguments)
  }
}

/// `petrel roles revoke`
enum RolesRevokeCommand: Command {
  static let name = "roles revoke"
  static let example = "petrel roles revoke editor anna --container iCloud.com.example.app"
  static let summary = "Takes a role away again."
  static let operands = "ROLE USER"
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await RolesCommand.setMembership(false, arguments)
  }
}

/// `petrel roles list`
enum RolesListCommand: Command {
  static let name = "roles list"
  static let example = "petrel roles list --container iCloud.com.example.app"
  static let summary = "Lists a container's own roles with those who have them."
  static let options = RolesCommand.options + [AdminOptions.json]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try ContainerOptions.container(arguments)
    let environment = try ContainerOptions.environment(arguments)
    let roles = try await ServeCommand.withStore(arguments) { store in
      var roles: [(name: String, members: [String])] = []
      for role in try await store.schema(of: container, in: environment).roles.sorted() {
        var names: [String] = []
        for member in try await store.members(
          of: role, container: container, environment: environment)
        {
          names.append(try await RolesCommand.name(of: member, in: store))
        }
        roles.append((role, names))
      }
      return roles
    }
    if arguments.flag("json") {
      let list = roles.map { role -> JSONValue in
        ["role": .string(role.name), "members": .array(role.members.map { .string($0) })]
      }
      Output.json(["roles": .array(list)])
      return 0
    }
    for (name, members) in roles {
      Output.line("\(name): \(members.isEmpty ? "nobody" : members.joined(separator: ", "))")
    }
    return 0
  }
}
