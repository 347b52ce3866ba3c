import CloudKitModel

/// Finds the subscriptions of one CloudKit database that fire on a change.
///
/// ```swift
/// var index = SubscriptionIndex()
/// index.insert(
///   subscription, for: SubscriptionKey(subscriber: "_ab12", subscriptionID: "quakes"), version: 7)
/// for match in index.matches(change, savedBy: 9) { … }
/// ```
///
/// Subscriptions with the same predicate (kind, record type, zone, events and filters, in whatever
/// order) are one *entry* with many owners: it is evaluated once for all of them. An entry of a
/// query is filed by record type and then under one of its filters, its access predicate
/// (F. Fabret et al., "Filtering Algorithms and Implementation for Very Fast Publish/Subscribe
/// Systems", SIGMOD 2001): `EQUALS`, `IN`, `LIST_CONTAINS`, `LIST_CONTAINS_ANY` and
/// `LIST_CONTAINS_ALL` lie in hash tables by field and value. Zone and database subscriptions lie
/// in a table by zone and record type.
///
/// What is still linear: every event of a record type evaluates each of the type's entries that has
/// none of those filters (only ranges, prefixes, tokens, distances, negations, "no value", lists or
/// bytes as values, or no filter at all), and each entry filed under a value that the record has,
/// whatever its other filters and its zone say. An event also looks at each access path of its type
/// (field, list or not, string options), of which there are as many as the subscriptions use.
///
/// The index knows the present alone: a subscription that was replaced or removed is gone for
/// changes of earlier versions too. Match a change before applying later versions of subscriptions.
///
/// It is a value without locks, I/O or clock; copies share storage until one is changed.
public struct SubscriptionIndex: Sendable {
  /// One subscription, and where it stands in its entry's list of owners.
  struct Owner: Sendable {
    let key: SubscriptionKey
    let subscription: Subscription
    let version: Int64
    let entry: Int32
    var position: Int
  }

  /// What a zone or database subscription watches; a database subscription has no zone.
  struct Feed: Hashable, Sendable {
    var zoneID: ZoneID?
    var recordType: String?
  }

  var slots: [SubscriptionKey: Int32] = [:]
  var owners = SlotTable<Owner>()
  var entries = SlotTable<PredicateEntry>()
  var entryOfPredicate: [PredicateIdentity: Int32] = [:]
  var recordTypes: [String: RecordTypeIndex] = [:]
  var feeds: [Feed: Set<Int32>] = [:]

  public init() {}

  /// How many subscriptions there are.
  public var count: Int { slots.count }

  /// Adds a subscription, in place of the one under the same key if there is one.
  ///
  /// `version` is that of the save, counted with the versions that changes are committed at.
  ///
  /// - Complexity: O(size of the subscription), amortized
  public mutating func insert(
    _ subscription: Subscription, for key: SubscriptionKey, version: Int64
  ) {
    remove(key)
    let entry = entrySlot(for: subscription.kind)
    let owner = owners.insert(
      Owner(
        key: key, subscription: subscription, version: version, entry: entry,
        position: entries[entry].owners.count))
    entries[entry].owners.append(owner)
    slots[key] = owner
  }

  /// Removes a subscription and says whether there was one.
  ///
  /// - Complexity: O(values in the filter that its entry is filed under)
  @discardableResult
  public mutating func remove(_ key: SubscriptionKey) -> Bool {
    guard let slot = slots.removeValue(forKey: key) else { return false }
    let owner = owners[slot]
    owners.remove(slot)
    let last = entries[owner.entry].owners.removeLast()
    if last != slot {
      entries[owner.entry].owners[owner.position] = last
      owners[last].position = owner.position
    }
    if entries[owner.entry].owners.isEmpty { removeEntry(owner.entry) }
    return true
  }

  private mutating func entrySlot(for kind: Subscription.Kind) -> Int32 {
    let entry = PredicateEntry(kind)
    if let slot = entryOfPredicate[entry.identity] { return slot }
    let slot = entries.insert(entry)
    entryOfPredicate[entry.identity] = slot
    entries[slot].placement = place(slot, entry.kind)
    return slot
  }

  private mutating func place(_ slot: Int32, _ kind: Subscription.Kind) -> PredicateEntry.Placement
  {
    switch kind {
    case .query(let query, _, _):
      let placement = recordTypes[query.recordType, default: RecordTypeIndex()]
        .insert(slot, filters: query.filters)
      dropRecordTypeIfEmpty(query.recordType)
      return placement
    case .recordZone(let zoneID, let recordType):
      feeds[Feed(zoneID: zoneID, recordType: recordType), default: []].insert(slot)
    case .database(let recordType):
      feeds[Feed(zoneID: nil, recordType: recordType), default: []].insert(slot)
    }
    return .feed
  }

  private mutating func removeEntry(_ slot: Int32) {
    let entry = entries[slot]
    entries.remove(slot)
    entryOfPredicate[entry.identity] = nil
    switch entry.kind {
    case .query(let query, _, _):
      recordTypes[query.recordType]?.remove(slot, from: entry.placement)
      dropRecordTypeIfEmpty(query.recordType)
    case .recordZone(let zoneID, let recordType):
      removeFeed(slot, Feed(zoneID: zoneID, recordType: recordType))
    case .database(let recordType):
      removeFeed(slot, Feed(zoneID: nil, recordType: recordType))
    }
  }

  /// Entries that no record passes are filed nowhere, so a type may be empty from the start.
  private mutating func dropRecordTypeIfEmpty(_ recordType: String) {
    if recordTypes[recordType]?.isEmpty == true { recordTypes[recordType] = nil }
  }

  private mutating func removeFeed(_ slot: Int32, _ feed: Feed) {
    feeds[feed]?.remove(slot)
    if feeds[feed]?.isEmpty == true { feeds[feed] = nil }
  }
}
