import CloudKitModel
import DatabaseAPI
import HTTPService
import Storage
import StoreModel
import WebServices

/// The endpoints `users/holdings`, `users/public-records` and `users/notifications`, which list
/// data of one user. Together with the endpoints for databases, subscriptions and devices, an
/// operator can give users a copy of their data.
struct AdminUserHoldingsEndpoints: AdminEndpoints {
  let accounts: AccountService
  let databases: DatabaseService
  let notificationLog: NotificationLogService
  let store: UserDeletionService
  let links: AssetLinks

  private static let place: [AdminArgument] = [
    .user.needed, .container.needed, .environment, .limit,
  ]

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "users/holdings", [.user.needed],
      "Tokens, identities at issuers, roles and permissions of a user, without secrets",
      answers: UserHoldings.shape
    ) { group in
      { request in
        try await group.store.holdings(
          of: request.user(in: group.accounts).userRecordName, at: request.now)
      }
    },
    .get(
      "users/public-records", Self.place + [.continuation],
      "Records of a public database that a user created or modified last",
      answers: RecordsResponse.schema(in: .answers), Self.records),
    .get(
      "users/notifications", Self.place + [.syncToken],
      "A user's notification log in a container",
      answers: NotificationChangesResponse.schema(in: .answers), Self.notifications),
  ]

  /// Returns a page of the records in a public database that the user created, or that the user was
  /// the last to modify.
  private func records(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let user = try await request.user(in: accounts)
    let place = try arguments.place()
    let last = try AdminContinuation.parts(arguments, count: 1)?.first ?? "0"
    guard let last = Int64(last) else {
      throw arguments.mistake(.continuation, "is not a continuation of this list")
    }
    let address = DatabaseAddress(
      container: place.container, environment: place.environment, scope: .public, owner: nil)
    guard let database = try await databases.existingDatabase(at: address) else {
      return response(RecordsResponse(records: []))
    }
    let page = try await store.records(
      stampedBy: user.userRecordName, in: database, after: last, limit: arguments.limit)
    return response(
      RecordsResponse(
        records: try await links.linked(
          page.records.map { .success(.record($0)) }, in: database),
        continuationMarker: page.next.map { AdminContinuation.text(["\($0)"]) }))
  }

  /// Returns records as an answer. Owner names appear unchanged, as they are in the store.
  private func response(_ records: RecordsResponse) -> HTTPResponse {
    HTTPResponse(json: records.body(context: MessageContext(ownerNaming: .explicit)))
  }

  private func notifications(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: accounts)
    let place = try request.arguments.place()
    let answer = try await NotificationsEndpoint(store: notificationLog).changes(
      of: Recipient(
        userRecordName: user.userRecordName, container: place.container,
        environment: place.environment),
      since: request.arguments.text(.syncToken), limit: request.arguments.limit)
    return HTTPResponse(
      json: answer.body(context: MessageContext(ownerNaming: .relative(to: user.userRecordName))))
  }
}

extension UserHoldings {
  /// The shape of the answer of `users/holdings`. It contains no secrets.
  fileprivate static let shape = AnswerShape<UserHoldings>("UserHoldings") { holdings in
    holdings.optional("passwordChanged") { $0.passwordChanged }
    holdings.list("identities", of: Identity.shape) { $0.identities }
    holdings.list("tokens", of: Token.shape) { $0.tokens }
    holdings.list("roles", of: Role.shape) { $0.roles }
    holdings.list("permissions", of: Permission.shape) { $0.permissions }
  }
}

extension UserHoldings.Identity {
  fileprivate static let shape = AnswerShape<Self> { identity in
    identity.member("issuer") { $0.identity.issuer }
    identity.member("subject") { $0.identity.subject }
    identity.member("created") { $0.created }
  }
}

extension UserHoldings.Token {
  fileprivate static let shape = AnswerShape<Self> { token in
    token.optional("container") { $0.session?.container }
    token.optional("environment") { $0.session?.environment }
    token.member("created") { $0.created }
    token.member("expires") { $0.expires }
  }
}

extension UserHoldings.Role {
  fileprivate static let shape = AnswerShape<Self> { role in
    role.members(of: ContainerPlace.shape) { $0.place }
    role.member("role") { $0.role }
  }
}

extension UserHoldings.Permission {
  fileprivate static let shape = AnswerShape<Self> { permission in
    permission.members(of: ContainerPlace.shape) { $0.place }
    permission.member("permission") { $0.permission }
    permission.member("status") { $0.status }
  }
}
