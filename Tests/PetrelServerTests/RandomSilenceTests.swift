import CloudKitModel
import Explanation
import Foundation
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// Subscriptions of all kinds over random histories of changes in zones, with grants and with subscriptions that fire once:
/// each fired or has the reasons that a plain model has.
@Suite(.serialized)
struct RandomSilenceTests {
  @Test("in zones no reason of silence differs from what the server did", arguments: Seeds.some(3))
  func zones(seed: Int) async throws {
    try await check(SilenceHistory(seed: seed, scope: .private), steps: 70)
  }

  @Test(
    "under grants no reason of silence differs from what the server did", arguments: Seeds.some(3))
  func grants(seed: Int) async throws {
    try await check(SilenceHistory(seed: seed, scope: .public), steps: 70)
  }

  private func check(_ history: SilenceHistory, steps: Int) async throws {
    var history = history
    try await withService { service in
      try await history.begin(at: service)
      for _ in 0..<steps { try await history.step(at: service) }
      try await history.check(at: service)
    }
  }
}

private struct SilenceHistory {
  enum Person: CaseIterable {
    case alice, bob
  }

  enum Wish: Hashable {
    /// With the zone, or all zones.
    case query(type: String, zone: String?, events: Set<ChangeEvent>, isOnce: Bool)
    case zone(String, type: String?)
    case database(type: String?)

    var isOnce: Bool { if case .query(_, _, _, true) = self { true } else { false } }
  }

  struct PastChange {
    var step: Int
    var record: RecordID
    var type: String
    var event: ChangeEvent
    var creator: Person
  }

  static let defaultZone = ZoneID.defaultZoneName
  private static let types = ["Note", "Task"]
  private static let words: [ChangeEvent: String] = [
    .recordCreated: "create", .recordUpdated: "update", .recordDeleted: "delete",
  ]

  let seed: Int
  let scope: DatabaseScope
  private var random: SeededGenerator
  private var now = 0
  private var records: [RecordID: (type: String, creator: Person)] = [:]
  private var changes: [PastChange] = []
  /// What each subscription said from which step on; nil from where it was deleted, or had fired once.
  private var wishes: [Person: [String: [(step: Int, wish: Wish?)]]] = [:]

  init(seed: Int, scope: DatabaseScope) {
    self.seed = seed
    self.scope = scope
    random = SeededGenerator(seed: seed)
  }

  private var zones: [String] {
    scope == .private ? [Self.defaultZone, "Home", "Work"] : [Self.defaultZone]
  }
  /// The private database has one.
  private var people: [Person] { scope == .private ? [.alice] : Person.allCases }

  private func user(_ person: Person, of service: Service) -> TestUser {
    switch person {
    case .alice: service.alice
    case .bob: service.bob
    }
  }

  private func database(of service: Service) async throws -> DatabaseID {
    scope == .private
      ? try await service.privateDatabase() : try await service.publicDatabase()
  }

  // MARK: Making it

  func begin(at service: Service) async throws {
    for zone in zones where zone != Self.defaultZone { try await service.makeZone(zone) }
    // A note of the public database is for its creator alone.
    if scope == .public {
      try await service.grant(RecordGrants(["_creator": .write, "_icloud": .create]))
    }
    // Of a database without subscriptions no changes are kept.
    try await save(
      .query(type: "Other", zone: nil, events: [.recordCreated], isOnce: false), "other",
      of: .alice, at: service)
  }

