import CloudKitModel
import Configuration
import Cryptography
import Foundation
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoint of `tokens/create` and `tokens/register`, and of Petrel's additions `tokens/unregister`
/// and `tokens/badge`.
struct TokensEndpoint: Sendable {
  /// The lifetime of a web courier token in seconds: 12 hours, as in Apple's service.
  static let courierLifetime = 43_200.0
  /// The smallest and the largest size of a device token in bytes.
  private static let deviceTokenSizes = 16...ServiceLimits.deviceTokenSize

  let store: DeviceService
  let limits: ServerConfiguration.Limits
  /// The bundle IDs to which the server pushes, by container. A container without a way to APNs is missing.
  let topics: [String: [String]]
  let publicURL: @Sendable () -> String

  var operations: [Operation] {
    [
      Operation(
        "tokens/create", of: .container, for: .accounts, .changes, create,
        .init(
          "Tokens", "Make a token for a reader of the web courier",
          answer: "The token, and where to poll with it.")),
      Operation(
        "tokens/register", of: .container, for: .accounts, .changes, register,
        .init(
          "Tokens", "Bind a token to the caller",
          """
          A token of tokens/create, or a device's own APNs token. An app of which the server knows \
          several bundle IDs names its own in bundleID. A token of tokens/create may be registered \
          for at most \(ServiceLimits.containersPerCourierToken) containers and environments.
          """, answer: "The token.")),
      Operation(
        "tokens/unregister", of: .container, for: .accounts, .changes, unregister,
        .init(
          "Tokens", "End the registration of the caller's device",
          """
          Petrel's own. With apnsToken, that token of the caller is removed. Without it, all tokens and \
          browsers are removed that the client registered under the present sign-in. A token that is not \
          registered is not an error.
          """, answer: "It is removed.")),
      Operation(
        "tokens/badge", of: .container, for: .accounts, .changes, badge,
        .init(
          "Tokens", "Set the badge that the caller's devices count from",
          "Petrel's own. No push is sent for it.", answer: "The badge.")),
    ]
  }

  /// Answers `tokens/create`: makes a token for a reader of the web courier, which is a page or a
  /// program that gets notifications by polls.
  ///
  /// The token is 32 random bytes in base64. The store keeps only its hash.
  ///
  /// - Throws: `BAD_REQUEST` without `apnsEnvironment`; `QUOTA_EXCEEDED` if the user has as many
  ///   tokens as the configuration allows.
  private func create(
    _ request: TokenRequest, _ context: RequestContext
  ) async throws -> TokenResponse {
    let user = try context.user()
    guard let environment = request.apnsEnvironment else {
      throw ServiceError(.badRequest, "'apnsEnvironment' is missing")
    }
    try Self.refuseBundleID(of: request)
    let text = Data(SecureRandom.bytes(count: 32)).base64EncodedString()
    let token = DeviceToken(
      kind: .courier, token: CourierToken.name(of: text),
      container: context.path.container, environment: context.path.environment,
      apnsEnvironment: Self.apnsEnvironment(environment), userRecordName: user,
      deviceID: request.clientID ?? context.deviceID, signIn: context.credentials.signIn,
      registered: context.now,
      expires: context.now.advanced(bySeconds: Self.courierLifetime))
    try await save(token)
    return response(for: token, named: text)
  }

