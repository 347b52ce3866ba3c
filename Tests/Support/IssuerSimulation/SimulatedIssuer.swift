import Cryptography
import Foundation
import HTTPService
import JSONCoding
import Synchronization

/// An OpenID Connect issuer on this machine: real keys, real HTTP, and a user who always says yes.
///
/// A test changes what it publishes and what it signs.
public final class SimulatedIssuer: Sendable {
  public struct Behaviour: Sendable {
    /// The published keys by name.
    public var keys: [String: SigningKey]
    /// Signs the ID tokens, under this name.
    public var signer: (keyID: String?, key: SigningKey)
    /// Members of the token's header that differ.
    public var header: [String: JSONValue] = [:]
    /// Claims that differ; null takes a claim away.
    public var claims: [String: JSONValue] = [:]
    /// Takes the place of the published keys.
    public var keySet: JSONValue?
    /// Takes the place of the whole ID token.
    public var token: String?
    /// Members of the document that differ.
    public var document: [String: JSONValue] = [:]
    public var clientID = "client"
    /// The secret that the client must present, in the form or in a header.
    public var secret: String? = "secret"
    public var subject = "248289761001"
    /// The error that the user's answer leads to; `nil` if the user agrees.
    public var error: String?
    /// Goes along with a code in a form, as Apple's names do.
    public var user: String?

    public init(keyID: String, key: SigningKey) {
      keys = [keyID: key]
      signer = (keyID, key)
    }
  }

  /// The requests that the issuer received.
  public struct Log: Sendable {
    /// Requests by path.
    public var requests: [String: Int] = [:]
    /// The parameters of the last request to sign in.
    public var authorization: [String: String] = [:]
    /// The fields of the last request for a token.
    public var tokenFields: [String: String] = [:]
    public var tokenAuthorization: String?
  }

  private struct State {
    var behaviour: Behaviour
    var log = Log()
    /// The parameters of each sign-in by its code.
    var codes: [String: [String: String]] = [:]
  }

  private let state: Mutex<State>
  private let server = Mutex<HTTPServer?>(nil)

  private let host: String

  /// - Parameter host: the name of this machine in the issuer's URLs.
  public init(_ behaviour: Behaviour, host: String = "127.0.0.1") throws {
    self.host = host
    state = Mutex(State(behaviour: behaviour))
    let http = HTTPServer(configuration: .init()) { [unowned self] in answer($0) }
    try http.start()
    server.withLock { $0 = http }
  }

  /// Connections to it.
  public var openConnections: Int { server.withLock { $0?.metrics.openConnections ?? 0 } }

  public func stop() async {
    await server.withLock { $0 }?.stop(within: .seconds(5))
  }

  /// Its identifier.
  public var url: String { "http://\(host):\(server.withLock { $0?.port ?? 0 })" }

  public var log: Log { state.withLock { $0.log } }

  public func change(_ body: (inout Behaviour) -> Void) {
    state.withLock { body(&$0.behaviour) }
  }

  /// The browser's visit, without a browser: goes to the URL and answers what comes back.
  public func signIn(at url: String) -> [String: String] {
    authorize(
      Self.dictionary(HTTPRequest(method: "GET", target: url).query))
  }

  // MARK: Answers

  private func answer(_ request: HTTPRequest) -> HTTPResponse {
    state.withLock { $0.log.requests[request.path, default: 0] += 1 }
    switch request.path {
    case "/.well-known/openid-configuration": return Self.json(document)
    case "/keys": return Self.json(keys)
    case "/authorize": return page(Self.dictionary(request.query))
    case "/token": return token(request)
    case "/elsewhere": return HTTPResponse(status: 302, headers: [("Location", url + "/keys")])
    default: return HTTPResponse(status: 404)
    }
  }

  private var document: JSONValue {
    let members: [String: JSONValue] = [
      "issuer": .string(url), "authorization_endpoint": .string(url + "/authorize"),
      "token_endpoint": .string(url + "/token"), "jwks_uri": .string(url + "/keys"),
      "token_endpoint_auth_methods_supported": ["client_secret_post"],
    ]
    return .object(members.merging(state.withLock { $0.behaviour.document }) { $1 })
  }

