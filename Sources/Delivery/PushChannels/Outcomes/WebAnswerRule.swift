/// The meaning of an HTTP status from a push service or a webhook's receiver.
///
/// Whoever registers an endpoint may control its answers. So an endpoint's answers never delay
/// deliveries to others: delays concern the device alone.
struct WebAnswerRule: Sendable {
  enum Action: Sendable, Hashable {
    case accept
    /// The endpoint is gone for good.
    case drop
    case retry(RetryPolicy)
    /// Like `retry`, with advice to the administrator.
    case retryUntilMended(advice: String)
    /// The same message will never be accepted.
    case giveUp(why: String)
  }

  var statuses: ClosedRange<Int>
  var action: Action

  init(_ status: Int, _ action: Action) {
    self.init(status...status, action)
  }

  init(_ statuses: ClosedRange<Int>, _ action: Action) {
    self.statuses = statuses
    self.action = action
  }

  /// RFC 8030, sections 5 to 8, and RFC 8292, section 4.2. The first row with the status counts.
  static let webPush = [
    WebAnswerRule(200...299, .accept),
    WebAnswerRule(300...399, .giveUp(why: "redirects are not followed")),
    WebAnswerRule(400, .giveUp(why: "no message of this server should provoke it")),
    WebAnswerRule(401, .retryUntilMended(advice: checkKey)),
    WebAnswerRule(403, .retryUntilMended(advice: checkKey)),
    WebAnswerRule(404, .drop),
    WebAnswerRule(408, .retry(.service)),
    WebAnswerRule(410, .drop),
    WebAnswerRule(413, .giveUp(why: "the service takes less than the 4096 bytes that it must")),
    WebAnswerRule(425, .retry(.service)),
    WebAnswerRule(429, .retry(.device)),
    WebAnswerRule(400...499, .giveUp(why: "no message of this server should provoke it")),
    WebAnswerRule(500...599, .retry(.service)),
  ]

  /// A broken receiver may be repaired: only success and 410 are final.
  static let webhook = [
    WebAnswerRule(200...299, .accept),
    WebAnswerRule(300...399, .retryUntilMended(advice: "redirects are not followed")),
    WebAnswerRule(410, .drop),
    WebAnswerRule(429, .retry(.device)),
    WebAnswerRule(400...599, .retry(.service)),
  ]

  /// The action for a status. A status that HTTP does not define counts as trouble of the peer.
  static func action(for status: Int, by rules: [WebAnswerRule]) -> Action {
    rules.first { $0.statuses.contains(status) }?.action ?? .retry(.service)
  }

  private static let checkKey =
    "the push service does not take the server's VAPID key for this subscription; the key or the "
    + "subject (webPush in the configuration) may have been changed since the browser subscribed, "
    + "or the clock is wrong"
}
