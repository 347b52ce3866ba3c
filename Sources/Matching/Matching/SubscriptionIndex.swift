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
/// Systems", SIGMOD 2001), so that a change comes only to entries whose access predicate it passes.
/// Zone and database subscriptions lie in a table by zone and record type.
///
/// The index knows the present alone: a subscription that was replaced or removed is gone for
/// changes of earlier versions too. Match a change before applying later versions of subscriptions.
///
/// It is a value without locks, I/O or clock; copies share storage until one is changed.
public struct SubscriptionIndex: Sendable {
  /// What a zone or database subscription watches; a database subscription has no zone.
  struct Feed: Hashable, Sendable {
    var zoneID: ZoneID?
    var recordType: String?
  }

  var owners: OwnerTable
  var contents: ContentTable
  /// Owners of entries that have several.
  var ownerRuns = Runs<Int32>(filler: -1)
  /// No owner has a later one.
  private(set) var latestVersion = Int64.min
  /// The number of each record type in ``types``, where one that is not in use is empty.
  var typeNumbers: [String: Int32] = [:]
  var types: [Shared<RecordTypeIndex>] = []
  private var freeTypes: [Int32] = []
  /// The number of each feed among its owners.
  var feedNumbers: [Feed: Int32] = [:]
  var feeds = SlotTable<Feed>()
  var feedOwners: [OwnerList] = []
  private let seed = UInt64.random(in: .min ... .max)

  public init() {
    owners = OwnerTable(seed: seed)
    contents = ContentTable(seed: seed)
  }

  /// How many subscriptions there are.
  public var count: Int { owners.count }

  /// How many predicates there are; equal ones of different owners are one.
  public var entryCount: Int { feedNumbers.count + types.reduce(0) { $0 + $1.value.entries.count } }

  /// Adds a subscription, in place of the one under the same key if there is one.
  ///
  /// `version` is that of the save, counted with the versions that changes are committed at. The
  /// subscription's ID is that of the key.
  ///
  /// - Complexity: O(size of the subscription), amortized
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

  /// Removes a subscription and says whether there was one.
  ///
  /// - Complexity: O(values in the filter that its entry is filed under), amortized
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

  /// Takes a change as an example of those to come: what records have decides under which of its
  /// filters a predicate is found best. Some predicates are looked at each time, and moved.
  ///
  /// - Complexity: that of matching the change, and of looking at some dozens of predicates.
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
