import CloudKitModel
import HTTP2Transport

/// A failure that a simulator plays for requests that it would otherwise accept.
///
/// ```swift
/// simulator.script(.reject(.unregistered, timestamp: .now), for: token)   // all later requests
/// simulator.script(.reject(.serviceUnavailable, retryAfter: 2).times(3))  // three requests
/// ```
public struct APNsFault: Sendable, Hashable {
  /// The effect on a request.
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

  /// A plan for a GOAWAY in the middle of open requests.
  struct GoAwayPlan: Sendable, Hashable {
    /// The number of requests that the simulator collects first.
    var gathers: Int
    /// The number of these requests, from the first, that it answers. GOAWAY gives the others back.
    var answers: Int
    /// The seconds after which it does not wait for more requests.
    var patience: Double
    /// The reason in GOAWAY; nil for none.
    var reason: APNsReason?
  }

  /// The effect.
  var effect: Effect
  /// The number of requests that the fault lets pass first.
  var passes = 0
  /// The number of requests to which the fault applies; nil for all later ones.
  var count: Int?

  /// Returns the same fault for only `count` requests; 0 or less makes it apply to none.
  public func times(_ count: Int) -> APNsFault {
    var fault = self
    fault.count = max(0, count)
    return fault
  }

  /// Returns the same fault, which first lets `count` requests pass.
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

  /// Answers with any status and reason, for answers that APNs may give in the future.
  public static func answer(status: Int, reason: String?) -> APNsFault {
    APNsFault(effect: .answer(status: status, reason: reason))
  }

  /// Collects requests of a connection and then sends GOAWAY. It answers the first of them and
  /// gives the others back. The fault applies once.
  ///
  /// - Parameters:
  ///   - gathering: the number of requests to collect, at least 1.
  ///   - answering: the number of them that are answered.
  ///   - patience: the seconds after which it continues with the requests that have come.
  ///   - reason: the reason in GOAWAY; nil for none.
  public static func goAway(
    gathering: Int, answering: Int, patience: Double = 1, reason: APNsReason? = nil
  ) -> APNsFault {
    let plan = GoAwayPlan(
      gathers: max(1, gathering), answers: max(0, answering), patience: patience, reason: reason)
    return APNsFault(effect: .gather(plan), count: 1)
  }

  /// Makes the request's provider token expire, with all tokens that were issued no later. The
  /// fault applies once; the tokens stay expired.
  public static let expireTokens = APNsFault(effect: .expireTokens, count: 1)

  /// Changes a setting as soon as the faults before it are used up. It applies to no request.
  public static func set(_ setting: APNsSetting) -> APNsFault {
    APNsFault(effect: .set(setting), count: 1)
  }

  /// Accepts the request, and answers after a time.
  public static func delay(seconds: Double) -> APNsFault {
    APNsFault(effect: .delay(seconds: seconds))
  }

  /// Never answers the request.
  public static let stall = APNsFault(effect: .stall)

  /// Resets the request's stream (RST_STREAM). The code `refusedStream` says that the request was
  /// not processed; other codes leave that open.
  public static func reset(_ code: HTTP2ErrorCode) -> APNsFault {
    APNsFault(effect: .reset(code))
  }

  /// Sends GOAWAY: the connection ends, and this request and later ones were not processed.
  public static let goAway = APNsFault(effect: .goAway)

  /// Closes the connection without GOAWAY.
  public static let disconnect = APNsFault(effect: .disconnect)

  /// Neither reads from nor writes to the connection any more, as if the network had failed. The
  /// sender notices it only by a PING without an answer.
  public static let freeze = APNsFault(effect: .freeze)
}
