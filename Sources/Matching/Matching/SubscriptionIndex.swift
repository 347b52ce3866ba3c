import CloudKitModel

/// The index that finds the subscriptions of one CloudKit database which fire on a change.
///
/// ```swift
/// var index = SubscriptionIndex()
/// index.insert(
///   subscription, for: SubscriptionKey(subscriber: "_ab12", subscriptionID: "quakes"), version: 7)
/// for match in index.matches(change, savedBy: 9) { … }
/// ```
///
/// Subscriptions with the same predicate share one *entry*, which matching evaluates once. The
/// subscriptions are the *owners* of the entry. Two predicates are the same if the kind, record
/// type, zone, events and filters are equal. The order of the filters does not matter.
///
/// A *version* is a number that rises with the saves of subscriptions in a database. A change has
/// the latest version at its commit.
///
/// The entry of a query is filed by record type and then under one of its conditions, the *access
/// predicate*. A condition is a filter or the zone. For a change, matching checks only the entries
/// whose access predicate the change may satisfy. The method is from F. Fabret et al., "Filtering
/// Algorithms and Implementation for Very Fast Publish/Subscribe Systems", SIGMOD 2001. Zone and
/// database subscriptions are in a hash table by zone and record type.
///
/// The index knows only the present state. A replaced or removed subscription no longer fires, not
/// even on changes of earlier versions. Match a change before you insert or remove subscriptions of
/// later versions.
///
/// The index is a value without locks, I/O or clock. Copies share storage until one of them is
/// changed.
public struct SubscriptionIndex: Sendable {
  /// The zone and record type that a zone or database subscription watches.
  struct Feed: Hashable, Sendable {
    /// The zone; `nil` for a database subscription.
    var zoneID: ZoneID?
    /// The record type; `nil` for all types.
    var recordType: String?
  }

  var owners: OwnerTable
  /// The kinds and notification infos of the subscriptions.
  var contents: ContentTable
  /// The slots of the owners of each entry from the third owner on; see ``OwnerList``.
  var ownerRuns = Runs<Int32>(filler: -1)
  /// The greatest version that was ever inserted; `Int64.min` before the first insertion.
  private(set) var latestVersion = Int64.min
  var typeNumbers: [String: Int32] = [:]
  /// The index of each record type, by the number of the type. The index at a free number is empty.
  var types: [Shared<RecordTypeIndex>] = []
  /// The free numbers of record types. A new record type gets one of these first.
  private var freeTypes: [Int32] = []
  var feedNumbers: [Feed: Int32] = [:]
  /// The feeds, by number; a number is a slot of the table.
  var feeds = SlotTable<Feed>()
  var feedOwners: [OwnerList] = []
  /// The seed of all hashes, different for each index.
  private let seed = UInt64.random(in: .min ... .max)

  /// Creates an empty index.
  public init() {
    owners = OwnerTable(seed: seed)
    contents = ContentTable(seed: seed)
  }

  /// The number of subscriptions.
  public var count: Int { owners.count }

  /// The number of different predicates.
  ///
  /// - Complexity: O(*n*), where *n* is the number of record types.
  public var entryCount: Int { feedNumbers.count + types.reduce(0) { $0 + $1.value.entries.count } }

  /// Adds a subscription, and removes an earlier one with the same key.
  ///
  /// - Parameters:
  ///   - subscription: The subscription. The index uses the ID of `key`, not that of the
  ///     subscription.
  ///   - version: The version of the save.
  /// - Complexity: O(*n* log *n* + *m*²) on average, amortized, where *n* is the size of the
  ///   subscription in bytes and *m* the number of its filters. The cost of removing an earlier
  ///   subscription is added. A new entry that needs new facts of a field, or that has a distance
  ///   filter, also costs O(*p* log *p*). *p* is the number of paths of the record type. A path is
  ///   a field with one way to compare it.
  public mutating func insert(
    _ subscription: Subscription, for key: SubscriptionKey, version: Int64
  ) {
    remove(key)
    let kind = subscription.kind
    let (content, isNew) = contents.use(kind)
    if isNew { contents.setPlace(place(for: kind), of: content) }
    let owner = owners.insert(
      key, content: content, info: contents.use(subscription.notificationInfo), version: version)
    latestVersion = max(latestVersion, version)
    changeOwners(at: contents.place(of: content)) { list, runs, owners in
      owners[owner].place = list.append(owner, in: &runs)
    }
  }

