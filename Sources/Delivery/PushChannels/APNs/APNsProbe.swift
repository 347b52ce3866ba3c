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
    return APNsProbe(
      status: response.status, reason: PushAnswer(response).code, date: response.headers["date"])
  }

  /// The meaning of the answer for the sender. The rules are the same as for pushes
  /// (``PushAnswerRules``).
  public var verdict: Verdict {
    let rule = PushAnswerRules.apns.rule(status, reason)
    switch rule.next {
    case .done, .dropDevice, .refuseDevice: return .accepted
    case .fault:
      return reason == "PayloadEmpty"
        ? .accepted : .refused(advice: "report this as a fault of Petrel")
    case .retry: return rule.advice.map { .refused(advice: $0) } ?? .undecided
    }
  }

  /// A flag that lets only the first of several callbacks act.
  private final class Once: Sendable {
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