  /// Answers `tokens/register`: binds a token to the caller in the container.
  ///
  /// The token is a web courier token that ``create(_:_:)`` made, in this container or another, or
  /// a device's own APNs token.
  ///
  /// - Throws: `BAD_REQUEST` for a missing, expired or malformed token, for a bundle ID that is not one of
  ///   the container's topics, and at the limit of `ServiceLimits.containersPerCourierToken`; `QUOTA_EXCEEDED` if the user has as many tokens
  ///   as the configuration allows.
  private func register(
    _ request: TokenRequest, _ context: RequestContext
  ) async throws -> TokenResponse {
    let user = try context.user()
    guard let text = request.apnsToken, !text.isEmpty else {
      throw ServiceError(.badRequest, "apnsToken: is missing")
    }
    var token: DeviceToken
    let known = try await CourierToken.registrations(ofReader: text, in: store)
    if !known.isEmpty {
      try Self.refuseBundleID(of: request)
      guard let made = known.first(where: { $0.expires.map { $0 > context.now } ?? true }) else {
        throw ServiceError(
          .badRequest,
          "apnsToken: the web courier token has expired; make a new one with tokens/create")
      }
      token = try registration(of: made, known: known, in: context.path)
      token.userRecordName = user
      token.registered = context.now
    } else {
      token = DeviceToken(
        kind: .apns, token: try Self.hexadecimal(text), container: context.path.container,
        environment: context.path.environment,
        apnsEnvironment: request.apnsEnvironment.map(Self.apnsEnvironment)
          ?? Self.apnsEnvironment(of: context.path.environment),
        bundleID: try bundleID(of: request, in: context.path.container), userRecordName: user,
        deviceID: nil,
        registered: context.now)
    }
    token.deviceID = request.clientID ?? context.deviceID ?? token.deviceID
    token.signIn = context.credentials.signIn
    try await save(token)
    return response(for: token, named: token.kind == .courier ? text : token.token)
  }

  /// Answers `tokens/unregister`: ends registrations of the caller in the container. The server does
  /// not send the pushes that wait for the device.
  ///
  /// A token that is not registered for the caller is no error, so a client can repeat the request.
  ///
  /// - Throws: `BAD_REQUEST` if the request names neither a token nor a device, or if the token is
  ///   malformed.
  private func unregister(
    _ request: TokenUnregistration, _ context: RequestContext
  ) async throws -> TokenUnregistration {
    let recipient = try context.recipient()
    guard let text = request.apnsToken else {
      guard let deviceID = request.clientID ?? context.deviceID else {
        throw ServiceError(
          .badRequest, "apnsToken: is missing, and there is no 'clientId' that names a device")
      }
      try await store.removeDeviceTokens(
        ofDevice: deviceID, signIn: context.credentials.signIn, of: recipient, at: context.now)
      return request
    }
    if let reader = try await CourierToken.registrations(ofReader: text, in: store).first {
      _ = try await store.removeDeviceToken(
        reader.token, kind: .courier, of: recipient, at: context.now)
    } else {
      _ = try await store.removeDeviceToken(
        try Self.hexadecimal(text), kind: .apns, of: recipient, at: context.now)
    }
    return request
  }

  /// Throws `QUOTA_EXCEEDED` if the token is new and the user has as many of its kind as the
  /// configuration allows in this container and environment.
  private func save(_ token: DeviceToken) async throws {
    let (limit, kind, advice) =
      token.kind == .courier
      ? (limits.courierReadersPerUser, "web courier tokens", "unused tokens expire")
      : (
        limits.apnsDevicesPerUser, "devices",
        "the server removes devices that APNs reports as unregistered"
      )
    guard try await !store.saveDeviceToken(token, unlessBeyond: limit) else { return }
    throw ServiceError(
      .quotaExceeded,
      "apnsToken: the user already has \(limit) \(kind) in this container and environment, the limit; "
        + advice, limit: limit)
  }

  /// Returns the registration of a reader of the web courier in a container.
  ///
  /// CloudKit JS has one reader for all containers of a page. It calls `tokens/create` for the
  /// first container, and registers the same token in each other container.
  ///
  /// - Throws: `BAD_REQUEST` if the token is registered for
  ///   `ServiceLimits.containersPerCourierToken` containers and environments already.
  private func registration(
    of made: DeviceToken, known: [DeviceToken], in path: ServicePath
  ) throws -> DeviceToken {
    let further = DeviceToken(
      kind: made.kind, token: made.token, container: path.container,
      environment: path.environment, apnsEnvironment: made.apnsEnvironment,
      userRecordName: made.userRecordName, deviceID: made.deviceID, registered: made.registered,
      expires: made.expires)
    if let present = known.first(where: { $0.name == further.name }) { return present }
    guard known.count < ServiceLimits.containersPerCourierToken else {
      throw ServiceError(
        .badRequest,
        "apnsToken: is already registered for \(ServiceLimits.containersPerCourierToken) containers; make another "
          + "with tokens/create", limit: ServiceLimits.containersPerCourierToken)
    }
    return further
  }

