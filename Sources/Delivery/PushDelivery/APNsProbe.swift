import CloudKitModel
import Cryptography
import HTTP2Transport
import Synchronization

/// Asks APNs whether it takes a sender's credentials, with a push that nobody can get: it has neither
/// a payload nor the token of a device.
///
/// APNs refuses it with status 400 once it has believed the sender, and with 403 when it has not.
public struct APNsProbe: Sendable {
  /// What the answer says of the sender.
  public enum Verdict: Sendable, Hashable {
    case accepted
    /// Pushes will be refused for this, until what the advice says is done.
    case refused(advice: String)
    /// APNs has said nothing of the sender, but wants to be asked later.
    case undecided
  }

  public var status: Int
  public var reason: String?
  /// The header field `Date`.
  public var date: String?

  /// Connects, through the proxy if there is one, asks, and closes the connection.
  ///
  /// - Throws: ``HTTP2Error`` when there is no connection or no answer.
  public static func ask(
    _ client: APNsClient.Configuration, topic: String, loop: EventLoop, at now: Timestamp
  ) async throws(HTTP2Error) -> APNsProbe {
    var request = HTTP2Request(
      method: "POST", path: Push.pathPrefix + String(repeating: "0", count: 64))
    if case .tokens(let source) = client.authentication {
      do throws(CryptographyError) {
        guard let token = try source.token(at: now) else {
          throw CryptographyError(.libraryFailure, "none may be made now")
        }
        request.headers.append("authorization", "bearer " + token)
      } catch {
        throw HTTP2Error(
          .invalidConfiguration, "the provider token cannot be made: \(error)")
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
        // It stays alive until it is closed, and its completion is called in any case.
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

  public var verdict: Verdict {
    let rule = DeliveryRule.rule(status: status, reason: reason)
    switch rule.action {
    case .accept, .dropDeviceToken: return .accepted
    case .blameSender:
      return reason == "PayloadEmpty" ? .accepted : .refused(advice: "this is a fault to report")
    case .refreshProviderToken:
      return .refused(
        advice: "APNs calls a token expired that was made just now: set this machine's clock right")
    case .suspend(_, let advice): return .refused(advice: advice)
    case .retry: return .undecided
    }
  }

  /// Lets one of several go on.
  private final class Once: Sendable {
    private let isDone = Mutex(false)

    func first() -> Bool {
      isDone.withLock { isDone in
        defer { isDone = true }
        return !isDone
      }
    }
  }
}
