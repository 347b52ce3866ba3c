/// The action for some HTTP statuses with which a browser's push service, or the receiver of a
/// webhook, answers.
///
/// A user who registers an endpoint (the URL of a device) may control the answers of that URL. So
/// no answer of an endpoint delays deliveries to other devices.
struct WebAnswerRule: Sendable {
  /// The action of the sender.
  enum Action: Sendable, Hashable {
    /// The message is delivered.
    case accept
    /// The endpoint is gone for good. Remove the device.
    case drop
    /// Send the message again after a delay.
    case retry(RetryPolicy)
    /// Send the message again after a delay (``RetryPolicy/service``), and give the administrator
    /// the advice.
    case retryUntilMended(advice: String)
    /// The service refuses this server's messages to the device. Note the refusal, send the message again
    /// after a delay (``RetryPolicy/service``), and give the administrator the advice. A refusal on another
    /// day removes the device (``secondRefusalAge``).
    case refuse(advice: String)
    /// Do not send the message again: the peer will never accept it. The text gives the reason.
    case giveUp(why: String)
  }

  /// The statuses.
  var statuses: ClosedRange<Int>
  /// The action.
  var action: Action

  /// Creates a rule for one status.
  init(_ status: Int, _ action: Action) {
    self.init(status...status, action)
  }

  /// Creates a rule for a range of statuses.
  init(_ statuses: ClosedRange<Int>, _ action: Action) {
    self.statuses = statuses
    self.action = action
  }

  /// The rules for push services, from RFC 8030, sections 5 to 8, and RFC 8292, section 4.2. The
  /// first rule that contains the status applies.
  static let webPush = [
    WebAnswerRule(200...299, .accept),
    WebAnswerRule(300...399, .giveUp(why: "the server does not follow redirects")),
    WebAnswerRule(400, .giveUp(why: "this server's messages should never cause it")),
    WebAnswerRule(401, .retryUntilMended(advice: checkKey)),
    WebAnswerRule(403, .refuse(advice: checkKey)),
    WebAnswerRule(404, .drop),
    WebAnswerRule(408, .retry(.service)),
    WebAnswerRule(410, .drop),
    WebAnswerRule(413, .giveUp(why: "the service accepts fewer than the required 4096 bytes")),
    WebAnswerRule(425, .retry(.service)),
    WebAnswerRule(429, .retry(.device)),
    WebAnswerRule(400...499, .giveUp(why: "this server's messages should never cause it")),
    WebAnswerRule(500...599, .retry(.service)),
  ]

  /// The rules for webhooks. The first rule that contains the status applies. The server repeats
  /// the message after all statuses except 2xx and 410, because a broken receiver may be repaired.
  static let webhook = [
    WebAnswerRule(200...299, .accept),
    WebAnswerRule(300...399, .retryUntilMended(advice: "the server does not follow redirects")),
    WebAnswerRule(410, .drop),
    WebAnswerRule(429, .retry(.device)),
    WebAnswerRule(400...599, .retry(.service)),
  ]

  /// The seconds after the first of several refusals in a row from which another refusal removes the device:
  /// a day. An operator has that long to correct a key or a clock before registrations are lost.
  static let secondRefusalAge = 86_400.0

  /// Returns the action for a status. A status without a rule means that the peer has trouble, so
  /// the message is sent again.
  static func action(for status: Int, by rules: [WebAnswerRule]) -> Action {
    rules.first { $0.statuses.contains(status) }?.action ?? .retry(.service)
  }

  /// The advice for a VAPID key that the push service does not accept.
  private static let checkKey =
    "the push service rejects the server's VAPID key for this subscription; check this machine's "
    + "clock, and whether the key or the subject (webPush in the configuration) changed after the "
    + "browser subscribed"
}
