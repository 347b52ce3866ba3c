import Foundation

/// An answer of the server that refuses a request or a connection before the handler is called. A
/// refusal for ``Reason/tooSlow`` is only counted; the client gets no answer.
public struct HTTPRefusal: Sendable, Hashable {
  /// The rule or limit that led to the refusal, with the HTTP status of the answer.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The request breaks a rule of HTTP: 400.
    case malformed
    /// The request target is longer than ``HTTPServer/Configuration/maximumTargetSize``: 414.
    case targetTooLong
    /// The header fields are larger than ``HTTPServer/Configuration/maximumHeaderSize``: 431.
    case headersTooLarge
    /// The client took longer than ``HTTPServer/Configuration/headTime`` or was slower than
    /// ``HTTPServer/Configuration/minimumRate``. The server closes the connection without an
    /// answer.
    case tooSlow
    /// The body is larger than ``HTTPServer/Configuration/maximumBodySize`` or
    /// ``HTTPServer/Spooling/maximumBodySize``: 413.
    case bodyTooLarge
    /// As many requests as ``HTTPServer/Configuration/maximumRequestsUnderWay`` are under way: 503.
    /// Requests that may use the reserve have a higher limit
    /// (``HTTPServer/Configuration/reservedConnections``).
    case tooManyRequests
    /// Too many requests have waited longer than ``HTTPServer/Configuration/patience``: 503.
    case overloaded
    /// The bytes of all requests under way would exceed a limit: 503.
    ///
    /// - In memory it is ``HTTPServer/Configuration/maximumBufferedBytes``. Answers that clients
    ///   have not read count too. A large body is refused at half of the limit.
    /// - In files it is ``HTTPServer/Spooling/maximumSpooledBytes``.
    case tooManyBytes
    /// The bytes of the client's address would exceed its share (``ByteAdmission``): 503.
    case tooManyBytesOfAddress
    /// The bytes of the client's network would exceed its share: 503.
    case tooManyBytesOfNetwork
    /// The bytes of the account that the request is for would exceed its share: 503.
    case tooManyBytesOfAccount
    /// The body cannot be written to its file: 503.
    case bodyNotStored
    /// As many connections as ``HTTPServer/Configuration/maximumConnections`` are open, and the
    /// server cannot close an idle one: 503.
    ///
    /// A part of these connections is reserved
    /// (``HTTPServer/Configuration/reservedConnections``). A connection of the reserve gets this
    /// refusal for each request that may not use the reserve. A host that has its share of the
    /// reserve gets the refusal too.
    case tooManyConnections
    /// As many connections of the client's address as
    /// ``HTTPServer/Configuration/connectionsByAddress`` are open: 503.
    case tooManyConnectionsOfAddress
    /// As many connections of the client's network as
    /// ``HTTPServer/Configuration/connectionsByNetwork`` are open: 503.
    case tooManyConnectionsOfNetwork
    /// The server is stopping: 503.
    case stopping
  }

  /// The rule or limit.
  public var reason: Reason
  /// A sentence for a person to read, in printable ASCII without quotes or backslashes.
  public var message: String
  /// The limit that was exceeded, in bytes. It is set for ``Reason/bodyTooLarge``,
  /// ``Reason/targetTooLong`` and ``Reason/headersTooLarge``; otherwise `nil`.
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

  /// The HTTP status: 400, 408, 413, 414, 431 or 503. The server never sends 408, because
  /// ``Reason/tooSlow`` gets no answer.
  public var status: Int { Self.status(of: reason) }

  private static func status(of reason: Reason) -> Int {
    switch reason {
    case .malformed: 400
    case .tooSlow: 408
    case .targetTooLong: 414
    case .headersTooLarge: 431
    case .bodyTooLarge: 413
    case .tooManyRequests, .overloaded, .tooManyBytes, .tooManyBytesOfAddress,
      .tooManyBytesOfNetwork, .tooManyBytesOfAccount, .bodyNotStored, .tooManyConnections,
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
