import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which the changes of a database, or of a part, are dispatched.
///
/// A change with very many firings takes several transactions. Between them the position stands at
/// the change, with ``settled`` set.
struct DispatchPosition: Hashable {
  /// The sequence of the last change that is dispatched, fully or partly; `Int64.min` before the
  /// first one.
  var through: Int64
  /// The number of the database's changes up to this position.
  var changes: Int64
  /// For a change with more firings than a transaction takes, the subscription through which they
  /// are settled; nil if all are.
  var settled: SubscriptionName?

  /// The last change that is fully dispatched. For a partly dispatched one it is the number before,
  /// which need not be a change's.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
