import CloudKitModel
import DatabaseAPI
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// What a user has beside databases, subscriptions and devices, for whoever gives it to the user.
struct AdminUserHoldingsEndpoints: AdminEndpoints {
  let accounts: any AccountReading
  let databases: any DatabaseReading
  let notificationLog: any NotificationLogStore
  let store: any UserHoldingsStore
  let links: AssetLinks

  private static let place: [AdminArgument] = [
    .needed("user"), .needed("container"), "environment", "limit",
  ]

  var endpoints: [AdminEndpoint] {
    [
      .get("users/holdings", [.needed("user")], holdings)
        .described(
          "Tokens, identities at issuers, roles and permissions of a user, without what opens anything",
          answers: .userHoldings),
      .get("users/public-records", Self.place + ["continuation"], records)
        .described(
          "Records of a public database that a user created or modified last",
          answers: RecordsResponse.schema(in: .answers)),
      .get("users/notifications", Self.place + ["syncToken"], notifications)
        .described(
          "A user's notification log in a container",
          answers: NotificationChangesResponse.schema(in: .answers)),
    ]
  }

  private func holdings(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: accounts)
    let holdings = try await store.holdings(
      of: user.userRecordName, at: request.now)
    return request.object { writer in
      writer.member("passwordChanged", ifPresent: holdings.passwordChanged)
      writer.list("identities", holdings.identities) { identity, writer in
        writer.member("issuer", identity.identity.issuer)
        writer.member("subject", identity.identity.subject)
        writer.member("created", identity.created)
      }
      writer.list("tokens", holdings.tokens) { token, writer in
        if let place = token.session { writer.members(of: place) }
        writer.member("created", token.created)
        writer.member("expires", token.expires)
      }
      writer.list("roles", holdings.roles) { role, writer in
        writer.members(of: role.place)
        writer.member("role", role.role)
      }
      writer.list("permissions", holdings.permissions) { permission, writer in
        writer.members(of: permission.place)
        writer.member("permission", permission.permission.rawValue)
        writer.member("status", permission.status.rawValue)
      }
    }
  }

  private func records(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let user = try await request.user(in: accounts)
    let (container, environment) = try arguments.place()
    let limit = try arguments.limit()
    let last = try AdminContinuation.parts(arguments, count: 1)?.first ?? "0"
    guard let last = Int64(last) else {
      throw arguments.mistake("continuation", "is none that this list gave")
    }
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    guard let database = try await databases.existingDatabase(at: address) else {
      return response(RecordsResponse(records: []))
    }
    let page = try await store.records(
      stampedBy: user.userRecordName, in: database, after: last, limit: limit)
    return response(
      RecordsResponse(
        records: try await links.linked(
          page.records.map { .success(.record($0)) }, in: database),
        continuationMarker: page.next.map { AdminContinuation.text(["\($0)"]) }))
  }

  private func response(_ records: RecordsResponse) -> HTTPResponse {
    HTTPResponse(json: records.body(context: MessageContext(ownerNaming: .explicit)))
  }

  private func notifications(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: accounts)
    let (container, environment) = try request.arguments.place()
    let answer = try await NotificationsEndpoint(store: notificationLog).changes(
      of: Recipient(
        userRecordName: user.userRecordName, container: container, environment: environment),
      since: try request.arguments.text("syncToken"), limit: try request.arguments.limit())
    return HTTPResponse(
      json: answer.body(context: MessageContext(ownerNaming: .relative(to: user.userRecordName))))
  }
}

extension JSONWriter {
  /// A list of objects.
  fileprivate mutating func list<Element>(
    _ name: String, _ elements: [Element], _ members: (Element, inout JSONWriter) -> Void
  ) {
    key(name)
    array { writer in
      for element in elements { writer.object { members(element, &$0) } }
    }
  }

  fileprivate mutating func members(of place: ContainerPlace) {
    member("container", place.container)
    member("environment", place.environment.rawValue)
  }
}
