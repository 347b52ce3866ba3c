import Synchronization
import WebServices

/// What became of the requests that reached the endpoints, since the start.
public struct RequestMetrics: Sendable, Hashable {
  /// Requests that failed as a whole, by their error code.
  public var failed: [ServerErrorCode: Int] = [:]
  /// The same by operation, such as `records/modify`. Where the request named none that there is, that
  /// is `other`.
  public var failedOperations: [FailedOperation: Int] = [:]
  /// Items that failed in requests that did not, by their error code.
  public var failedItems: [ServerErrorCode: Int] = [:]

  /// How an operation failed.
  public struct FailedOperation: Sendable, Hashable {
    public var operation: String
    public var code: ServerErrorCode
  }

  /// Requests that were refused because they came too fast.
  public var throttled: Int { failed[.throttled] ?? 0 }
}
