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
/// Subscriptions with the same predicate are one *entry* with many owners, which is evaluated once.
/// A predicate is the kind, record type, zone, events and filters, in any order.
///
/// The entry of a query is filed by record type and then under one of its filters, its *access
/// predicate*. A change meets only the entries whose access predicate it satisfies. The method is
/// from F. Fabret et al., "Filtering Algorithms and Implementation for Very Fast Publish/Subscribe
/// Systems", SIGMOD 2001. Zone and database subscriptions are in a hash table by zone and record
/// type.
///
/// The index knows only the present state. A replaced or removed subscription no longer fires on
/// changes of earlier versions. Match a change before you apply later versions of subscriptions.
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

  /// The subscriptions by key.
  var owners: OwnerTable
  /// The kinds and notification infos of the subscriptions.
  var contents: ContentTable
  /// The owners behind the second of each entry.
  var ownerRuns = Runs<Int32>(filler: -1)
  /// The greatest version that was ever inserted; `Int64.min` before the first insertion.
  private(set) var latestVersion = Int64.min
  /// The number of each record type that has entries.
  var typeNumbers: [String: Int32] = [:]
  /// The indices of the record types, by number. One that is not in use is empty.
  var types: [Shared<RecordTypeIndex>] = []
  /// The numbers that no record type has.
  private var freeTypes: [Int32] = []
  /// The number of each feed that has subscriptions.
  var feedNumbers: [Feed: Int32] = [:]
  /// The feeds, by number.
  var feeds = SlotTable<Feed>()
  /// The owners of each feed, by number.
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

  /// Adds a subscription. It replaces the subscription with the same key.
  ///
  /// - Parameters:
  ///   - subscription: The subscription. The index uses the ID of `key`, not that of the
  ///     subscription.
  ///   - version: The version of the save, in the sequence of the versions of changes.
  /// - Complexity: O(*n* log *n* + *m*²) on average, amortized, where *n* is the size of the
  ///   subscription in bytes and *m* the number of its filters. The removal of a replaced
  ///   subscription is added. The first subscription that asks for something new of a field also
  ///   costs O(*p* log *p*), where *p* is the number of paths of the record type.
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
  /// - Returns: Whether there was a subscription with this key.
  /// - Complexity: O(*n*) on average, amortized, where *n* is the size of the subscription in
  ///   bytes. A call that compacts a table takes time in proportion to the table. The last removal
  ///   of a path of the record type costs O(*p* log *p*) for the *p* paths that are left.
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

  /// Takes a change as an example of later ones.
  ///
  /// The index counts the facts of the record. It then reviews the places of up to 64 entries, and
  /// moves those that another filter would find at less than half the cost.
  ///
  /// A change without a record, or of a record type without subscriptions, does nothing.
  ///
  /// - Complexity: that of matching the change, and of reviewing up to 64 entries.
  public mutating func learn(from change: Change, using scratch: inout MatchScratch) {
    guard let recordType = change.record?.recordType, let type = typeNumbers[recordType] else {
      return
    }
    types[Int(type)].value.learn(from: change, &scratch)
  }

  /// Returns the place of the entry of a kind. A new entry is created if there is none.
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

  /// Returns the place of a feed. A new number is given if there is none.
  private mutating func place(for feed: Feed) -> ContentTable.Place {
    if let known = feedNumbers[feed] { return ContentTable.Place(type: nil, entry: known) }
    let number = feeds.insert(feed)
    feedNumbers[feed] = number
    if number == feedOwners.count { feedOwners.append(.empty) }
    return ContentTable.Place(type: nil, entry: number)
  }

  /// Returns the number of a record type. A new number is given if there is none.
  private mutating func typeNumber(of name: String) -> Int32 {
    if let known = typeNumbers[name] { return known }
    let number = freeTypes.popLast() ?? Int32(types.count)
    if number == types.count { types.append(Shared(RecordTypeIndex(seed: seed))) }
    typeNumbers[name] = number
    return number
  }

  /// Calls `change` with the list of the owners of an entry, the runs and the table of owners.
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

  /// Removes an entry that has no owners, and its record type if that has no other entries.
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
