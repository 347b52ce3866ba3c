import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which the changes of a database are dispatched. In a divided database, each
/// part of the subscribers has a position of its own.
///
/// A change is dispatched when the notifications of all subscriptions that it fires are in the log.
/// A change that fires very many subscriptions takes several transactions. Between these
/// transactions the change is partly dispatched, and ``settled`` names the last subscription that
/// was processed.
struct DispatchPosition: Hashable {
  /// The sequence of the last change that is dispatched, fully or partly; `Int64.min` before the
  /// first one.
  var through: Int64
  /// The number of the database's changes up to and including ``through``. The count begins again
  /// at 0 after all of the database's rows in ``DispatchTable`` were deleted.
  var changes: Int64
  /// The last processed subscription of those that the change ``through`` fires, in the order of
  /// subscribers and IDs. Nil means that all of them are processed.
  var settled: SubscriptionName?
  /// Whether the firings of some subscribers of the database are deferred
  /// (``DeferredDispatchTable``). The value is only read, never stored with the position.
  var hasDeferrals = false

  /// The number up to which all changes are fully dispatched. If the change ``through`` is partly
  /// dispatched, the value is `through - 1`, which need not be the number of a change.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
