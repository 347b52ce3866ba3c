import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which changes are dispatched.
struct DispatchPosition: Hashable {
  /// The last change that is dispatched, fully or partly.
  var through: Int64
  /// The number of the database's changes up to this position.
  var changes: Int64
  /// For a change with more firings than a transaction takes, the subscription through which they
  /// are settled; nil if all are.
  var settled: SubscriptionName?

  /// The last change that is fully dispatched.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
