import HistoryChecking
import PropertyTesting

/// A server of which everything is known, and clients that ask it at the same time: makes histories that
/// may happen. Each request takes effect at a moment between its beginning and its end.
struct SimulatedServer {
  private struct Request {
    var moment: Int64
    var span: Span
    var perform: (inout SimulatedServer, Span) -> Void
  }

  private(set) var history = History()
  private var generator: SeededGenerator
  private var records: [RecordKey: (tag: String, mark: String)] = [:]
  /// The versions of a zone's records, as its feed has them.
  private var feeds: [[String]: [(name: String, sight: Sight)]] = [:]
  private var logs: [String: [LogEntry]] = [:]
  private var fired: Set<String> = []
  private var count = 0
  private var readerPlaces: [String: Int] = [:]
  /// The tags that clients know.
  private var known: Set<String> = []
  private var now: Int64 = 0

  private static let users = ["anna", "ben"]
  private static let zones = ["a", "b"]

  /// A history of `requests` requests, of which up to `width` are under way at a time.
  static func history(requests: Int, width: Int, seed: some FixedWidthInteger) -> History {
    var server = SimulatedServer(generator: SeededGenerator(seed: seed))
    server.subscribe()
    var time: Int64 = 1_000
    var open: [Request] = []
    for _ in 0..<requests {
      time += Int64.random(in: 1...40, using: &server.generator)
      let length = Int64.random(in: 1...(40 * Int64(width)), using: &server.generator)
      let moment = Int64.random(in: time...time + length, using: &server.generator)
      open.append(
        Request(
          moment: moment, span: Span(began: time, ended: time + length),
          perform: server.request()))
    }
    for request in open.sorted(by: { $0.moment < $1.moment }) {
      server.now = request.moment
      request.perform(&server, request.span)
    }
    server.readAll(from: time + 100_000)
    return server.history
  }

  private init(generator: SeededGenerator) { self.generator = generator }

  private mutating func subscribe() {
    for user in Self.users {
      history.subscriptions += [
        Subscribing(
          user: user, id: "\(user)-all", span: Span(began: 1, ended: 2), topic: user),
        Subscribing(
          user: user, id: "\(user)-public", span: Span(began: 1, ended: 2), topic: "public"),
        Subscribing(
          user: user, id: "\(user)-once", span: Span(began: 1, ended: 2), topic: user,
          firesOnce: true),
      ]
      for device in ["phone", "tablet"] {
        history.devices.append(
          DeviceRegistration(
            user: user, device: device, token: "\(user)-\(device)", span: Span(began: 1, ended: 2)))
      }
    }
  }

