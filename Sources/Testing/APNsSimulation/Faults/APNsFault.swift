import CloudKitModel
import HTTP2Transport

/// Trouble that a simulator makes on request, for requests that it would otherwise accept.
///
/// ```swift
/// simulator.script(.reject(.unregistered, timestamp: .now), for: token)       // for good
/// simulator.script(.reject(.serviceUnavailable, retryAfter: 2).times(3))      // any device, thrice
/// ```
public struct APNsFault: Sendable, Hashable {
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

  /// A GOAWAY in the middle of open requests.
  struct GoAwayPlan: Sendable, Hashable {
    /// How many requests are let come together.
    var gathers: Int
    /// How many of them, from the first, are answered; the others are given back.
    var answers: Int
    /// Seconds after which no more are waited for.
    var patience: Double
    var reason: APNsReason?
  }

  var effect: Effect
  /// How many requests pass before it hits.
  var passes = 0
  /// How many requests it hits; nil for all that come.
  var count: Int?

  /// The same fault for only `count` requests.
  public func times(_ count: Int) -> APNsFault {
    var fault = self
    fault.count = max(0, count)
    return fault
  }

  /// The same fault after `count` requests that it leaves alone.
  public func after(_ count: Int) -> APNsFault {
    var fault = self
    fault.passes = max(0, count)
    return fault
  }

  /// Answers with a documented reason and its status.
  ///
  /// - Parameters:
  ///   - timestamp: when the device token became invalid, for status 410.
  ///   - retryAfter: seconds for a `Retry-After` header, which APNs is not documented to send.
  public static func reject(
    _ reason: APNsReason, timestamp: Timestamp? = nil, retryAfter: Int? = nil
  ) -> APNsFault {
    APNsFault(effect: .reject(reason, timestamp: timestamp, retryAfter: retryAfter))
  }

  /// Answers with any status and reason, for those that APNs may come to give one day.
  public static func answer(status: Int, reason: String?) -> APNsFault {
    APNsFault(effect: .answer(status: status, reason: reason))
  }

  /// Lets requests of a connection come together, then says that it ends (GOAWAY), answers the first
  /// of them and gives the others back. For once.
  ///
  /// - Parameters:
  ///   - gathering: how many requests are to come together.
  ///   - answering: how many of them are answered.
  ///   - patience: seconds after which it goes on with those that have come.
  ///   - reason: what the GOAWAY says.
  public static func goAway(
    gathering: Int, answering: Int, patience: Double = 1, reason: APNsReason? = nil
  ) -> APNsFault {
    let plan = GoAwayPlan(
      gathers: max(1, gathering), answers: max(0, answering), patience: patience, reason: reason)
    return APNsFault(effect: .gather(plan), count: 1)
  }

  /// The request's provider token, and all that were issued no later, count as expired from now on.
  /// For once.
  public static let expireTokens = APNsFault(effect: .expireTokens, count: 1)

  /// Changes a setting, once, as soon as the faults before are over; hits no request.
  public static func set(_ setting: APNsSetting) -> APNsFault {
    APNsFault(effect: .set(setting), count: 1)
  }

  /// Accepts the request, but only after a time.
  public static func delay(seconds: Double) -> APNsFault {
    APNsFault(effect: .delay(seconds: seconds))
  }

  /// Never answers.
  public static let stall = APNsFault(effect: .stall)

  /// Breaks the request's stream off (RST_STREAM). `refusedStream` says that the request was not
  /// looked at; other codes leave that open.
  public static func reset(_ code: HTTP2ErrorCode) -> APNsFault {
    APNsFault(effect: .reset(code))
  }

  /// Says that the connection ends (GOAWAY) and that this request and those after it were not
  /// looked at.
  public static let goAway = APNsFault(effect: .goAway)

  /// Cuts the connection without a word.
  public static let disconnect = APNsFault(effect: .disconnect)

  /// Neither reads from nor writes to the connection from now on, as if the network had swallowed
  /// it; only a PING that is not answered tells.
  public static let freeze = APNsFault(effect: .freeze)
}
