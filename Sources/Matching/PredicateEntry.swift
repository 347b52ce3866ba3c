import CloudKitModel

/// A predicate that one or more owners saved, evaluated once for all of them.
struct PredicateEntry: Sendable {
  /// Where an entry is found.
  enum Placement: Sendable {
    /// Under each of the keys; no record passes a predicate without keys.
    case keys(AccessPredicate)
    /// Among those that are evaluated one by one on every event of the record type.
    case scan
    /// By zone and record type, without evaluation of filters.
    case feed
  }

  let kind: Subscription.Kind
  let identity: PredicateIdentity
  var placement: Placement = .scan
  /// Slots of the owners, in no order.
  var owners: [Int32] = []

  /// The part of a subscription's kind that decides when it fires, in a normal form: no sort keys,
  /// no `firesOnce`, each filter once, in an order of their own.
  init(_ kind: Subscription.Kind) {
    if case .query(let query, let zoneID, let options) = kind {
      var seen: Set<PredicateIdentity> = []
      let filters = query.filters.map { (identity: PredicateIdentity($0), filter: $0) }
        .filter { seen.insert($0.identity).inserted }
        .sorted { $0.identity < $1.identity }
        .map(\.filter)
      self.kind = .query(
        Query(recordType: query.recordType, filters: filters), zoneID: zoneID,
        options: options.intersection(.events))
    } else {
      self.kind = kind
    }
    identity = PredicateIdentity(self.kind)
  }
}
