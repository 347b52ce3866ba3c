import CloudKitModel
import Cryptography
import HTTP2Transport
import Synchronization

/// Tests whether APNs accepts a sender's credentials, with a push that reaches no device: it has
/// neither a payload nor a device token.
///
/// APNs refuses it with status 400 if it accepts the sender, and with 403 if it does not.
public struct APNsProbe: Sendable {
  /// What the answer says about the sender.
  public enum Verdict: Sendable, Hashable {
    case accepted
    /// Pushes will be refused for this reason, until the advice is followed.
    case refused(advice: String)
    /// The answer says nothing about the sender; APNs wants to be asked later.
    case undecided
  }

  public var status: Int
  public var reason: String?
  /// The header field `Date`.
  public var date: String?

  /// Connects, through the proxy if there is one, sends the probe, and closes the connection.
  ///
  /// - Throws: ``HTTP2Error`` if there is no connection or no answer.
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
        // The connection stays alive until it is closed, and its completion is always called.
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

  /// Runs only the first of several callbacks.
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
