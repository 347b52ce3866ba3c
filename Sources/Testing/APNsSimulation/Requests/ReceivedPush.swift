import CloudKitModel
import Foundation

/// A request that a simulator got, and what became of it.
public struct ReceivedPush: Sendable, Hashable {
  /// When it had arrived whole.
  public var time: Timestamp
  /// The number of the connection, counted from 1.
  public var connection: Int
  public var method: String
  /// `:path`.
  public var path: String
  /// In lower case; nil where the path has none.
  public var deviceToken: String?
  /// By names in lower case; the values of one that came more than once are joined by `, `.
  ///
  /// The signature of `authorization` is cut off, so that no usable token gets into a log.
  public var headers: [String: String]
  /// The body as it came.
  public var payload: String
  /// The status of the answer; nil if there was none.
  public var status: Int?
  /// The reason in the answer's body.
  public var reason: String?
  /// What was wrong, or which fault was played, for people.
  public var note: String?

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

  /// Whether it was answered with 200.
  public var isAccepted: Bool { status == 200 }

  private static func withoutSignature(_ header: (name: String, value: String)) -> String {
    guard header.name == "authorization" else { return header.value }
    guard let dot = header.value.lastIndex(of: ".") else { return "…" }
    return header.value[...dot] + "…"
  }
}
