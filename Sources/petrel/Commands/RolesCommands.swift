import CloudKitModel
import PetrelServer
import Storage

/// What the commands `petrel roles …` have in common.
enum RolesCommand {
  static let options: [Arguments.Option] = [
    .init("container", "IDENTIFIER", "the container, such as iCloud.com.example.app"),
    .init("environment", "NAME", "development or production (default development)"),
    .init("data", "DIRECTORY", "where the store lies (default .petrel)"),
  ]

  /// A container's environment in an open store.
  struct Place {
    var store: any RecordStore
    var container: String
    var environment: ContainerEnvironment

    /// The record name of somebody: a user of this name, or who has this record name, as
    /// server-to-server keys do.
    func recordName(of name: String) async throws -> String {
      if let user = try await store.user(named: name) { return user.userRecordName }
      guard name.hasPrefix("_") else {
        throw UsageError(
          "there is no user '\(name)'; name one of petrel users list, or a record name")
      }
      return name
    }
  }

  static func run(
    _ arguments: Arguments, _ body: (Place) async throws -> Void
  ) async throws -> Int32 {
    guard let container = arguments.string("container"), container.hasPrefix("iCloud.") else {
      throw UsageError("needs --container with an identifier that begins with 'iCloud.'")
    }
    let word = arguments.string("environment") ?? ContainerEnvironment.development.rawValue
    guard let environment = ContainerEnvironment(rawValue: word) else {
      throw UsageError("--environment must be development or production, not '\(word)'")
    }
    let store = try await ServeCommand.openStore(
      in: ServeCommand.dataDirectory(arguments), role: .tool)
    do {
      try await body(Place(store: store, container: container, environment: environment))
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    return 0
  }

  /// Gives a role to somebody, or takes it away.
  static func setMembership(_ isMember: Bool, _ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.count == 2 else { throw UsageError("needs a ROLE and a USER") }
    return try await run(arguments) { place in
      try await place.store.setMembership(
        isMember, of: try await place.recordName(of: arguments.positional[1]),
        in: arguments.positional[0], container: place.container, environment: place.environment)
    }
  }
}

/// `petrel roles grant`
enum RolesGrantCommand: Command {
  static let name = "roles grant"
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
  static let summary = "Lists a container's own roles with those who have them."
  static let options = RolesCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await RolesCommand.run(arguments) { place in
      let schema = try await place.store.schema(of: place.container, in: place.environment)
      for role in schema.roles.sorted() {
        let members = try await place.store.members(
          of: role, container: place.container, environment: place.environment)
        var names: [String] = []
        for member in members {
          names.append(try await place.store.user(withRecordName: member)?.name ?? member)
        }
        Output.line("\(role): \(names.isEmpty ? "nobody" : names.joined(separator: ", "))")
      }
    }
  }
}
