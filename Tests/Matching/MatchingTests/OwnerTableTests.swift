import CloudKitModel
import PropertyTesting
import Testing

@testable import Matching

struct OwnerTableTests {
  private func key(_ generator: inout SeededGenerator) -> SubscriptionKey {
    SubscriptionKey(
      subscriber: generator.pick(["", "_ann", "_bob", "caf\u{E9}", "cafe\u{301}"]),
      subscriptionID: generator.pick((0..<60).map { "subscription\($0)" } + ["", "日本"]))
  }

  @Test(
    "an owner is found under its key while it is there, and keys have their order",
    arguments: Seeds.some(10))
  func owners(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var table = OwnerTable(seed: UInt64(seed))
    var model: [SubscriptionKey: (slot: Int32, version: Int64)] = [:]
    for version in 0..<3_000 as Range<Int64> {
      let key = key(&generator)
      if let known = model[key] {
        #expect(table.find(key) == known.slot && table[known.slot].version == known.version)
        let moved = table.remove(known.slot)
        model[key] = nil
        #expect(moved?.version == (known.slot < table.count ? table[known.slot].version : nil))
        if moved != nil { model[table.key(of: known.slot)]?.slot = known.slot }
      } else {
        #expect(table.find(key) == nil)
        let slot = table.insert(key, content: 1, info: 0, version: version)
        model[key] = (slot, version)
      }
      #expect(table.count == model.count)
    }
    for (key, known) in model { #expect(table.key(of: known.slot) == key) }
    let sorted = table.indices.sorted { table.precedes($0, $1) }.map { table.key(of: $0) }
    #expect(sorted == model.keys.sorted())
    while table.count > 0 { _ = table.remove(Int32(table.count) / 2) }
    #expect(table.indices.isEmpty)
  }

  @Test("owners that share memory stay in their lists", arguments: Seeds.some(10))
  func lists(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var runs = Runs<Int32>(filler: -1)
    var lists = [OwnerList](repeating: .empty, count: 8)
    var model = [[Int32]](repeating: [], count: 8)
    func owners(_ list: OwnerList) -> [Int32] { list.slots(in: runs) }
    for step in 0..<4_000 as Range<Int32> {
      let number = Int.random(in: 0..<8, using: &generator)
      if model[number].isEmpty || generator.chance(step < 2_000 ? 3 : 1, in: 4) {
        #expect(Int(lists[number].append(step, in: &runs)) == model[number].count)
        model[number].append(step)
      } else {
        let place = Int.random(in: 0..<model[number].count, using: &generator)
        let moved = lists[number].remove(at: UInt32(place), in: &runs)
        let last = model[number].removeLast()
        if place < model[number].count { model[number][place] = last }
        #expect(moved == (place < model[number].count ? last : nil))
      }
      #expect(owners(lists[number]) == model[number])
      if step % 500 == 0 {
        var others = runs.emptied()
        for number in lists.indices { lists[number].move(from: runs, to: &others) }
        runs = others
      }
    }
    #expect(lists.map { owners($0) } == model)
    #expect(lists.map(\.count) == model.map(\.count))
  }

  @Test("bytes have one number while somebody uses them", arguments: Seeds.some(10))
  func interning(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var table = InternedBytes(seed: UInt64(seed))
    var model: [[UInt8]: (number: UInt32, users: Int)] = [:]
    let texts = (0..<200).map { [UInt8](repeating: UInt8($0 % 5), count: $0 % 70) + [UInt8($0)] }
    for step in 0..<4_000 {
      let text = generator.pick(texts)
      if generator.chance(1, in: 2 + step / 2_000) {
        let (number, isNew) = text.withUnsafeBytes { table.use($0) }
        #expect(isNew == (model[text] == nil) && (model[text]?.number ?? number) == number)
        model[text] = (number, (model[text]?.users ?? 0) + 1)
      } else if let known = model[text] {
        #expect(table.release(known.number) == (known.users == 1))
        model[text] = known.users == 1 ? nil : (known.number, known.users - 1)
      }
      if generator.chance(1, in: 50) {
        let renumbering = table.renumber()
        #expect(table.freeCount == 0)
        model = model.mapValues { (renumbering[$0.number], $0.users) }
        #expect(Set(model.values.map(\.number)) == Set(0..<UInt32(model.count)))
      }
      let other = generator.pick(texts)
      #expect(other.withUnsafeBytes { table.find($0) } == model[other]?.number)
    }
    #expect(table.count == model.count)
    for (text, known) in model {
      #expect(table.withBytes(of: known.number) { Array($0) } == text)
    }
  }

  @Test("what a subscription asks for is made again from its bytes", arguments: Seeds.some(100))
  func contents(seed: Int) {
    var world = RandomWorld(seed: seed)
    var seen: [[UInt8]: String] = [:]
    for number in 0..<60 {
      let subscription = world.subscription(id: "s\(number)")
      let bytes = ContentEncoder.bytes(of: subscription.kind)
      let again = bytes.withUnsafeBytes { ContentDecoder.kind($0) }
      #expect("\(again)" == "\(subscription.kind)")
      #expect(seen.updateValue("\(again)", forKey: bytes) ?? "\(again)" == "\(again)")
      if let info = subscription.notificationInfo {
        let bytes = ContentEncoder.bytes(of: info)
        #expect(bytes.withUnsafeBytes { ContentDecoder.notificationInfo($0) } == info)
      }
    }
  }

  @Test("numbers of every size and every part of a value are made again")
  func values() {
    let zone = ZoneID(zoneName: "work", ownerName: "_other")
    let place = Location(
      latitude: 1, longitude: -2, horizontalAccuracy: 3, verticalAccuracy: 4, altitude: 5,
      speed: 6, course: 7, timestamp: Timestamp(milliseconds: -8))
    var info = NotificationInfo()
    for path in ContentSymbols.texts { info[keyPath: path] = "\(path.hashValue)" }
    for path in ContentSymbols.lists { info[keyPath: path] = ["a", "", "caf\u{E9}"] }
    for path in ContentSymbols.flags { info[keyPath: path] = true }
    let values: [RecordValue] =
      [.min, -129, -128, -65, -64, -1, 0, 1, 63, 64, 127, 128, .max].map { .int64($0) } + [
        .location(place), .reference(Reference(recordName: "r", zoneID: zone, action: .validate)),
        .asset(
          Asset(
            fileChecksum: "c", size: .max, referenceChecksum: "r", wrappingKey: "w", receipt: "e",
            downloadURL: "u")),
        .bytes(.init([0, 1, 255])), .list(of: .asset, []),
        .list(of: .double, [.double(-0.0), .double(.infinity)]),
      ]
    let kind = Subscription.Kind.query(
      Query(
        recordType: "Note", filters: values.map { Filter(.field("f"), .equals, $0) },
        sortKeys: [SortKey(.system(.share), ascending: false, relativeLocation: place)]),
      zoneID: zone, options: [.firesOnRecordUpdate, .firesOnce])
    #expect(ContentEncoder.bytes(of: kind).withUnsafeBytes { ContentDecoder.kind($0) } == kind)
    let bytes = ContentEncoder.bytes(of: info)
    #expect(bytes.withUnsafeBytes { ContentDecoder.notificationInfo($0) } == info)
  }
}
