import Synchronization
import WebServices

/// The counts of failed requests since the start of the server.
public struct RequestMetrics: Sendable, Hashable {
  /// Requests that failed as a whole, by their error code.
  public var failed: [ServerErrorCode: Int] = [:]
  /// Requests that failed as a whole, by operation, such as `records/modify`, and error code. For
  /// an unknown operation the name is `other`.
  public var failedOperations: [FailedOperation: Int] = [:]
  /// Items that failed in requests that succeeded as a whole, by their error code.
  public var failedItems: [ServerErrorCode: Int] = [:]

  /// Requests and items of participants of shares that the server refused, by their error code. Such
  /// a request is in a shared database, or is about the link of a share.
  public var refusedParticipants: [ServerErrorCode: Int] = [:]

  /// An operation with the error code of its failure.
  public struct FailedOperation: Sendable, Hashable {
    /// The name of the operation in metrics: ``OperationTable/metricsName(ofPath:)``.
    public var operation: String
    /// The error code of the answer.
    public var code: ServerErrorCode
  }

  /// Requests that were refused with `THROTTLED`: a caller exceeded a request rate, or too many
  /// requests waited.
  public var throttled: Int { failed[.throttled] ?? 0 }
}
