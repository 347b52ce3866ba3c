import CloudKitModel
import HTTP2Transport

/// A failure with which a simulator answers requests that it would otherwise accept.
///
/// ```swift
/// simulator.script(.reject(.unregistered, timestamp: .now), for: token)   // all later requests
/// simulator.script(.reject(.serviceUnavailable, retryAfter: 2).times(3))  // three requests
/// ```
public struct APNsFault: Sendable, Hashable {
  /// The effect of a fault on a request. The functions and constants below describe each one.
  enum Effect: Sendable, Hashable {
    case reject(APNsReason, timestamp: Timestamp?, retryAfter: Int?)
    case answer(status: Int, reason: String?)
    case delay(seconds: Double)
    case stall
    case reset(HTTP2ErrorCode)
    case goAway
    case disconnect
    case freeze
    case gather(GoAwayPlan)
    case expireTokens
    case set(APNsSetting)
  }

  /// The plan of a fault that collects open requests and then sends GOAWAY.
  struct GoAwayPlan: Sendable, Hashable {
    /// The number of requests that the simulator collects before it sends GOAWAY.
    var gathers: Int
    /// The number of the collected requests that it answers, from the first on. GOAWAY reports the
    /// others as not processed.
    var answers: Int
    /// The seconds after the first request at which it stops waiting for more requests.
    var patience: Double
    /// The reason in GOAWAY; nil for none.
    var reason: APNsReason?
  }

  var effect: Effect
  /// The number of requests that the fault lets pass before it applies.
  var passes = 0
  /// The number of requests to which the fault applies; nil for all later ones.
  var count: Int?

  /// Returns the same fault, which applies to only `count` requests. With 0 or less it applies to
  /// none.
  public func times(_ count: Int) -> APNsFault {
    var fault = self
    fault.count = max(0, count)
    return fault
  }

  /// Returns the same fault, which lets `count` requests pass before it applies.
  public func after(_ count: Int) -> APNsFault {
    var fault = self
    fault.passes = max(0, count)
    return fault
  }

  /// Answers with a documented reason and its status.
  ///
  /// - Parameters:
  ///   - timestamp: the time at which the device token became invalid, for status 410; nil for the
  ///     time of the request.
  ///   - retryAfter: the seconds of a `Retry-After` header, which APNs is not documented to send;
  ///     nil for no header.
  public static func reject(
    _ reason: APNsReason, timestamp: Timestamp? = nil, retryAfter: Int? = nil
  ) -> APNsFault {
    APNsFault(effect: .reject(reason, timestamp: timestamp, retryAfter: retryAfter))
  }

  /// Answers with any status and reason, also with ones that APNs does not have yet. If `reason` is
  /// nil, the answer has no body.
  public static func answer(status: Int, reason: String?) -> APNsFault {
    APNsFault(effect: .answer(status: status, reason: reason))
  }

  /// Collects requests of a connection and then sends GOAWAY. The simulator answers the first of
  /// the collected requests. GOAWAY reports the others as not processed. The fault applies once.
  ///
  /// - Parameters:
  ///   - gathering: the number of requests to collect, at least 1.
  ///   - answering: the number of the collected requests that are answered, from the first on.
  ///   - patience: the seconds after the first request at which the simulator sends GOAWAY, also if
  ///     fewer requests have come.
  ///   - reason: the reason in GOAWAY; nil for none.
  public static func goAway(
    gathering: Int, answering: Int, patience: Double = 1, reason: APNsReason? = nil
  ) -> APNsFault {
    let plan = GoAwayPlan(
      gathers: max(1, gathering), answers: max(0, answering), patience: patience, reason: reason)
    return APNsFault(effect: .gather(plan), count: 1)
  }

  /// Refuses the request with ``APNsReason/expiredProviderToken``. From then on its provider token,
  /// and all tokens that were issued no later, count as expired. A request without a provider token
  /// is accepted. The fault applies once.
  public static let expireTokens = APNsFault(effect: .expireTokens, count: 1)

  /// Changes a setting as soon as the faults before this one have been used as often as they apply.
  /// No request fails.
  public static func set(_ setting: APNsSetting) -> APNsFault {
    APNsFault(effect: .set(setting), count: 1)
  }

  /// Accepts the request, and answers it after this number of seconds.
  public static func delay(seconds: Double) -> APNsFault {
    APNsFault(effect: .delay(seconds: seconds))
  }

  /// Never answers the request.
  public static let stall = APNsFault(effect: .stall)

  /// Resets the request's stream (RST_STREAM). The code `refusedStream` says that the request was
  /// not processed. Other codes do not say whether it was processed.
  public static func reset(_ code: HTTP2ErrorCode) -> APNsFault {
    APNsFault(effect: .reset(code))
  }

  /// Sends GOAWAY: the connection ends, and the sender learns that this request and later ones were
  /// not processed.
  public static let goAway = APNsFault(effect: .goAway)

  /// Closes the connection without GOAWAY.
  public static let disconnect = APNsFault(effect: .disconnect)

  /// Neither reads from nor writes to the connection any more, as if the network had failed. The
  /// sender can notice this only because an answer is missing, also the answer to a PING.
  public static let freeze = APNsFault(effect: .freeze)
}
