import CloudKitModel
import JSONCoding

/// The body of `tokens/create` and `tokens/register`.
public struct TokenRequest: Sendable, Hashable {
  /// The environment of the token at APNs.
  public enum Environment: String, Sendable, Hashable, CaseIterable {
    case development, production
  }

  /// Independent of the container's environment. Nil for `tokens/register` by a client that does not say.
  public var apnsEnvironment: Environment?
  /// The token to register; nil for `tokens/create`.
  public var apnsToken: String?
  /// Names the client's device, so that its own changes can be recognised.
  public var clientID: String?

  public init(apnsEnvironment: Environment?, apnsToken: String? = nil, clientID: String? = nil) {
    self.apnsEnvironment = apnsEnvironment
    self.apnsToken = apnsToken
    self.clientID = clientID
  }
}

extension TokenRequest.Environment: MessagePart {}

extension TokenRequest: Message, MessageObject {
  package static let blank = TokenRequest(apnsEnvironment: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional(
      "apnsEnvironment", &apnsEnvironment,
      "Needed by tokens/create. For a device's own token by default the container's environment.")
    try coder.optional(
      "apnsToken", &apnsToken,
      "Needed by tokens/register. A device's own has 16 to 256 bytes, in hexadecimal digits or base64."
    )
    try coder.optional("clientId", &clientID, "The device; by default that of the query.")
  }
}

/// The answer of `tokens/create` and `tokens/register`.
public struct TokenResponse: Sendable, Hashable {
  public var apnsEnvironment: TokenRequest.Environment
  public var apnsToken: String
  /// Where to poll for notifications; absent for a device's own APNs token.
  public var webcourierURL: String?

  public init(
    apnsEnvironment: TokenRequest.Environment, apnsToken: String, webcourierURL: String?
  ) {
    self.apnsEnvironment = apnsEnvironment
    self.apnsToken = apnsToken
    self.webcourierURL = webcourierURL
  }
}

extension TokenResponse: Message, MessageObject {
  package static let schemaName: String? = "Token"
  package static let blank = TokenResponse(
    apnsEnvironment: .development, apnsToken: "", webcourierURL: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("apnsEnvironment", &apnsEnvironment)
    try coder.required("apnsToken", &apnsToken, "A device's own is in hexadecimal digits.")
    try coder.optional(
      "webcourierURL", &webcourierURL, "Where to poll; a device's own token has none.")
  }
}
