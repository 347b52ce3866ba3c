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
  /// One subscription, and where it stands among the owners of its entry.
  struct Owner: Sendable {
    let key: SubscriptionKey
    let subscription: Subscription
    let version: Int64
    let place: Place
  }

  /// The slots of the owners after and before one, -1 for none.
  struct Link: BitwiseCopyable, Sendable {
    var next: Int32 = -1
    var previous: Int32 = -1
  }

  /// Where an owner's entry is.
  enum Place: Sendable, Hashable {
    case query(type: Int, entry: Int32)
    case feed(Feed)
  }

  /// What a zone or database subscription watches; a database subscription has no zone.
  struct Feed: Hashable, Sendable {
    var zoneID: ZoneID?
    var recordType: String?
  }

  var slots: [SubscriptionKey: Int32] = [:]
  var owners = SlotTable<Owner>()
  /// By the owners' slots.
  var links: [Link] = []
  /// No owner has a later one.
  private(set) var latestVersion = Int64.min
  /// The number of each record type in ``types``, where one that is not in use is empty.
  var typeNumbers: [String: Int] = [:]
  var types: [RecordTypeIndex] = []
  private var freeTypes: [Int] = []
  /// The first owner of each feed.
  var feeds: [Feed: Int32] = [:]
  private let seed = UInt64.random(in: .min ... .max)

  public init() {}

  /// How many subscriptions there are.
  public var count: Int { slots.count }

  /// How many predicates there are; equal ones of different owners are one.
  public var entryCount: Int { feeds.count + types.reduce(0) { $0 + $1.entries.count } }

  /// Adds a subscription, in place of the one under the same key if there is one.
  ///
  /// `version` is that of the save, counted with the versions that changes are committed at.
  ///
  /// - Complexity: O(size of the subscription), amortized
  public mutating func insert(
    _ subscription: Subscription, for key: SubscriptionKey, version: Int64
  ) {
    remove(key)
    let place = place(for: subscription.kind)
    let owner = owners.insert(
      Owner(key: key, subscription: subscription, version: version, place: place))
    let next = firstOwner(at: place)
    let link = Link(next: next)
    latestVersion = max(latestVersion, version)
    if owner == links.count { links.append(link) } else { links[Int(owner)] = link }
    if next >= 0 { links[Int(next)].previous = owner }
    setFirstOwner(owner, at: place)
    slots[key] = owner
  }

  /// Removes a subscription and says whether there was one.
  ///
  /// - Complexity: O(values in the filter that its entry is filed under)
  @discardableResult
  public mutating func remove(_ key: SubscriptionKey) -> Bool {
    guard let slot = slots.removeValue(forKey: key) else { return false }
    let (place, link) = (owners[slot].place, links[Int(slot)])
    owners.remove(slot)
    if link.next >= 0 { links[Int(link.next)].previous = link.previous }
    if link.previous >= 0 {
      links[Int(link.previous)].next = link.next
    } else if link.next >= 0 {
      setFirstOwner(link.next, at: place)
    } else {
      removeEntry(at: place)
    }
    if slots.isEmpty {
      owners = SlotTable()
      links = []
    }
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
    types[type].learn(from: change, &scratch)
  }

  /// The subscription in a slot that matching named. The index must not have changed since.
  public subscript(slot: Int32) -> SubscriptionMatch {
    let owner = owners[slot]
    return SubscriptionMatch(
      key: owner.key, subscription: owner.subscription, version: owner.version)
  }

  /// The key of the subscription in a slot that matching named. The index must not have changed
  /// since.
  public func key(inSlot slot: Int32) -> SubscriptionKey { owners[slot].key }

  private mutating func place(for kind: Subscription.Kind) -> Place {
    switch kind {
    case .query(let query, let zoneID, let options):
      let type = typeNumber(of: query.recordType)
      let events = UInt8(options.intersection(.events).rawValue)
      return .query(
        type: type, entry: types[type].entry(query.filters, zoneID: zoneID, events: events))
    case .recordZone(let zoneID, let recordType):
      return .feed(Feed(zoneID: zoneID, recordType: recordType))
    case .database(let recordType):
      return .feed(Feed(zoneID: nil, recordType: recordType))
    }
  }

  private mutating func typeNumber(of name: String) -> Int {
    if let known = typeNumbers[name] { return known }
    let number = freeTypes.popLast() ?? types.count
    if number == types.count { types.append(RecordTypeIndex(seed: seed)) }
    typeNumbers[name] = number
    return number
  }

  private func firstOwner(at place: Place) -> Int32 {
    switch place {
    case .query(let type, let entry): types[type].firstOwners[Int(entry)]
    case .feed(let feed): feeds[feed] ?? -1
    }
  }

  private mutating func setFirstOwner(_ owner: Int32, at place: Place) {
    switch place {
    case .query(let type, let entry): types[type].firstOwners[Int(entry)] = owner
    case .feed(let feed): feeds[feed] = owner
    }
  }

  private mutating func removeEntry(at place: Place) {
    switch place {
    case .query(let type, let entry):
      types[type].remove(entry)
      guard types[type].isEmpty else { return }
      types[type] = RecordTypeIndex(seed: seed)
      freeTypes.append(type)
      if let name = typeNumbers.first(where: { $0.value == type })?.key { typeNumbers[name] = nil }
    case .feed(let feed):
      feeds[feed] = nil
    }
  }
}
