import CloudKitModel
import Foundation
import PropertyTesting
import Testing

@testable import Matching

struct SubscriptionIndexMemoryTests {
  private func key(_ number: Int) -> SubscriptionKey {
    SubscriptionKey(subscriber: "_user\(number / 3)", subscriptionID: "s\(number)")
  }

  /// One of each kind in turn, none like another.
  private func subscription(_ number: Int) -> Subscription {
    let text = RecordValue.string("text\(number)")
    let bounds = [0.0, 0.5].map { RecordValue.double(Double(number) + $0) }
    let filters: [[Filter]] = [
      [Filter(.field("a"), .equals, text)],
      [Filter(.field("b"), .greaterThan, bounds[0]), Filter(.field("b"), .lessThan, bounds[1])],
      [Filter(.field("b"), .lessThan, bounds[0]), Filter(.field("a"), .notEquals, text)],
      [Filter(.field("a"), .greaterThan, text)],
      [Filter(.field("c"), .listContains, text), Filter(.field("a"), .beginsWith, text)],
    ]
    var info = NotificationInfo()
    info.alertBody = "\(number)"
    let kind: Subscription.Kind =
      switch number % 6 {
      case 5: .recordZone(ZoneID(zoneName: "zone\(number)"), recordType: nil)
      case let turn:
        .query(Query(recordType: "Note", filters: filters[turn]), zoneID: nil, options: .events)
      }
    return Subscription(subscriptionID: "s\(number)", kind: kind, notificationInfo: info)
  }

  @Test("When nine in ten are removed an index takes little more than one of the rest alone")
  func bytes() {
    var generator = SeededGenerator(seed: 1)
    var index = SubscriptionIndex()
    for number in 0..<6_000 { index.insert(subscription(number), for: key(number), version: 1) }
    let whole = index.bytes
    let numbers = (0..<6_000).shuffled(using: &generator)
    for number in numbers[600...] { index.remove(key(number)) }
    #expect(index.count == 600)
    #expect(index.checkInvariants() == [])

    var rest = SubscriptionIndex()
    for number in numbers[..<600] {
      rest.insert(subscription(number), for: key(number), version: 1)
    }
    #expect(index.bytes * 4 < whole, "\(index.bytes) of \(whole) bytes")
    #expect(index.bytes < 2 * rest.bytes, "\(index.bytes) bytes, the rest alone \(rest.bytes)")
    for number in numbers[..<20] + numbers[5_980...] {
      let fields: RecordFields<RecordValue> = [
        "a": .string("text\(number)"), "b": .double(Double(number) + 0.25),
        "c": .list(of: .string, [.string("text\(number)")]),
      ]
      let zoneID = number % 6 == 5 ? ZoneID(zoneName: "zone\(number)") : .default
      let change = Change(
        event: .recordCreated, zoneID: zoneID,
        record: Record(
          recordID: RecordID(recordName: "n", zoneID: zoneID), recordType: "Note", fields: fields),
        notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
      #expect(
        index.matches(change, savedBy: 1).map(\.key) == rest.matches(change, savedBy: 1).map(\.key))
    }
  }

  @Test("Owners who leave one predicate to one of them leave their memory")
  func owners() {
    var index = SubscriptionIndex()
    for number in 0..<6_000 { index.insert(subscription(0), for: key(number), version: 1) }
    let whole = index.bytes
    for number in 1..<6_000 { index.remove(key(number)) }
    #expect(index.bytes * 20 < whole, "\(index.bytes) of \(whole) bytes")
    #expect(index.checkInvariants() == [])
  }

  @Test(
    "While most is removed, and some comes again, it finds what evaluating each one finds",
    arguments: Seeds.some(40))
  func shrinking(seed: Int) {
    var world = RandomWorld(seed: seed)
    var operations: [IndexOperation] = []
    func insert(_ number: Int) {
      let subscription = world.subscription(id: "s\(number)")
      operations.append(.insert(key(number), subscription, version: Int64(number)))
    }
    for number in 0..<400 {
      insert(number)
      if number % 20 == 0 { operations.append(.learn(world.change())) }
    }
    for (place, number) in (0..<400).shuffled(using: &world.generator).dropFirst(15).enumerated() {
      operations.append(.remove(key(number)))
      if place % 10 == 0 { operations.append(.match(world.change(), savedBy: 400)) }
      if place % 50 == 0 { operations.append(.learn(world.change())) }
    }
    for number in 400..<440 {
      insert(number)
      operations.append(.match(world.change(), savedBy: 500))
    }
    if let failure = IndexOperation.failure(operations) {
      let small = IndexOperation.shrink(operations) { IndexOperation.failure($0) != nil }
      Issue.record("seed \(seed), \(failure):\n\(small.map { "  \($0)" }.joined(separator: "\n"))")
    }
  }
}