  mutating func step(at service: Service) async throws {
    now += 1
    service.clock.advance(bySeconds: 10)
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2: try await subscribe(at: service)
    case 3: try await unsubscribe(at: service)
    default: try await change(at: service)
    }
  }

  private mutating func subscribe(at service: Service) async throws {
    let (person, id) = (random.pick(people), random.pick(["x", "y", "z"]))
    let wish = wish()
    try await save(wish, id, of: person, at: service)
    wishes[person, default: [:]][id, default: []].append((now, wish))
  }

  private mutating func wish() -> Wish {
    let type: String? = random.chance(1, in: 2) ? nil : random.pick(Self.types)
    // The public database has query subscriptions only.
    switch scope == .public ? 0 : Int.random(in: 0..<4, using: &random) {
    case 2: return .zone(random.pick(zones.filter { $0 != Self.defaultZone }), type: type)
    case 3: return .database(type: type)
    default:
      let events = Self.words.keys.sorted { $0.rawValue < $1.rawValue }
        .filter { _ in random.chance(2, in: 3) }
      return .query(
        type: random.pick(Self.types), zone: random.chance(1, in: 2) ? nil : random.pick(zones),
        events: events.isEmpty ? [.recordUpdated] : Set(events), isOnce: random.chance(1, in: 3))
    }
  }

  private func save(
    _ wish: Wish, _ id: String, of person: Person, at service: Service
  ) async throws {
    func zone(_ name: String?) -> String {
      name.map { #""zoneID": {"zoneName": "\#($0)"}"# } ?? #""zoneWide": true"#
    }
    let members =
      switch wish {
      case .query(let type, let name, let events, let isOnce):
        """
        "subscriptionType": "query", "query": {"recordType": "\(type)"}, \(zone(name)),
        "firesOn": [\(events.compactMap { Self.words[$0] }.map { "\"\($0)\"" }.joined(separator: ", "))],
        "firesOnce": \(isOnce)
        """
      case .zone(let name, let type):
        #""subscriptionType": "zone", \#(zone(name))\#(type.map { #", "recordType": "\#($0)""# } ?? "")"#
      case .database(let type):
        #""subscriptionType": "database"\#(type.map { #", "recordType": "\#($0)""# } ?? "")"#
      }
    let answer = try await service.subscribe(
      #"{"subscriptionID": "\#(id)", \#(members)}"#, in: "\(scope)", as: user(person, of: service))
    try #require(answer["serverErrorCode"] == nil, "seed \(seed): \(answer)")
  }

  private mutating func unsubscribe(at service: Service) async throws {
    let (person, id) = (random.pick(people), random.pick(["x", "y", "z"]))
    guard wishes[person]?[id]?.last?.wish != nil else { return }
    let answer = try await service.post(
      "\(scope)/subscriptions/modify",
      #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "\#(id)"}}]}"#,
      as: user(person, of: service))
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
    wishes[person]?[id]?.append((now, nil))
  }

  private mutating func change(at service: Service) async throws {
    let zone = random.pick(zones)
    let record = RecordID(recordName: random.pick(["p", "q"]), zoneID: ZoneID(zoneName: zone))
    let old = records[record]
    var made = PastChange(
      step: now, record: record, type: old?.type ?? random.pick(Self.types),
      event: old == nil ? .recordCreated : .recordUpdated,
      creator: old?.creator ?? random.pick(people))
    var kind = "forceUpdate"
    if old != nil, random.chance(1, in: 3) { (kind, made.event) = ("forceDelete", .recordDeleted) }
    let answer = try await service.modify(
      Service.operation(
        kind, record.recordName, #""n": {"value": \#(now)}"#,
        zone: zone == Self.defaultZone ? nil : zone, type: made.type),
      in: "\(scope)", as: user(made.creator, of: service))
    let isDeletion = made.event == .recordDeleted
    try #require(answer.outcomes == [isDeletion ? "deleted" : "ok"], "seed \(seed): \(answer.json)")
    records[record] = isDeletion ? nil : (made.type, made.creator)
    changes.append(made)
    try await eventually("the change is dispatched") {
      try await explanations(of: record, at: service).first?.dispatched != nil
    }
    for (person, ids) in wishes {
      for (id, states) in ids {
        guard let wish = states.last?.wish, wish.isOnce,
          reasons(against: wish, of: person, for: made).isEmpty
        else { continue }
        wishes[person]?[id]?.append((now, nil))
      }
    }
  }

  // MARK: Looking at it

  /// The explanations of a record's changes, newest first.
  private func explanations(
    of record: RecordID, about question: Explainer.Question = .init(), at service: Service
  ) async throws -> [ChangeExplanation] {
    var limits = Explainer.Limits()
    limits.changes = 100
    return try await Explainer(store: service.store, limits: limits).explain(
      record, in: try await database(of: service), about: question
    ).changes
  }

  func check(at service: Service) async throws {
    var counts = (fired: 0, silent: 0)
    for (person, ids) in wishes {
      for (id, states) in ids {
        let subscriber = user(person, of: service).recordName
        for record in Set(changes.map(\.record)) {
          let explained = try await explanations(
            of: record, about: .init(subscriber: subscriber, subscriptionID: id), at: service)
          let made = changes.filter { $0.record == record }
          try #require(explained.count == made.count, "seed \(seed)")
          for (explanation, change) in zip(explained.reversed(), made) {
            let expected = codes(against: states, of: person, for: change)
            let place: Comment = "seed \(seed): \(person) \(id) \(states), \(change)"
            #expect(explanation.notifications.count == (expected == nil ? 1 : 0), place)
            #expect(explanation.silent.first?.reasons.map(\.code) == expected, place)
            if expected == nil { counts.fired += 1 } else { counts.silent += 1 }
          }
        }
      }
    }
    #expect(counts.fired > 0 && counts.silent > 0, "seed \(seed): \(counts)")
  }

  /// Nil where the subscription fires.
  private func codes(
    against states: [(step: Int, wish: Wish?)], of person: Person, for change: PastChange
  ) -> [SilenceReason.Code]? {
    let then = states.last { $0.step < change.step }?.wish
    if let then, reasons(against: then, of: person, for: change).isEmpty { return nil }
    // The explainer knows the present state of a subscription alone.
    guard let now = states.last?.wish else { return [.deletedSubscription] }
    let lastDeletion = states.lastIndex { $0.wish == nil } ?? -1
    guard states[lastDeletion + 1].step < change.step else { return [.notYetSaved] }
    let isChanged = states.last.map { $0.step > change.step } == true
    return reasons(against: now, of: person, for: change) + (isChanged ? [.changedSince] : [])
  }

  private func reasons(
    against wish: Wish, of person: Person, for change: PastChange
  ) -> [SilenceReason.Code] {
    let zone = change.record.zoneID.zoneName
    var codes: [SilenceReason.Code] = []
    switch wish {
    case .query(let type, let wanted, let events, _):
      if type != change.type { codes.append(.recordType) }
      if !events.contains(change.event) { codes.append(.event) }
      if let wanted, wanted != zone { codes.append(.zone) }
    case .zone(let wanted, let type):
      if zone == Self.defaultZone {
        codes.append(.defaultZone)
      } else if wanted != zone {
        codes.append(.zone)
      }
      if let type, type != change.type { codes.append(.recordType) }
    case .database(let type):
      if zone == Self.defaultZone { codes.append(.defaultZone) }
      if let type, type != change.type { codes.append(.recordType) }
    }
    let mayRead = scope == .private || change.type != "Note" || change.creator == person
    return codes + (mayRead ? [] : [.permission])
  }
}
