import CloudKitModel
import JSONCoding

/// The body of `tokens/create` and `tokens/register`.
///
/// `tokens/create` makes a token for the web courier, the service that clients poll for
/// notifications. `tokens/register` registers a token for the caller: a token of the web courier,
/// or a device's own APNs token.
///
/// ```
/// { "apnsEnvironment": "production", "apnsToken": "9f3c…", "bundleID": "com.example.app",
///   "clientId": "phone-1" }
/// ```
public struct TokenRequest: Sendable, Hashable {
  /// The APNs environment of a token.
  public enum Environment: String, Sendable, Hashable, CaseIterable {
    /// The sandbox of APNs (`development`), or the service for released apps (`production`).
    case development, production
  }

  /// The APNs environment of the token, which is independent of the container's environment; may be
  /// nil for `tokens/register`.
  public var apnsEnvironment: Environment?
  /// The token to register; nil for `tokens/create`.
  public var apnsToken: String?
  /// The bundle ID of the app that a device's own APNs token belongs to, which is Petrel's addition; nil for
  /// the first topic of the container.
  public var bundleID: String?
  /// The name of the client's device, by which the server recognizes the device's own changes. When
  /// it is nil, the server uses the query parameter `clientId`.
  public var clientID: String?

  /// Creates a request.
  public init(
    apnsEnvironment: Environment?, apnsToken: String? = nil, bundleID: String? = nil,
    clientID: String? = nil
  ) {
    self.apnsEnvironment = apnsEnvironment
    self.apnsToken = apnsToken
    self.bundleID = bundleID
    self.clientID = clientID
  }
}

extension TokenRequest.Environment: MessagePart {}

extension TokenRequest: Message, MessageObject {
  package static let blank = TokenRequest(apnsEnvironment: nil)

  /// The server checks the members that the operation needs.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional(
      "apnsEnvironment", &apnsEnvironment,
      "Required by tokens/create. For a device's own token, the default is the container's environment."
    )
    try coder.optional(
      "apnsToken", &apnsToken,
      """
      Required by tokens/register. A device's own token has 16 to 256 bytes, in hexadecimal digits or \
      base64.
      """)
    try coder.optional(
      "bundleID", &bundleID,
      """
      Petrel's own, only with a device's own token: the app that the token belongs to, one of the topics of \
      the container. The default is the first one.
      """)
    try coder.optional(
      "clientId", &clientID, "The ID of the device. The default is `clientId` of the query.")
  }
}

/// The answer of `tokens/create` and `tokens/register`.
///
/// ```
/// { "apnsEnvironment": "production", "apnsToken": "9f3c…", "webcourierURL": "https://…" }
/// ```
public struct TokenResponse: Sendable, Hashable {
  /// The APNs environment of the token.
  public var apnsEnvironment: TokenRequest.Environment
  /// The token. A device's own token is in hexadecimal digits.
  public var apnsToken: String
  /// The URL at which the client polls for notifications; nil for a device's own APNs token.
  public var webcourierURL: String?

  /// Creates an answer.
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
    try coder.required("apnsToken", &apnsToken, "A device's own token is in hexadecimal digits.")
    try coder.optional(
      "webcourierURL", &webcourierURL, "The URL to poll. Missing for a device's own token.")
  }
}

/// The body and the answer of `tokens/unregister`, Petrel's addition, which ends registrations of the
/// caller's device.
///
/// ```
/// { "clientId": "phone-1" }
/// ```
public struct TokenUnregistration: Sendable, Hashable {
  /// The token to remove. When it is nil, all registrations of the device are removed that the client
  /// made under its present sign-in.
  public var apnsToken: String?
  /// The name of the client's device. When it is nil, the server uses the query parameter `clientId`.
  public var clientID: String?

  /// Creates a request.
  public init(apnsToken: String? = nil, clientID: String? = nil) {
    self.apnsToken = apnsToken
    self.clientID = clientID
  }
}

extension TokenUnregistration: Message, MessageObject {
  package static let blank = TokenUnregistration()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional(
      "apnsToken", &apnsToken,
      """
      A token of tokens/create, or a device's own APNs token. Without it, all registrations of the device \
      are removed that were made under the present sign-in.
      """)
    try coder.optional(
      "clientId", &clientID, "The ID of the device. The default is `clientId` of the query.")
  }
}
