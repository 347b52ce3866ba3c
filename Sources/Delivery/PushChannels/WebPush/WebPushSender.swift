import CloudKitModel
import Cryptography
import OutboundHTTP
import Synchronization

/// The sender of messages to browsers through their push services (RFC 8030, 8291 and 8292). Any
/// thread may use it.
public final class WebPushSender: Sendable {
  private let client: HTTPClient
  /// The VAPID tokens, by which push services identify the server. A lock protects them.
  private let issuer: Mutex<VAPIDTokenIssuer>
  private let clock: @Sendable () -> Timestamp
  /// The server's public key, which pages pass to `pushManager.subscribe` as
  /// `applicationServerKey`: the uncompressed point in base64url.
  public let publicKey: String

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - key: The server's VAPID key, for all containers. A browser's subscription is valid only
  ///     with the key that it was made for.
  ///   - subject: A `mailto:` or `https:` URL at which push services can contact the administrator.
  ///   - clock: The clock for tokens and lifetimes.
  /// - Throws: `CryptographyError` if the public key cannot be derived.
  public init(
    client: HTTPClient, key: ES256PrivateKey, subject: String,
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) throws(CryptographyError) {
    let issuer = try VAPIDTokenIssuer(key: key, subject: subject)
    self.client = client
    publicKey = issuer.publicKey
    self.issuer = Mutex(issuer)
    self.clock = clock
  }

  /// Sends a message and calls the completion once. The method does not block. If the message
  /// cannot be encrypted or signed, the completion runs before the method returns.
  ///
  /// - Parameters:
  ///   - refusedSince: The time of the first refusal of the browser by its push service; `nil` if the
  ///     service has accepted a message since.
  public func send(
    _ message: WebPushMessage, refusedSince: Timestamp? = nil,
    completion: @escaping PushRoute.Completion
  ) {
    let now = clock()
    let request: OutboundRequest
    do {
      let authorization = try issuer.withLock { (issuer) throws(CryptographyError) in
        try issuer.authorization(for: message.endpoint.origin, at: now)
      }
      request = try message.request(authorization: authorization, at: now)
    } catch {
      return completion(
        PushAnswer(
          next: .retry(.service, .push),
          reason: "a message could not be encrypted or signed: \(error)", reach: .notSent,
          payload: message.payload.bytes))
    }
    let peer = "the push service \(message.endpoint.origin)"
    client.send(request) { [clock] result in
      completion(
        PushAnswer(
          result, of: peer, by: .webPush, payload: message.payload, refusedSince: refusedSince,
          now: clock()))
    }
  }
}
