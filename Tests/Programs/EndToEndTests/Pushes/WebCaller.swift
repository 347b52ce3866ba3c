import CloudKit
import Cryptography
import DatabaseAPI
import FoundationNetworking
import JSONCoding
import Storage
import StoreModel
import Testing

#if canImport(FoundationNetworking)
#endif

/// Someone who talks to a cloud's server over HTTP without the client: a web app with a user's
/// token, or a program with a server-to-server key.
struct WebCaller: Sendable {
  private enum Proof {
    case token(String)
    case key(id: String, ES256PrivateKey)
  }

  struct Refused: Error {
    var answer: String
  }

  private let server: URL
  private let proof: Proof

  /// A web app in which a user has signed in.
  init(of user: String, in cloud: Cloud) async throws {
    server = await cloud.serverURL
    proof = .token(try await cloud.token(of: user))
  }

  /// A program with a key of its own; the cloud's own store must be open.
  init(withKeyNamed name: String, in cloud: Cloud) async throws {
    try await self.init(withKeyNamed: name, in: cloud.store.credentials, at: await cloud.serverURL)
  }

  /// A program with a key of its own, which is put among those of the server.
  init(withKeyNamed name: String, in credentials: CredentialService, at server: URL) async throws {
    self.server = server
    let key = try ES256PrivateKey()
    let registered = try await Registration.addServerKey(
      named: name, container: Cloud.container, environment: .development,
      publicKey: key.publicKey, to: credentials, at: .now)
    proof = .key(id: registered.keyID, key)
  }

  /// Posts to an operation, such as `device/1/…/development/webhooks/register` by its end.
  ///
  /// - Parameter root: `database` or `device`, as the operation asks.
  @discardableResult
  func post(_ operation: String, _ body: JSONValue, root: String) async throws -> JSONValue {
    let path = "/\(root)/1/\(Cloud.container)/development/\(operation)"
    var components = try #require(URLComponents(url: server, resolvingAgainstBaseURL: false))
    components.path = path
    var request: URLRequest
    switch proof {
    case .token(let token):
      let escaped = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      components.percentEncodedQuery = "ckWebAuthToken=\(escaped)&clientId=web"
      request = URLRequest(url: try #require(components.url))
    case .key(let id, let key):
      request = URLRequest(url: try #require(components.url))
      let date = Date.now.formatted(.iso8601)
      let hash = Data(SHA256.hash(body.text.utf8)).base64EncodedString()
      let signature = try key.signature(for: "\(date):\(hash):\(path)".utf8)
      let prefix = "X-Apple-CloudKit-Request-"
      request.setValue(id, forHTTPHeaderField: prefix + "KeyID")
      request.setValue(date, forHTTPHeaderField: prefix + "ISO8601Date")
      request.setValue(
        Data(signature.der).base64EncodedString(), forHTTPHeaderField: prefix + "SignatureV1")
    }
    request.httpMethod = "POST"
    request.httpBody = Data(body.text.utf8)
    let (data, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else {
      throw Refused(answer: String(decoding: data, as: UTF8.self))
    }
    return try JSONValue(parsing: data)
  }
}
