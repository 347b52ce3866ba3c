import CloudKitModel
import Storage
import StoreModel
import WebServices

/// The endpoints `roles…`, which list, grant and revoke the roles of a container's schema.
///
/// The answer of `roles`, with an account and a server-to-server key:
///
///     { "roles": [ { "role": "moderator", "members": ["alice", "6f0a…"] } ] }
///
/// The permissions of a role are part of the schema. These endpoints change only the members of
/// roles.
struct AdminRolesEndpoints: AdminEndpoints {
  let accounts: AccountService
  let credentials: CredentialService
  let schemas: SchemaService

  private static let role = AdminArgument("role", .text, "a role of the container's schema", "ROLE")
  private static let holder = AdminArgument(
    "user", .text,
    "the name of an account, a user record name, or the ID of a server-to-server key", "USER")

  /// The shape of a role with its members. Members are account names or key IDs; an unknown member
  /// appears as its user record name.
  private static let shape = AnswerShape<(name: String, members: [String])>("Role") { role in
    role.member("role") { $0.name }
    role.member("members") { $0.members }
  }

  private typealias Membership = (role: String, name: String, userRecordName: String)

  private static let membership = AnswerShape<Membership>("RoleMember") { membership in
    membership.member("role") { $0.role }
    membership.member("member") { $0.name }
    membership.member("userRecordName") { $0.userRecordName }
  }

  private static let setting = AdminArgument.place + [role.needed, holder.needed]

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "roles", AdminArgument.place, "The roles of a container's schema with those who have them",
      answers: .list("roles", of: shape), Self.list),
    .post("roles/grant", setting, "Gives a role to a user or key", answers: membership) { group in
      { try await group.set(true, $0) }
    },
    .post("roles/revoke", setting, "Takes a role from a user or key", answers: membership) {
      group in { try await group.set(false, $0) }
    },
  ]

  private func list(
    _ request: AdminRequest
  ) async throws -> [(name: String, members: [String])] {
    let place = try request.arguments.place()
    var roles: [(name: String, members: [String])] = []
    for role in try await schemas.schema(of: place.container, in: place.environment).roles.sorted()
    {
      let members = try await schemas.members(
        of: role, container: place.container, environment: place.environment)
      roles.append((role, members))
    }
    var names = try await accounts.userNames(of: Set(roles.flatMap(\.members)))
    for key in try await serverKeys(of: place) { names[key.userRecordName] = key.keyID }
    return roles.map { role in (role.name, role.members.map { names[$0] ?? $0 }) }
  }

  private func serverKeys(of place: ContainerPlace) async throws -> [ServerKey] {
    try await credentials.programCredentials(
      container: place.container, environment: place.environment
    ).serverKeys
  }

  /// Adds a user or key to a role, or removes it if `isMember` is false.
  private func set(_ isMember: Bool, _ request: AdminRequest) async throws -> Membership {
    let arguments = request.arguments
    let place = try arguments.place()
    let role = try arguments.required(Self.role)
    let member = try await member(arguments, place)
    try await checkRole(role, arguments, place)
    do {
      try await schemas.setMembership(
        isMember, of: member.userRecordName, in: role, container: place.container,
        environment: place.environment)
    } catch let error as StoreError where error.code == .notFound {
      throw ServiceError(.notFound, error.reason)
    }
    return (role, member.name, member.userRecordName)
  }

  /// Throws `BAD_REQUEST` for a role of the system, and `NOT_FOUND` with up to 20 known roles.
  private func checkRole(
    _ role: String, _ arguments: AdminArguments, _ place: ContainerPlace
  ) async throws {
    let roles = try await schemas.schema(of: place.container, in: place.environment).roles
    guard !roles.contains(role) else { return }
    guard !RecordGrants.SystemRole.all.contains(role) else {
      throw arguments.mistake(
        Self.role,
        "must be a role that the container's schema creates: '\(role)' is a role of the system")
    }
    let known = roles.sorted().map { "'\($0)'" }.prefix(20).joined(separator: ", ")
    throw ServiceError(
      .notFound,
      "the \(place.environment.rawValue) schema of \(place.container) has no role "
        + "'\(role.prefix(80))'; "
        + (known.isEmpty ? "import a schema that creates it" : "it has \(known)"))
  }

  /// Returns the holder that the argument `user` names. The method compares the value with the
  /// names of accounts first. Then it tries the IDs and user record names of server-to-server keys,
  /// and finally the user record names of accounts.
  private func member(
    _ arguments: AdminArguments, _ place: ContainerPlace
  ) async throws -> (name: String, userRecordName: String) {
    let name = try arguments.required(Self.holder)
    if let user = try await accounts.user(named: name) { return (user.name, user.userRecordName) }
    let keys = try await serverKeys(of: place)
    if let key = keys.first(where: { $0.keyID == name || $0.userRecordName == name }) {
      return (key.keyID, key.userRecordName)
    }
    if let user = try await accounts.user(withRecordName: name) {
      return (user.name, user.userRecordName)
    }
    throw ServiceError(
      .notFound,
      "there is neither a user '\(name.prefix(80))' nor a server-to-server key of "
        + "\(place.container) (\(place.environment.rawValue)) with this ID; see petrel users list "
        + "and petrel keys list")
  }
}
