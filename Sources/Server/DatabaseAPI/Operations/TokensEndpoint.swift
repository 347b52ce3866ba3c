import CloudKitModel
import Configuration
import Cryptography
import Foundation
import StoreModel
import WebServices

/// `tokens/create`, `tokens/register` and `tokens/badge`.
struct TokensEndpoint: Sendable {
  /// How long a web courier token lives, in seconds: twelve hours.
  static let courierLifetime = 43_200.0
  /// Bytes of a device token at least and at most.
  private static let deviceTokenSizes = 16...ServiceLimits.deviceTokenSize

  let store: any DeviceStore
  let limits: ServerConfiguration.Limits
  /// The URL that clients reach the server at.
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
          A token of tokens/create, or a device's own APNs token. A token of tokens/create may be registered \
          for at most \(ServiceLimits.containersPerCourierToken) containers and environments.
          """, answer: "The token.")),
      Operation(
        "tokens/badge", of: .container, for: .accounts, .changes, badge,
        .init(
          "Tokens", "Set the badge that the caller's devices count from",
          "Petrel's own. No push is sent for it.", answer: "The badge.")),
    ]
  }

  /// Makes a token for a web courier reader.
  private func create(
    _ request: TokenRequest, _ context: RequestContext
  ) async throws -> TokenResponse {
    let user = try context.user()
    guard let environment = request.apnsEnvironment else {
      throw ServiceError(.badRequest, "'apnsEnvironment' is missing")
    }
    let text = Data(SecureRandom.bytes(count: 32)).base64EncodedString()
    let token = DeviceToken(
      kind: .courier, token: CourierToken.name(of: text),
      container: context.path.container, environment: context.path.environment,
      apnsEnvironment: Self.apnsEnvironment(environment), userRecordName: user,
      deviceID: request.clientID ?? context.deviceID, registered: context.now,
      expires: context.now.advanced(bySeconds: Self.courierLifetime))
    try await save(token)
    return response(for: token, named: text)
  }

  /// Binds a token to the caller in the container: one that ``create(_:)`` made, there or in another
  /// container, or a device's own APNs token.
  private func register(
    _ request: TokenRequest, _ context: RequestContext
  ) async throws -> TokenResponse {
    let user = try context.user()
    guard let text = request.apnsToken, !text.isEmpty else {
      throw ServiceError(.badRequest, "apnsToken: is missing")
    }
    var token: DeviceToken
    if let made = try await CourierToken.reader(withToken: text, in: store) {
      guard made.expires.map({ $0 > context.now }) ?? true else {
        throw ServiceError(
          .badRequest,
          "apnsToken: the web courier token has expired; make a new one with tokens/create")
      }
      token = try await registration(of: made, in: context.path)
      token.userRecordName = user
      token.registered = context.now
    } else {
      token = DeviceToken(
        kind: .apns, token: try Self.hexadecimal(text), container: context.path.container,
        environment: context.path.environment,
        apnsEnvironment: request.apnsEnvironment.map(Self.apnsEnvironment)
          ?? Self.apnsEnvironment(of: context.path.environment),
        userRecordName: user, deviceID: nil,
        registered: context.now)
    }
    token.deviceID = request.clientID ?? context.deviceID ?? token.deviceID
    try await save(token)
    return response(for: token, named: token.kind == .courier ? text : token.token)
  }

  /// Registers a token, unless it is one too many for its user.
  private func save(_ token: DeviceToken) async throws {
    let (limit, kind, advice) =
      token.kind == .courier
      ? (limits.courierReadersPerUser, "web courier tokens", "those that are not used expire")
      : (
        limits.apnsDevicesPerUser, "devices",
        "devices that APNs does not know any more go by themselves"
      )
    guard try await !store.saveDeviceToken(token, unlessBeyond: limit) else { return }
    throw ServiceError(
      .quotaExceeded,
      "apnsToken: the user has \(limit) \(kind) in this container and environment, which is the limit; "
        + advice, limit: limit)
  }

  /// What a courier's reader is registered as in a container. CloudKit JS has one reader for all
  /// containers of a page: it registers the token that it made in the first in each of the others.
  private func registration(
    of made: DeviceToken, in path: ServicePath
  ) async throws -> DeviceToken {
    if made.container == path.container, made.environment == path.environment { return made }
    let known = try await store.courierRegistrations(ofToken: made.token)
    let further = made.listening(in: path.container, path.environment)
    guard
      known.contains(where: { $0.token == further.token })
        || known.count < ServiceLimits.containersPerCourierToken
    else {
      throw ServiceError(
        .badRequest,
        "apnsToken: is registered for \(ServiceLimits.containersPerCourierToken) containers already; make another "
          + "with tokens/create", limit: ServiceLimits.containersPerCourierToken)
    }
    return further
  }

  private func response(for token: DeviceToken, named name: String) -> TokenResponse {
    var courierURL: String?
    if token.kind == .courier {
      // The token is base64: its special characters would mean something else in a query.
      let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
      courierURL =
        "\(publicURL())\(WebCourier.path)?tok=\(escaped)&ttl=\(Int(Self.courierLifetime))"
    }
    return TokenResponse(
      apnsEnvironment: token.apnsEnvironment == .production ? .production : .development,
      apnsToken: name,
      webcourierURL: courierURL)
  }

  private static func apnsEnvironment(
    _ environment: TokenRequest.Environment
  ) -> APNsEnvironment {
    switch environment {
    case .development: .development
    case .production: .production
    }
  }

  private static func apnsEnvironment(of environment: ContainerEnvironment) -> APNsEnvironment {
    switch environment {
    case .development: .development
    case .production: .production
    }
  }

  /// The device token in lower-case hexadecimal digits. Base64 is read as well: clients differ.
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

  /// Sets the badge of all the caller's devices in the container: the next push that asks for a
  /// badge counts from it. No push is sent for it.
  private func badge(
    _ request: BadgeRequest, _ context: RequestContext
  ) async throws -> BadgeRequest {
    try await store.setBadge(request.badge, of: try context.recipient())
    return request
  }
}
