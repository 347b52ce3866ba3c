import CloudKitModel
import Cryptography
import HTTP2Transport
import Synchronization

/// The answer of APNs to a probe. A probe is a push without a payload, to a device token that has
/// only zeros. So the push reaches no device.
///
/// APNs checks the credential before the rest of the request. If APNs accepts the sender, it
/// answers 400 because of the token or the missing payload. If APNs refuses the credential, it
/// answers 403.
public struct APNsProbe: Sendable {
  /// The meaning of the answer for the sender.
  public enum Verdict: Sendable, Hashable {
    /// APNs accepts the sender.
    case accepted
    /// APNs refuses the pushes of the sender until somebody follows the advice.
    case refused(advice: String)
    /// The answer, such as 503, does not show whether APNs accepts the sender. Ask again later.
    case undecided
  }

  /// The HTTP status of the answer.
  public var status: Int
  /// The `reason` of the answer's body; `nil` if there is none.
  public var reason: String?
  /// The `Date` header field of the answer; `nil` if there is none.
  public var date: String?

  /// Connects, sends the probe, and closes the connection.
  ///
  /// - Parameters:
  ///   - client: The address, proxy, credential and time limits of the connection.
  ///   - topic: The `apns-topic` of the probe.
  ///   - loop: The event loop of the connection.
  ///   - now: The present time, for the provider token.
  /// - Throws: `HTTP2Error` if there is no connection, no answer, or no provider token.
  public static func ask(
    _ client: APNsClient.Configuration, topic: String, loop: EventLoop, at now: Timestamp
  ) async throws(HTTP2Error) -> APNsProbe {
    var request = HTTP2Request(
      method: "POST", path: Push.pathPrefix + String(repeating: "0", count: 64))
    if case .tokens(let source) = client.authentication {
      do throws(CryptographyError) {
        guard let token = try source.token(at: now) else {
          throw CryptographyError(.libraryFailure, "APNs asked for fewer provider tokens")
        }
        request.headers.append("authorization", "bearer " + token)
      } catch {
        throw HTTP2Error(
          .invalidConfiguration, "the provider token cannot be created: \(error)")
      }
    }
    for (name, value) in [
      ("apns-topic", topic), ("apns-push-type", "background"), ("apns-priority", "5"),
      ("apns-expiration", "0"),
    ] {
      request.headers.append(name, value)
    }
    let sent = request
    let once = Once()
    let outcome = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<HTTP2Response, HTTP2Error>, Never>) in
      do throws(HTTP2Error) {
        // The connection stays in memory until it is closed. It always calls the completion.
        let connection = try HTTP2ClientConnection(client.connection, loop: loop) { _ in }
        connection.start()
        connection.send(sent) { result in
          connection.close(.whenAnswered)
          if once.first() { continuation.resume(returning: result) }
        }
      } catch {
        if once.first() { continuation.resume(returning: .failure(error)) }
      }
    }
    let response = try outcome.get()
    guard case .answered(let status, let reason, _, _, _) = APNsResult(response) else {
      throw HTTP2Error(.protocolViolation, "the answer cannot be understood")
    }
    return APNsProbe(status: status, reason: reason, date: response.headers["date"])
  }

  /// The meaning of the answer for the sender. The rules are the same as for pushes
  /// (``DeliveryRule``).
  public var verdict: Verdict {
    let rule = DeliveryRule.rule(status: status, reason: reason)
    switch rule.action {
    case .accept, .dropDeviceToken, .refuseDevice: return .accepted
    case .blameSender:
      return reason == "PayloadEmpty"
        ? .accepted : .refused(advice: "report this as a fault of Petrel")
    case .refreshProviderToken:
      return .refused(
        advice: "APNs rejects a new provider token as expired; correct this machine's clock")
    case .suspend(_, let advice): return .refused(advice: advice)
    case .retry: return .undecided
    }
  }

  /// A flag that lets only the first of several callbacks act.
  private final class Once: Sendable {
    /// Whether ``first()`` was called.
    private let isDone = Mutex(false)

    /// Sets the flag. Returns true for the first call and false for all later calls.
    func first() -> Bool {
      isDone.withLock { isDone in
        defer { isDone = true }
        return !isDone
      }
    }
  }
}