  private var keys: JSONValue {
    let (keys, set) = state.withLock { ($0.behaviour.keys, $0.behaviour.keySet) }
    if let set { return set }
    let others: [JSONValue] = [["kty": "oct", "k": "AAAA"], ["kty": "RSA", "use": "enc"]]
    return ["keys": .array(others + keys.map { $1.publicJSON(keyID: $0) })]
  }

  private func authorize(_ parameters: [String: String]) -> [String: String] {
    state.withLock { state in
      state.log.authorization = parameters
      var fields = ["state": parameters["state"] ?? ""]
      if let error = state.behaviour.error {
        fields["error"] = error
      } else {
        let code = Base64URL.encode(SecureRandom.bytes(count: 12))
        state.codes[code] = parameters
        fields["code"] = code
        fields["user"] = state.behaviour.user
      }
      return fields
    }
  }

  private func page(_ parameters: [String: String]) -> HTTPResponse {
    let fields = authorize(parameters)
    let target = parameters["redirect_uri"] ?? ""
    guard parameters["response_mode"] == "form_post" else {
      let query = fields.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
      return HTTPResponse(status: 302, headers: [("Location", "\(target)?\(query)")])
    }
    // The values are made of letters, digits and what base64url has, but for the user's.
    let inputs = fields.map { name, value in
      let text = value.replacingOccurrences(of: "\"", with: "&quot;")
      return "<input name=\"\(name)\" value=\"\(text)\">"
    }
    let form =
      "<!DOCTYPE html><form method=post action=\"\(target)\">\(inputs.joined())</form>"
      + "<script>document.forms[0].submit()</script>"
    return HTTPResponse(
      headers: [("Content-Type", "text/html")], body: .data(Data(form.utf8)))
  }

  private func token(_ request: HTTPRequest) -> HTTPResponse {
    let fields = Self.dictionary(request.formFields)
    let authorization = request.header("Authorization")
    let (behaviour, visit) = state.withLock { state in
      state.log.tokenFields = fields
      state.log.tokenAuthorization = authorization
      return (state.behaviour, state.codes.removeValue(forKey: fields["code"] ?? ""))
    }
    let challenge = Base64URL.encode(SHA256.hash((fields["code_verifier"] ?? "").utf8))
    guard let visit, fields["grant_type"] == "authorization_code",
      visit["code_challenge_method"] == "S256", visit["code_challenge"] == challenge,
      visit["redirect_uri"] == fields["redirect_uri"]
    else { return Self.json(["error": "invalid_grant"], status: 400) }
    if let secret = behaviour.secret {
      let header = "Basic " + Data("\(behaviour.clientID):\(secret)".utf8).base64EncodedString()
      guard fields["client_secret"] == secret || authorization == header else {
        return Self.json(["error": "invalid_client"], status: 401)
      }
    }
    let token = (try? idToken(behaviour, nonce: visit["nonce"])) ?? ""
    return Self.json([
      "access_token": "unused", "token_type": "Bearer",
      "id_token": .string(behaviour.token ?? token),
    ])
  }

  private func idToken(_ behaviour: Behaviour, nonce: String?) throws -> String {
    let now = Int64(Date().timeIntervalSince1970)
    var claims: [String: JSONValue] = [
      "iss": .string(url), "sub": .string(behaviour.subject),
      "aud": .string(behaviour.clientID), "iat": .int(now), "exp": .int(now + 300),
    ]
    if let nonce { claims["nonce"] = .string(nonce) }
    claims.merge(behaviour.claims) { $1 }
    var header: [String: JSONValue] = [
      "typ": "JWT", "alg": .string(behaviour.signer.key.algorithm),
    ]
    if let keyID = behaviour.signer.keyID { header["kid"] = .string(keyID) }
    header.merge(behaviour.header) { $1 }
    let text = [header, claims].map { Base64URL.encode(JSONValue.object($0).text.utf8) }
      .joined(separator: ".")
    let signature = try behaviour.signer.key.signature(for: text)
    return text + "." + Base64URL.encode(signature)
  }

  // MARK: Forms

  private static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("Content-Type", "application/json")],
      body: .data(Data(value.text.utf8)))
  }

  private static func dictionary(_ fields: [(name: String, value: String)]) -> [String: String] {
    Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
