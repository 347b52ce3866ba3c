import CloudKitModel
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// The roles of a container's schema, and who has them.
struct AdminRolesEndpoints: AdminEndpoints {
  let accounts: any AccountReading
  let credentials: any CredentialReading
  let schemas: any RoleStore & SchemaReading

  private static let role = AdminArgument("role", .text, "a role of the container's schema")
  private static let holder = AdminArgument(
    "user", .text,
    "the name of an account, a user record name, or the ID of a server-to-server key")

  var endpoints: [AdminEndpoint] {
    let place: [AdminArgument] = [.needed("container"), "environment"]
    let arguments = place + [.needed(Self.role), .needed(Self.holder)]
    return [
      .get("roles", place, list)
        .described(
          "The roles of a container's schema with those who have them",
          answers: .object(["roles": .list(.role)])),
      .post("roles/grant", arguments, { try await set(true, $0) })
        .described("Gives somebody a role", answers: .roleMember),
      .post("roles/revoke", arguments, { try await set(false, $0) })
        .described("Takes a role away from somebody", answers: .roleMember),
    ]
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let (container, environment) = try request.arguments.place()
    var roles: [(name: String, members: [String])] = []
    for role in try await schemas.schema(of: container, in: environment).roles.sorted() {
      let members = try await schemas.members(
        of: role, container: container, environment: environment)
      roles.append((role, members))
    }
    var names = try await accounts.userNames(of: Set(roles.flatMap(\.members)))
    for key in try await credentials.programCredentials(
      container: container, environment: environment
    ).serverKeys {
      names[key.userRecordName] = key.keyID
    }
    return request.object { [names] writer in
      writer.key("roles")
      writer.array { writer in
        for role in roles {
          writer.object { writer in
            writer.member("role", role.name)
            writer.key("members")
            writer.array { writer in
              for member in role.members { writer.value(names[member] ?? member) }
            }
          }
        }
      }
    }
  }

  private func set(_ isMember: Bool, _ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (container, environment) = try arguments.place()
    let role = try arguments.required("role")
    let member = try await member(arguments, container, environment)
    try await checkRole(role, arguments, container, environment)
    do {
      try await schemas.setMembership(
        isMember, of: member.userRecordName, in: role, container: container,
        environment: environment)
    } catch let error as StoreError where error.code == .notFound {
      throw ServiceError(.notFound, error.reason)
    }
    return request.object { writer in
      writer.member("role", role)
      writer.member("member", member.name)
      writer.member("userRecordName", member.userRecordName)
    }
  }

  /// - Throws: what says which roles there are, where this is none of them.
  private func checkRole(
    _ role: String, _ arguments: AdminArguments, _ container: String,
    _ environment: ContainerEnvironment
  ) async throws {
    let roles = try await schemas.schema(of: container, in: environment).roles
    guard !roles.contains(role) else { return }
    guard !RecordGrants.SystemRole.all.contains(role) else {
      throw arguments.mistake(
        "role", "must be one of the container's own: '\(role)' is the system's, and cannot be given"
      )
    }
    let known = roles.sorted().map { "'\($0)'" }.prefix(20).joined(separator: ", ")
    throw ServiceError(
      .notFound,
      "the \(environment.rawValue) schema of \(container) has no role '\(role.prefix(80))'; "
        + (known.isEmpty ? "import a schema that creates it" : "it has \(known)"))
  }

  /// The account, or else the server-to-server key, that the argument `user` names.
  private func member(
    _ arguments: AdminArguments, _ container: String, _ environment: ContainerEnvironment
  ) async throws -> (name: String, userRecordName: String) {
    let word = try arguments.required("user")
    if let user = try await accounts.user(named: word) { return (user.name, user.userRecordName) }
    let keys = try await credentials.programCredentials(
      container: container, environment: environment
    )
    .serverKeys
    if let key = keys.first(where: { $0.keyID == word || $0.userRecordName == word }) {
      return (key.keyID, key.userRecordName)
    }
    if let user = try await accounts.user(withRecordName: word) {
      return (user.name, user.userRecordName)
    }
    throw ServiceError(
      .notFound,
      "there is neither a user '\(word.prefix(80))' nor a server-to-server key of \(container) "
        + "(\(environment.rawValue)) with this ID; see petrel users list and petrel keys list")
  }
}