  private mutating func request() -> (inout SimulatedServer, Span) -> Void {
    let user = generator.pick(Self.users)
    let database = generator.chance(1, in: 3) ? "public" : user
    let zone = generator.pick(Self.zones)
    let keys = (0..<6).map { RecordKey(database: database, zone: zone, name: "r\($0)") }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<5:
      count += 1
      let isRare = generator.chance(1, in: 3)
      let fresh = isRare ? (0..<2).map { "only\(count)-\($0)" } : []
      let targets =
        isRare
        ? fresh.map { RecordKey(database: database, zone: zone, name: $0) }
        : [generator.pick(keys)]
      return { [count] in $0.write(user, targets, "\(count)", $1) }
    case 5: return { $0.delete(user, $0.generator.pick(keys), $1) }
    case 6, 7:
      return { server, span in
        let known = server.records.keys.filter { $0.database == database }.sorted()
        let key = known.isEmpty ? keys[0] : server.generator.pick(known)
        server.history.reads.append(
          RecordRead(user: user, key: key, span: span, sight: server.show(key)))
      }
    case 8:
      // A reader has one request under way at a time.
      return { server, _ in
        server.readFeed(
          "\(user)'s reader", database, zone, Span(began: server.now, ended: server.now))
      }
    default:
      return { server, _ in
        server.readLog(of: user, Span(began: server.now, ended: server.now))
      }
    }
  }

  private func sight(of key: RecordKey) -> Sight {
    records[key].map { .record(tag: $0.tag, mark: $0.mark) } ?? .absent
  }

  /// Returns the record as a client sees it. The client knows the record's tag from then on.
  private mutating func show(_ key: RecordKey) -> Sight {
    if let tag = records[key]?.tag { known.insert(tag) }
    return sight(of: key)
  }

  private mutating func write(
    _ user: String, _ keys: [RecordKey], _ mark: String, _ span: Span
  ) {
    var outcomes: [RecordWrite.Outcome] = []
    var conditions: [RecordWrite.Condition] = []
    for key in keys {
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        conditions.append(.none)
        outcomes.append(.done(tag: nil))
      case 1 where records[key] == nil || generator.chance(1, in: 4):
        conditions.append(.absent)
        outcomes.append(records[key] == nil ? .done(tag: nil) : .refused(nil))
      default:
        if let record = records[key], known.contains(record.tag) {
          // A client may know an older state.
          let isStale = generator.chance(1, in: 3)
          let older = history.reads.last { $0.key == key && $0.sight != sight(of: key) }?.sight
          if isStale, case .record(let tag, _)? = older {
            conditions.append(.tag(tag))
            outcomes.append(.refused(show(key)))
          } else {
            conditions.append(.tag(record.tag))
            outcomes.append(.done(tag: nil))
          }
        } else {
          conditions.append(.none)
          outcomes.append(.done(tag: nil))
        }
      }
    }
    let isRefused = outcomes.contains { if case .refused = $0 { true } else { false } }
    let isCut = generator.chance(1, in: 8)
    let isLost = isCut && generator.chance(1, in: 2)
    var span = span
    if isCut { span.ended = Span.never }
    for (place, key) in keys.enumerated() {
      var outcome = outcomes[place]
      let own = "\(mark).\(place)"
      if isRefused {
        if case .done = outcome { outcome = .notDone }
      } else if !isLost {
        put(key, own, user)
        outcome = .done(tag: own + "t")
        if !isCut { known.insert(own + "t") }
      }
      if isCut { outcome = .unknown }
      history.writes.append(
        RecordWrite(
          user: user, device: "phone", key: key, effect: .save(mark: own),
          condition: conditions[place], span: span, outcome: outcome,
          group: keys.count > 1 ? Int(mark) : nil, topics: [key.database]))
    }
  }

  private mutating func delete(_ user: String, _ key: RecordKey, _ span: Span) {
    guard let record = records[key], known.contains(record.tag) else { return }
    let isCut = generator.chance(1, in: 8)
    let isLost = isCut && generator.chance(1, in: 2)
    if !isLost {
      records[key] = nil
      tell(key, .absent, user)
    }
    history.writes.append(
      RecordWrite(
        user: user, device: "phone", key: key, effect: .delete, condition: .tag(record.tag),
        span: isCut ? Span(began: span.began) : span, outcome: isCut ? .unknown : .done(tag: nil),
        topics: [key.database]))
  }

  private mutating func put(_ key: RecordKey, _ mark: String, _ user: String) {
    records[key] = (mark + "t", mark)
    tell(key, .record(tag: mark + "t", mark: mark), user)
  }

  private mutating func tell(_ key: RecordKey, _ sight: Sight, _ user: String) {
    feeds[[key.database, key.zone], default: []].append((key.name, sight))
    let notification = "n\(fired.count)-\(logs.values.reduce(0) { $0 + $1.count })"
    for subscription in history.subscriptions where subscription.topic == key.database {
      if subscription.firesOnce, !fired.insert(subscription.id).inserted { continue }
      logs[subscription.user, default: []].append(
        LogEntry(
          notificationID: notification, subscriptionID: subscription.id, key: key,
          mark: sight.mark))
      for device in history.devices
      where device.user == subscription.user && !(device.user == user && device.device == "phone") {
        for attempt in 0..<(generator.chance(1, in: 5) ? 2 : 1) {
          history.pushes.append(
            PushReceipt(
              token: device.token, apnsID: "\(notification)/\(subscription.id)/\(device.token)",
              notificationID: notification, subscriptionID: subscription.id,
              isAccepted: attempt == 0))
        }
      }
    }
  }

  private mutating func readFeed(
    _ reader: String, _ database: String, _ zone: String, _ span: Span
  ) {
    let feed = feeds[[database, zone]] ?? []
    let place = "\(reader) \(database) \(zone)"
    let start = readerPlaces[place] ?? 0
    readerPlaces[place] = feed.count
    for entry in feed {
      if case .record(let tag, _) = entry.sight { known.insert(tag) }
    }
    // The latest of each record, where that stands.
    let latest = Dictionary(
      feed.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { max($0, $1) })
    history.feeds.append(
      FeedReading(
        reader: reader, database: database, zone: zone, span: span, continues: start > 0,
        entries: feed.indices.dropFirst(start).filter { latest[feed[$0].name] == $0 }
          .map { FeedReading.Entry(name: feed[$0].name, sight: feed[$0].sight) }))
  }

  private mutating func readLog(of user: String, _ span: Span) {
    let start = readerPlaces[user] ?? 0
    let log = logs[user] ?? []
    readerPlaces[user] = log.count
    history.logs.append(
      LogReading(
        user: user, reader: "reader", span: span, continues: start > 0,
        entries: Array(log.dropFirst(start))))
  }

  private mutating func readAll(from time: Int64) {
    let span = Span(began: time, ended: time + 10)
    for key in Set(history.writes.map(\.key)).sorted() {
      history.reads.append(RecordRead(user: "judge", key: key, span: span, sight: sight(of: key)))
    }
    for zone in feeds.keys.sorted(by: { $0.joined() < $1.joined() }) {
      readFeed("judge", zone[0], zone[1], span)
    }
    for user in Self.users {
      history.logs.append(
        LogReading(
          user: user, reader: "judge", span: span, continues: false, isLast: true,
          entries: logs[user] ?? []))
    }
  }
}
