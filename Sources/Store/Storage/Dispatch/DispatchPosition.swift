import CloudKitModel
import SQLEngine
import StoreModel

/// How far the changes of a database are dispatched.
struct DispatchPosition: Hashable {
  /// The last change that is dispatched, wholly or in part.
  var through: Int64
  /// How many of the database's changes that makes, since they are counted.
  var changes: Int64
  /// Of a change with more firings than a transaction takes, how far they are settled; nil when all
  /// of them are.
  var settled: SubscriptionName?

  /// The changes up to this one are dispatched wholly.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
