import Synchronization
import WebServices

/// What became of the requests that reached the endpoints, since the start.
public struct RequestMetrics: Sendable, Hashable {
  /// Requests that failed as a whole, by their error code.
  public var failed: [ServerErrorCode: Int] = [:]
  /// Items that failed in requests that did not, by their error code.
  public var failedItems: [ServerErrorCode: Int] = [:]

  /// Requests that were refused because they came too fast.
  public var throttled: Int { failed[.throttled] ?? 0 }
}