  /// Returns the answer to `tokens/create` and `tokens/register`. For a web courier token, it has
  /// the URL at which the reader polls.
  private func response(for token: DeviceToken, named name: String) -> TokenResponse {
    var courierURL: String?
    if token.kind == .courier {
      // The token is base64, and `+`, `/` and `=` would have another meaning in a query.
      let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
      courierURL =
        "\(publicURL())\(WebCourier.path)?tok=\(escaped)&ttl=\(Int(Self.courierLifetime))"
    }
    return TokenResponse(
      apnsEnvironment: token.apnsEnvironment == .production ? .production : .development,
      apnsToken: name,
      webcourierURL: courierURL)
  }

  /// Returns the bundle ID that a request names for a device's own token; nil if it names none.
  ///
  /// A container without a way to APNs has no topics. Any bundle ID is stored there, and counts when the
  /// container gets a way to APNs.
  ///
  /// - Throws: `BAD_REQUEST` if the text is no bundle ID, or not one of the container's topics.
  private func bundleID(
    of request: TokenRequest, in container: String
  ) throws(ServiceError) -> String? {
    guard let bundleID = request.bundleID else { return nil }
    let shown = "'\(bundleID.prefix(80))'"
    guard APNsSettings.isBundleID(bundleID) else {
      throw ServiceError(
        .badRequest,
        "bundleID: \(shown) is not a bundle ID such as com.example.app, of 1 to 255 ASCII characters"
      )
    }
    guard let topics = topics[container], !topics.contains(bundleID) else { return bundleID }
    throw ServiceError(
      .badRequest,
      "bundleID: \(shown) is not one of the topics of the container '\(container)': "
        + topics.joined(separator: ", ") + "; an operator can add it to 'topics' of "
        + APNsChannel.key(container: container))
  }

  /// Throws `BAD_REQUEST` if a request about a web courier token names a bundle ID.
  private static func refuseBundleID(of request: TokenRequest) throws(ServiceError) {
    guard request.bundleID != nil else { return }
    throw ServiceError(
      .badRequest,
      "bundleID: belongs to a device's own APNs token; a token of the web courier has none")
  }

  private static func apnsEnvironment(
    _ environment: TokenRequest.Environment
  ) -> APNsEnvironment {
    switch environment {
    case .development: .development
    case .production: .production
    }
  }

  /// Returns the APNs environment for a request that names none: that of the container.
  private static func apnsEnvironment(of environment: ContainerEnvironment) -> APNsEnvironment {
    switch environment {
    case .development: .development
    case .production: .production
    }
  }

  /// Returns the device token in lower-case hexadecimal digits.
  ///
  /// The client sends the token in hexadecimal digits or in base64.
  ///
  /// - Throws: `BAD_REQUEST` if the text is neither, or has fewer than 16 or more than
  ///   `ServiceLimits.deviceTokenSize` bytes.
  private static func hexadecimal(_ text: String) throws(ServiceError) -> String {
    let lowercased = text.lowercased()
    let isHexadecimal = lowercased.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    if isHexadecimal, text.utf8.count.isMultiple(of: 2),
      deviceTokenSizes.contains(text.utf8.count / 2)
    {
      return lowercased
    }
    if let data = Data(base64Encoded: text), deviceTokenSizes.contains(data.count) {
      return data.hexadecimal
    }
    throw ServiceError(
      .badRequest,
      "apnsToken: '\(text.prefix(80))' is not a device token; expected "
        + "\(deviceTokenSizes.lowerBound) to \(deviceTokenSizes.upperBound) bytes in hexadecimal "
        + "digits or base64")
  }

  /// Answers `tokens/badge`: sets the badge of all devices of the caller in the container.
  ///
  /// The next push that asks for a badge counts from this number. The server sends no push for the
  /// change itself.
  private func badge(
    _ request: BadgeRequest, _ context: RequestContext
  ) async throws -> BadgeRequest {
    try await store.setBadge(request.badge, of: try context.recipient())
    return request
  }
}
