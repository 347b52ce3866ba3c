import CloudKitModel

/// That a request was not accepted, and why.
public struct APNsRejection: Error, Sendable, Hashable, CustomStringConvertible {
  public var reason: APNsReason
  /// What was wrong, with which value, for people. APNs itself does not tell.
  public var detail: String
  /// When a device token became invalid; with status 410 only.
  public var timestamp: Timestamp?

  public init(_ reason: APNsReason, _ detail: String, timestamp: Timestamp? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }

  public var description: String { "\(reason.status) \(reason.rawValue): \(detail)" }
}
