import Foundation

/// Why the server answered a request itself, without asking the handler.
public struct HTTPRefusal: Sendable, Hashable {
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The request breaks HTTP's own rules: 400.
    case malformed
    /// The request target is longer than ``HTTPServer/Configuration/maximumTargetSize``: 414.
    case targetTooLong
    /// The header fields are larger than ``HTTPServer/Configuration/maximumHeaderSize``: 431.
    case headersTooLarge
    /// The client took longer than ``HTTPServer/Configuration/headTime`` or was slower than
    /// ``HTTPServer/Configuration/minimumRate``: its connection is closed without an answer.
    case tooSlow
    /// The body is larger than ``HTTPServer/Configuration/maximumBodySize`` or
    /// ``HTTPServer/Spooling/maximumBodySize``: 413.
    case bodyTooLarge
    /// ``HTTPServer/Configuration/maximumRequestsUnderWay`` requests are being handled: 503.
    case tooManyRequests
    /// Too many requests have waited for longer than ``HTTPServer/Configuration/patience``: 503.
    case overloaded
    /// The bodies of all requests together reach
    /// ``HTTPServer/Configuration/maximumBufferedBytes`` or
    /// ``HTTPServer/Spooling/maximumSpooledBytes``: 503.
    case tooManyBytes
    /// The body cannot be written to its file: 503.
    case bodyNotStored
    /// ``HTTPServer/Configuration/maximumConnections`` connections are open, and none of them is idle:
    /// 503.
    case tooManyConnections
    /// ``HTTPServer/Configuration/connectionsByAddress`` connections of the client's address are open: 503.
    case tooManyConnectionsOfAddress
    /// ``HTTPServer/Configuration/connectionsByNetwork`` connections of the client's network are open: 503.
    case tooManyConnectionsOfNetwork
    /// The server is stopping: 503.
    case stopping
  }

  public var reason: Reason
  /// A sentence for people; printable ASCII without quotes or backslashes.
  public var message: String
  /// The limit that was passed, in bytes, with ``Reason/bodyTooLarge``, ``Reason/targetTooLong`` and
  /// ``Reason/headersTooLarge``.
  public var limit: Int?
  /// Seconds after which another try makes sense; sent as `Retry-After`.
  public let retryAfter: Int?

  public init(_ reason: Reason, _ message: String, limit: Int? = nil) {
    self.reason = reason
    self.message = message
    self.limit = limit
    retryAfter =
      switch reason {
      // A crowd that was sent away together must not come back together.
      case .overloaded: Int.random(in: 2...5)
      default: Self.status(of: reason) == 503 ? 1 : nil
      }
  }

  public var status: Int { Self.status(of: reason) }

  private static func status(of reason: Reason) -> Int {
    switch reason {
    case .malformed: 400
    case .tooSlow: 408
    case .targetTooLong: 414
    case .headersTooLarge: 431
    case .bodyTooLarge: 413
    case .tooManyRequests, .overloaded, .tooManyBytes, .bodyNotStored, .tooManyConnections,
      .tooManyConnectionsOfAddress, .tooManyConnectionsOfNetwork, .stopping:
      503
    }
  }

  /// `{"reason":"…","message":"…"}`, unless the configuration says otherwise.
  public static func plainBody(_ refusal: HTTPRefusal) -> Data {
    Data(
      #"{"reason":"\#(refusal.reason.rawValue)","message":"\#(refusal.message)"}"#.utf8)
  }
}
