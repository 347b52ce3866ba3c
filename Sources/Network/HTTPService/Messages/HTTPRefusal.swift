import Foundation

/// The reason why the server answered a request or a connection itself, without the handler.
public struct HTTPRefusal: Sendable, Hashable {
  /// The rule or limit that refused the request, with its HTTP status.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The request breaks a rule of HTTP: 400.
    case malformed
    /// The request target is longer than ``HTTPServer/Configuration/maximumTargetSize``: 414.
    case targetTooLong
    /// The header fields are larger than ``HTTPServer/Configuration/maximumHeaderSize``: 431.
    case headersTooLarge
    /// The client took longer than ``HTTPServer/Configuration/headTime`` or was slower than
    /// ``HTTPServer/Configuration/minimumRate``. Its connection is closed without an answer.
    case tooSlow
    /// The body is larger than ``HTTPServer/Configuration/maximumBodySize`` or
    /// ``HTTPServer/Spooling/maximumBodySize``: 413.
    case bodyTooLarge
    /// ``HTTPServer/Configuration/maximumRequestsUnderWay`` requests are under way: 503.
    case tooManyRequests
    /// Too many requests have waited longer than ``HTTPServer/Configuration/patience``: 503.
    case overloaded
    /// The bodies of all requests together reach ``HTTPServer/Configuration/maximumBufferedBytes``
    /// or ``HTTPServer/Spooling/maximumSpooledBytes``: 503.
    case tooManyBytes
    /// The body cannot be written to its file: 503.
    case bodyNotStored
    /// All places of ``HTTPServer/Configuration/maximumConnections`` are taken, and no idle
    /// connection can make room: 503.
    case tooManyConnections
    /// ``HTTPServer/Configuration/connectionsByAddress`` connections of the client's address are
    /// open: 503.
    case tooManyConnectionsOfAddress
    /// ``HTTPServer/Configuration/connectionsByNetwork`` connections of the client's network are
    /// open: 503.
    case tooManyConnectionsOfNetwork
    /// The server is stopping: 503.
    case stopping
  }

  /// The rule or limit.
  public var reason: Reason
  /// A sentence for a person to read, in printable ASCII without quotes or backslashes.
  public var message: String
  /// The passed limit in bytes, for ``Reason/bodyTooLarge``, ``Reason/targetTooLong`` and
  /// ``Reason/headersTooLarge``; otherwise `nil`.
  public var limit: Int?
  /// The seconds after which the client should try again, sent as `Retry-After`; `nil` if a retry
  /// does not help.
  public let retryAfter: Int?

  /// Creates a refusal.
  ///
  /// With ``Reason/overloaded``, ``retryAfter`` is a random number from 2 to 5. With the other
  /// reasons of status 503, it is 1.
  public init(_ reason: Reason, _ message: String, limit: Int? = nil) {
    self.reason = reason
    self.message = message
    self.limit = limit
    retryAfter =
      switch reason {
      // Clients that were refused together must not come back together.
      case .overloaded: Int.random(in: 2...5)
      default: Self.status(of: reason) == 503 ? 1 : nil
      }
  }

  /// The HTTP status: 400, 408, 413, 414, 431 or 503.
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

  /// Returns `{"reason":"…","message":"…"}`, the default body of a refusal.
  public static func plainBody(_ refusal: HTTPRefusal) -> Data {
    Data(
      #"{"reason":"\#(refusal.reason.rawValue)","message":"\#(refusal.message)"}"#.utf8)
  }
}
