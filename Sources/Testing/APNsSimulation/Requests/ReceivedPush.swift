import CloudKitModel
import Foundation

/// A request that a simulator received, with its result.
public struct ReceivedPush: Sendable, Hashable {
  /// The time at which the whole request had arrived.
  public var time: Timestamp
  /// The number of the connection, counted from 1.
  public var connection: Int
  /// The method, such as `POST`.
  public var method: String
  /// The pseudo-header `:path`.
  public var path: String
  /// The device token in lower case; nil if the path has none.
  public var deviceToken: String?
  /// The headers by names in lower case. The values of a header that came more than once are joined
  /// by `, `.
  ///
  /// The signature of `authorization` is cut off, so that logs contain no usable token.
  public var headers: [String: String]
  /// The body as it came.
  public var payload: String
  /// The status of the answer; nil if there was none.
  public var status: Int?
  /// The reason in the answer's body.
  public var reason: String?
  /// The description of the mistake or of the fault, for a person to read; nil for neither.
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

  /// Creates a push of a request without an answer.
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

  /// Returns the header's value without the signature of a provider token.
  private static func withoutSignature(_ header: (name: String, value: String)) -> String {
    guard header.name == "authorization" else { return header.value }
    guard let dot = header.value.lastIndex(of: ".") else { return "…" }
    return header.value[...dot] + "…"
  }
}
