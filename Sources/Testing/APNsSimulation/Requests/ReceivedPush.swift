import CloudKitModel
import Foundation

/// A request that a simulator received, with the answer.
public struct ReceivedPush: Sendable, Hashable {
  /// The time at which the whole request had arrived.
  public var time: Timestamp
  /// The number of the simulator's connection, counted from 1.
  public var connection: Int
  /// The HTTP method, such as `POST`.
  public var method: String
  /// The pseudo-header `:path`.
  public var path: String
  /// The device token in lower case; nil if the path has none.
  public var deviceToken: String?
  /// The headers, by names in lower case. If a header came more than once, its values are joined by
  /// a comma and a space.
  ///
  /// In `authorization`, an ellipsis replaces the signature of the provider token, so that logs
  /// contain no usable token.
  public var headers: [String: String]
  /// The whole body as text.
  public var payload: String
  /// The HTTP status of the answer; nil if there was no answer.
  public var status: Int?
  /// The reason in the answer's body; nil if there is none.
  public var reason: String?
  /// The description of the sender's mistake, or of the simulated fault, for a person to read. Nil
  /// if there was none.
  public var note: String?

  /// Creates a push from its parts.
  public init(
    time: Timestamp, connection: Int, method: String, path: String, deviceToken: String?,
    headers: [String: String], payload: String, status: Int?, reason: String? = nil,
    note: String? = nil
  ) {
    self.time = time
    self.connection = connection
    self.method = method
    self.path = path
    self.deviceToken = deviceToken
    self.headers = headers
    self.payload = payload
    self.status = status
    self.reason = reason
    self.note = note
  }

  init(_ request: SimulatedRequest, connection: Int, time: Timestamp) {
    self.init(
      time: time, connection: connection, method: request.method, path: request.path,
      deviceToken: request.deviceToken,
      headers: Dictionary(
        request.headers.map { ($0.name, Self.withoutSignature($0)) },
        uniquingKeysWith: { $0 + ", " + $1 }),
      payload: String(decoding: request.body, as: UTF8.self), status: nil)
  }

  /// Whether the answer was 200.
  public var isAccepted: Bool { status == 200 }

  /// Returns the value of a header. In `authorization`, an ellipsis replaces the text after the
  /// last dot, or the whole value if it has no dot.
  private static func withoutSignature(_ header: (name: String, value: String)) -> String {
    guard header.name == "authorization" else { return header.value }
    guard let dot = header.value.lastIndex(of: ".") else { return "…" }
    return header.value[...dot] + "…"
  }
}