  /// Removes a subscription.
  ///
  /// - Returns: `true` if there was a subscription with this key.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the size of the subscription in
  ///   bytes. A call that compacts a table takes time in proportion to the table. The removal of a
  ///   distance filter, or of the last filter on a path, also costs O(*p* log *p*). *p* is the
  ///   number of paths of the record type; see ``insert(_:for:version:)``.
  @discardableResult
  public mutating func remove(_ key: SubscriptionKey) -> Bool {
    guard let slot = owners.find(key) else { return false }
    let owner = owners[slot]
    let place = contents.place(of: owner.content)
    var isLast = false
    changeOwners(at: place) { list, runs, owners in
      if let moved = list.remove(at: owner.place, in: &runs) { owners[moved].place = owner.place }
      isLast = list.isEmpty
    }
    if let moved = owners.remove(slot) {
      changeOwners(at: contents.place(of: moved.content)) { list, runs, _ in
        list.setOwner(slot, at: moved.place, in: &runs)
      }
    }
    contents.release(owner.content)
    contents.releaseInfo(owner.info)
    if isLast { removeEntry(at: place) }
    giveBackMemory(of: place.type)
    return true
  }

  /// Learns from a change which facts are frequent in records.
  ///
  /// The index counts the facts of the record. It then reviews up to 64 entries: an entry moves if
  /// another of its filters would cost less than half.
  ///
  /// A change without a record, or of a record type without query subscriptions, does nothing.
  ///
  /// - Complexity: that of reading the facts of the change, and of reviewing up to 64 entries.
  public mutating func learn(from change: Change, using scratch: inout MatchScratch) {
    guard let recordType = change.record?.recordType, let type = typeNumbers[recordType] else {
      return
    }
    types[Int(type)].value.learn(from: change, &scratch)
  }

  private mutating func place(for kind: Subscription.Kind) -> ContentTable.Place {
    switch kind {
    case .query(let query, let zoneID, let options):
      let type = typeNumber(of: query.recordType)
      let events = UInt8(options.intersection(.events).rawValue)
      let entry = types[Int(type)].value.entry(query.filters, zoneID: zoneID, events: events)
      return ContentTable.Place(type: type, entry: entry)
    case .recordZone(let zoneID, let recordType):
      return place(for: Feed(zoneID: zoneID, recordType: recordType))
    case .database(let recordType):
      return place(for: Feed(zoneID: nil, recordType: recordType))
    }
  }

  private mutating func place(for feed: Feed) -> ContentTable.Place {
    if let known = feedNumbers[feed] { return ContentTable.Place(type: nil, entry: known) }
    let number = feeds.insert(feed)
    feedNumbers[feed] = number
    if number == feedOwners.count { feedOwners.append(.empty) }
    return ContentTable.Place(type: nil, entry: number)
  }

  private mutating func typeNumber(of name: String) -> Int32 {
    if let known = typeNumbers[name] { return known }
    let number = freeTypes.popLast() ?? Int32(types.count)
    if number == types.count { types.append(Shared(RecordTypeIndex(seed: seed))) }
    typeNumbers[name] = number
    return number
  }

  private mutating func changeOwners(
    at place: ContentTable.Place,
    _ change: (inout OwnerList, inout Runs<Int32>, inout OwnerTable) -> Void
  ) {
    if let type = place.type {
      change(&types[Int(type)].value.owners[Int(place.entry)], &ownerRuns, &owners)
    } else {
      change(&feedOwners[Int(place.entry)], &ownerRuns, &owners)
    }
  }

  /// Removes an entry that has no owners. Then removes the record type if it has no other entries.
  private mutating func removeEntry(at place: ContentTable.Place) {
    guard let type = place.type else {
      feedNumbers[feeds[place.entry]] = nil
      feeds.remove(place.entry)
      return
    }
    types[Int(type)].value.remove(place.entry)
    guard types[Int(type)].read({ $0.isEmpty }) else { return }
    types[Int(type)] = Shared(RecordTypeIndex(seed: seed))
    freeTypes.append(type)
    if let name = typeNumbers.first(where: { $0.value == type })?.key { typeNumbers[name] = nil }
  }
}
