import CloudKitModel
import SQLEngine
import StoreModel

/// The position up to which the changes of a database, or of a part of a divided one, are
/// dispatched: the notifications of all subscriptions that they fire are in the log. A change that
/// fires very many subscriptions takes several transactions. Between them it is partly dispatched.
struct DispatchPosition: Hashable {
  /// The last change that is dispatched, fully or partly; `Int64.min` before the first one.
  var through: Int64
  /// The number of the database's changes up to ``through``. The count begins again at 0 after all
  /// of the database's rows in ``DispatchTable`` were deleted.
  var changes: Int64
  /// The last processed subscription of the change ``through``, in the order of subscribers and
  /// IDs; nil if all are processed.
  var settled: SubscriptionName?
  var hasDeferrals = false

  /// The number up to which all changes are fully dispatched; need not be the number of a change.
  var wholeThrough: Int64 { settled == nil ? through : through - 1 }
}
