import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which the changes of a database, or of a part, are dispatched.
///
/// A change with very many firings takes several transactions. Between these transactions, the
/// position is at the change, and ``settled`` names the last subscription whose firing was
/// processed.
struct DispatchPosition: Hashable {
  /// The sequence of the last change that is dispatched, fully or partly; `Int64.min` before the
  /// first one.
  var through: Int64
  /// The number of the database's changes up to this position.
  var changes: Int64
  /// The last subscription whose firing of the change `through` is processed, in the order of
  /// subscribers and IDs; nil if all firings are processed. It is set only if the change has more
  /// firings than one transaction writes.
  var settled: SubscriptionName?

  /// The last change that is fully dispatched. If the change `through` is partly dispatched, the
  /// value is the number before it, which need not be the number of a change.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
