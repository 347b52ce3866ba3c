import CloudKitModel
import Foundation

/// The rule for the delay before a retry. The delay doubles after each failure, up to a limit. This
/// file has all delays on the way of a push: of pushes, devices, routes, connections and the store.
///
/// A random part spreads the retries of clients that failed at the same time.
public struct PushRetryPolicy: Sendable, Hashable {
  /// The longest delay in seconds before the first retry.
  public var firstDelay: Double
  /// The longest delay in seconds before any retry, unless the service asks for more.
  public var greatestDelay: Double
  /// The part of the delay that is random, 0 to 1.
  public var randomPart: Double

  package init(firstDelay: Double, greatestDelay: Double, randomPart: Double = 0.5) {
    self.firstDelay = firstDelay
    self.greatestDelay = greatestDelay
    self.randomPart = randomPart
  }

  /// After a connection to APNs that failed, or a push without an answer.
  package static let reconnect = PushRetryPolicy(firstDelay: 0.1, greatestDelay: 30)
  /// After trouble of a service.
  package static let service = PushRetryPolicy(firstDelay: 1, greatestDelay: 300)
  /// After too many pushes to a device.
  package static let device = PushRetryPolicy(firstDelay: 15, greatestDelay: 1800)
  /// After too many provider tokens. APNs accepts a new token after 20 minutes at the earliest. The
  /// random part may halve the 40 minutes, but not go below 20 (Apple, *Establishing a token-based
  /// connection to APNs*).
  package static let providerToken = PushRetryPolicy(firstDelay: 2400, greatestDelay: 3600)
  /// After a refusal of the key, the certificate or the topic. An administrator must act first, so
  /// the delay does not grow.
  package static let repair = PushRetryPolicy(firstDelay: 60, greatestDelay: 60, randomPart: 0)
  /// For a route without answers, by its pauses for this reason in a row.
  package static let silence = PushRetryPolicy(firstDelay: 0.1, greatestDelay: 60)
  /// After a failed read or write of the store (``StoreBackoff``).
  package static let store = PushRetryPolicy(firstDelay: 0.05, greatestDelay: 5, randomPart: 0)

  /// Returns the seconds until the next attempt.
  ///
  /// The policy's own delay is at most `firstDelay` · 2^`attempt` seconds, or ``greatestDelay`` if
  /// that is less. A longer `retryAfter` replaces this delay.
  ///
  /// - Parameters:
  ///   - attempt: The number of earlier retries; 0 after the first failure.
  ///   - random: A number in 0 ..< 1, which decides the random part.
  ///   - retryAfter: The seconds that the service asked for (`Retry-After`, RFC 9110, section
  ///     10.2.3); `nil` if it asked for none. A longer time than ``greatestRetryAfter`` counts as
  ///     that time.
  package func delay(attempt: Int, random: Double, retryAfter: Double? = nil) -> Double {
    // The exponent is limited, because 2^52 times the first delay is beyond any greatest delay.
    let whole = min(greatestDelay, firstDelay * exp2(Double(min(max(attempt, 0), 52))))
    let delay = whole * (1 - randomPart) + whole * randomPart * min(max(random, 0), 1)
    guard let retryAfter, retryAfter > delay else { return delay }
    return min(retryAfter, Self.greatestRetryAfter)
  }

  /// The longest delay in seconds that a service can ask for: one day.
  package static let greatestRetryAfter: Double = 86_400
}

extension PushAnswer {
  /// Returns the seconds until the next attempt to send the push; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - attempts: The number of earlier attempts to send the push.
  ///   - pauses: The number of times in a row that an answer has paused the whole route. Such an
  ///     answer concerns the route, not the push.
  ///   - random: A number in 0 ..< 1 for the random part of the delay.
  package func delay(attempts: Int, pauses: Int, random: Double) -> Double? {
    switch next {
    case .retry(let policy, .route):
      policy.delay(attempt: pauses, random: random, retryAfter: retryAfter)
    case .retry(let policy, .push), .retry(let policy, .device), .refuseDevice(let policy?):
      policy.delay(attempt: attempts, random: random, retryAfter: retryAfter)
    case .done, .dropDevice, .refuseDevice(nil), .fault:
      nil
    }
  }
}

/// The delays of a task whose calls of the store fail in a row (``PushRetryPolicy/store``).
package struct StoreBackoff: Sendable {
  private var failures = 0

  package init() {}

  /// Makes the next delay the shortest one again.
  package mutating func succeed() { failures = 0 }

  /// Counts a failure and returns the seconds to wait.
  package mutating func fail() -> Double {
    defer { failures += 1 }
    return PushRetryPolicy.store.delay(attempt: failures, random: 0)
  }
}

/// The parser of the `Retry-After` header field (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// Returns the seconds that a peer asks the sender to wait. The text is a number of seconds, or a
  /// date; a past date gives 0. `nil` for other texts.
  static func seconds(_ text: String, at now: Timestamp) -> Double? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text) }
    return HTTPDate.seconds(text).map { max(0, $0 - now.seconds) }
  }
}
