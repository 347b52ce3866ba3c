import CloudKitModel
import JSONCoding
import StoreModel
import WebServices

/// A key or token in the list of `keys`. It contains no secret.
enum ListedKey: Sendable {
  /// An admin key. `isCurrent` says whether the request was authenticated with it.
  case admin(AdminKey, isCurrent: Bool)
  case apiToken(APIToken)
  /// A server-to-server key: the public key of a program that signs its requests.
  case server(ServerKey)

  /// The answer's shape. `isCurrent` exists only for admin keys, `origins` and `redirect` only for
  /// API tokens, and `user` only for server-to-server keys.
  static let shape = AnswerShape<ListedKey>("Key") { key in
    key.member("kind", as: .word(["admin", "apiToken", "server"])) { $0.kind }
    key.member("identifier") { $0.identifier }
    key.member("name") { $0.name }
    key.member("created") { $0.created }
    key.optional("revoked") { $0.revoked }
    key.optional("isCurrent") { if case .admin(_, let isCurrent) = $0 { isCurrent } else { nil } }
    key.optional("container") { $0.place?.container }
    key.optional("environment") { $0.place?.environment }
    key.optional("origins") { $0.apiToken?.allowedOrigins.sorted() }
    key.optional("redirect") { $0.redirect }
    key.optional("user") { if case .server(let key) = $0 { key.userRecordName } else { nil } }
  }

  private var kind: String {
    switch self {
    case .admin: "admin"
    case .apiToken: "apiToken"
    case .server: "server"
    }
  }

  private var identifier: String {
    switch self {
    case .admin(let key, _): key.identifier
    case .apiToken(let token): token.identifier
    case .server(let key): key.keyID
    }
  }

  private var name: String {
    switch self {
    case .admin(let key, _): key.label
    case .apiToken(let token): token.name
    case .server(let key): key.name
    }
  }

  private var created: Timestamp {
    switch self {
    case .admin(let key, _): key.created
    case .apiToken(let token): token.created
    case .server(let key): key.created
    }
  }

  private var revoked: Timestamp? {
    switch self {
    case .admin(let key, _): key.revoked
    case .apiToken(let token): token.revoked
    case .server(let key): key.revoked
    }
  }

  /// The container and environment; nil for an admin key, which is for the whole server.
  var place: ContainerPlace? {
    switch self {
    case .admin: nil
    case .apiToken(let token):
      ContainerPlace(container: token.container, environment: token.environment)
    case .server(let key):
      ContainerPlace(container: key.container, environment: key.environment)
    }
  }

  private var apiToken: APIToken? {
    if case .apiToken(let token) = self { token } else { nil }
  }

  /// The URL to which the sign-in page of an API token redirects. Nil for a sign-in page that posts
  /// a message to the web app's page, and for the other kinds.
  private var redirect: String? {
    if case .redirect(let url) = apiToken?.signInCallback { url } else { nil }
  }
}
