import Foundation
import HistoryChecking
import Synchronization

/// The random work of a device: writes, lookups, and reads of its feeds and notifications.
final class Workload: @unchecked Sendable {
  let device: CloudDevice
  private let epoch: Int
  private let groups: Groups
  private var generator: SplitMix64
  private var count = 0
  /// The device's knowledge of records, by the latest that it did or saw.
  private var known: [RecordKey: Sight] = [:]
  private var feedTokens: [String: String] = [:]
  private var logToken: String?

  /// Numbers of atomic requests.
  final class Groups: Sendable {
    private let last = Mutex(0)
    func next() -> Int {
      last.withLock {
        $0 += 1
        return $0
      }
    }
  }

  static func zones(_ epoch: Int) -> [String] { ["North\(epoch)", "South\(epoch)"] }
  static func type(_ epoch: Int) -> String { "Note\(epoch)" }
  static func publicType(_ epoch: Int) -> String { "Item\(epoch)" }
  /// Subscriptions of an epoch begin so.
  static func prefix(_ epoch: Int) -> String { "e\(epoch)-" }
  private static let names = 12
  private var zones: [String] { Self.zones(epoch) }

  /// Whether some records get names of their own, so that there are ever more.
  private let grows: Bool

  /// - Parameter grows: whether there are ever more records, beside those that are changed again and again.
  init(_ device: CloudDevice, epoch: Int, groups: Groups, seed: UInt64, grows: Bool = true) {
    self.grows = grows
    self.device = device
    self.epoch = epoch
    self.groups = groups
    generator = SplitMix64(seed: seed)
  }

  /// All records that the device has written.
  private(set) var keys: Set<RecordKey> = []

  /// Works until `goesOn` returns false.
  func run(while goesOn: () -> Bool) {
    while goesOn() { step() }
    device.hangUp()
  }

  func step() {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<7: save()
    case 7..<10: saveTogether()
    case 10..<12: savePublicly()
    case 12: delete()
    case 13..<16: look()
    case 16..<18: readFeed()
    default: readLog()
    }
  }

  private func newMark() -> String {
    count += 1
    return Marks.make(device.name, count, level: Int.random(in: 0..<10, using: &generator))
  }

  private func anyKey() -> RecordKey {
    let zone = zones[Int.random(in: 0..<zones.count, using: &generator)]
    // Some are written once.
    let isRare = grows && Int.random(in: 0..<3, using: &generator) == 0
    let number = Int.random(in: 0..<Self.names, using: &generator)
    let name = isRare ? "\(device.name)-\(count)" : "shared\(number)"
    return RecordKey(database: device.user, zone: zone, name: "e\(epoch)-\(name)")
  }

  private func request(for key: RecordKey) -> WriteRequest {
    let condition: RecordWrite.Condition =
      switch (Int.random(in: 0..<6, using: &generator), known[key]) {
      case (0, _): .absent
      case (1, _): .none
      case (_, .record(let tag, _)?): .tag(tag)
      case (_, .absent?), (_, nil): .absent
      }
    return WriteRequest(
      key: key, type: key.database == "public" ? Self.publicType(epoch) : Self.type(epoch),
      effect: .save(mark: newMark()), condition: condition)
  }

  private func carryOut(_ requests: [WriteRequest]) {
    for request in requests { keys.insert(request.key) }
    let sights = device.write(requests, group: groups.next())
    for (request, sight) in zip(requests, sights) { known[request.key] = sight }
  }

  private func save() { carryOut([request(for: anyKey())]) }

  private func saveTogether() {
    let first = anyKey()
    var chosen: Set<RecordKey> = [first]
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      var key = anyKey()
      key.zone = first.zone
      chosen.insert(key)
    }
    guard chosen.count > 1 else { return save() }
    carryOut(chosen.sorted().map { request(for: $0) })
  }

  private func savePublicly() {
    // Of one's own, for others' may not be changed.
    let number = Int.random(in: 0..<6, using: &generator)
    let key = RecordKey(
      database: "public", zone: "_defaultZone", name: "e\(epoch)-\(device.name)-\(number)")
    carryOut([request(for: key)])
  }

  private func delete() {
    let present = known.filter { $0.value != .absent && $0.key.database != "public" }.keys.sorted()
    guard !present.isEmpty else { return save() }
    let key = present[Int.random(in: 0..<present.count, using: &generator)]
    guard case .record(let tag, let mark)? = known[key] else { return }
    carryOut([
      WriteRequest(
        key: key, type: Self.type(epoch), effect: .delete, condition: .tag(tag), former: mark)
    ])
  }

  private func look() {
    var key = anyKey()
    key.name = "e\(epoch)-shared\(Int.random(in: 0..<Self.names, using: &generator))"
    for (key, sight) in device.fetch([key]) { known[key] = sight }
  }

  /// Looks at records that anyone has written, all at once.
  func look(at keys: Set<RecordKey>) {
    for (_, keys) in Dictionary(grouping: keys.sorted(), by: { $0.database + "/" + $0.zone }) {
      var rest = keys[...]
      while !rest.isEmpty {
        for (key, sight) in device.fetch(Array(rest.prefix(200))) { known[key] = sight }
        rest = rest.dropFirst(200)
      }
    }
  }

  func readFeed() {
    let zone = zones[Int.random(in: 0..<zones.count, using: &generator)]
    readFeed(of: zone)
  }

  func readFeed(of zone: String) {
    let sizes = [3, 20, 200]
    guard
      let (token, entries) = device.readChanges(
        of: zone, reader: device.name, since: feedTokens[zone],
        pageSize: sizes[Int.random(in: 0..<sizes.count, using: &generator)])
    else { return }
    feedTokens[zone] = token
    for entry in entries {
      known[RecordKey(database: device.user, zone: zone, name: entry.name)] = entry.sight
    }
  }

  /// Reads the log from here on.
  func startLog(at token: String?) { logToken = token }

  /// Reads all that can be read from where the device was.
  func readEverything() {
    for zone in zones { readFeed(of: zone) }
    readLog()
  }

  func readLog() {
    guard
      let (token, _) = device.readLog(
        reader: device.name, since: logToken, ofSubscriptions: Self.prefix(epoch))
    else { return }
    logToken = token
  }
}
