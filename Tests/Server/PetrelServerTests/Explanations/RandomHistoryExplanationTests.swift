import CloudKitModel
import Explanation
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting
import WebPushSimulation

@testable import PetrelServer

/// Explanations of random histories of records, subscriptions and devices, against what the server did and against a plain
/// model of what it should do.
@Suite(.serialized)
struct RandomHistoryExplanationTests {
  @Test("no reason of silence differs from what the server did", arguments: Seeds.some(3))
  func histories(seed: Int) async throws {
    try await withPushService { service, push in
      var history = RandomHistory(seed: seed)
      // Of a database without subscriptions no changes are kept.
      try await service.watch(id: "other", type: "Other")
      for _ in 0..<60 { try await history.step(at: service, push) }
      #expect(history.changes.count > 10, "seed \(seed)")
      try await history.checkSubscriptions(at: service)
      try await history.checkDevices(at: service)
    }
  }
}

private struct RandomHistory {
  enum Person: CaseIterable {
    case alice, bob
  }

  struct Device: Hashable {
    var person: Person
    var kind: DeviceToken.Kind
    var deviceID: String
  }

  struct Wish: Hashable {
    var recordType: String
    var events: [ChangeEvent]
    /// The least price; nil for any.
    var price: Int64?
  }

  struct PastChange {
    var step: Int
    var name: String
    var event: ChangeEvent
    var recordType: String
    var price: Int64
    var person: Person
    var deviceID: String
  }

  let seed: Int
  private var random: SeededGenerator
  private var now = 0
  private(set) var changes: [PastChange] = []
  /// The contents of each subscription, each with the step from which on it applied; `nil` from its
  /// deletion on.
  private var wishes: [Person: [String: [(step: Int, wish: Wish?)]]] = [:]
  private var devices: [Device: Int] = [:]
  private var records: [String: (recordType: String, price: Int64, creator: Person)] = [:]

  init(seed: Int) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  static func user(_ person: Person, of service: Service) -> TestUser {
    switch person {
    case .alice: service.alice
    case .bob: service.bob
    }
  }

  // MARK: Making it

  /// Does something, and lets the server finish it, so that steps are one after the other for it too.
  mutating func step(at service: Service, _ push: SimulatedPushService) async throws {
    now += 1
    service.clock.advance(bySeconds: 10)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try await register(at: service, push)
    case 1, 2: try await subscribe(at: service)
    case 3: try await unsubscribe(at: service)
    default: try await change(at: service)
    }
  }

  private mutating func register(at service: Service, _ push: SimulatedPushService) async throws {
    let device = Device(
      person: random.pick(Person.allCases), kind: random.pick([.courier, .webPush]),
      deviceID: random.pick(["a", "b", "c"]))
    guard devices[device] == nil else { return }
    let user = Self.user(device.person, of: service)
    if device.kind == .courier {
      _ = try await service.makeReader(as: user, device: device.deviceID)
    } else {
      try await service.register(push.subscribe(), as: user, device: device.deviceID)
    }
    devices[device] = now
  }

  private mutating func subscribe(at service: Service) async throws {
    let events: [ChangeEvent] = [.recordCreated, .recordUpdated, .recordDeleted]
    let wish = Wish(
      recordType: random.pick(["Note", "Task"]),
      events: events.filter { _ in random.chance(2, in: 3) },
      price: random.chance(1, in: 3) ? nil : Int64.random(in: 0..<10, using: &random))
    guard !wish.events.isEmpty else { return }
    let (person, id) = (random.pick(Person.allCases), random.pick(["x", "y", "z"]))
    let words: [ChangeEvent: String] = [
      .recordCreated: "create", .recordUpdated: "update", .recordDeleted: "delete",
    ]
    let filter = wish.price.map {
      """
      {"fieldName": "price", "comparator": "GREATER_THAN_OR_EQUALS",
       "fieldValue": {"value": \($0), "type": "INT64"}}
      """
    }
    let answer = try await service.subscribe(
      """
      {"subscriptionID": "\(id)", "subscriptionType": "query", "zoneWide": true,
       "firesOn": [\(wish.events.compactMap { words[$0] }.map { "\"\($0)\"" }.joined(separator: ", "))],
       "query": {"recordType": "\(wish.recordType)", "filterBy": [\(filter ?? "")]},
       "notificationInfo": {"alertBody": "x"}}
      """, as: Self.user(person, of: service))
    try #require(answer["serverErrorCode"] == nil, "seed \(seed): \(answer)")
    wishes[person, default: [:]][id, default: []].append((now, wish))
  }

  private mutating func unsubscribe(at service: Service) async throws {
    let (person, id) = (random.pick(Person.allCases), random.pick(["x", "y", "z"]))
    guard wishes[person]?[id]?.last?.wish != nil else { return }
    let answer = try await service.post(
      "public/subscriptions/modify",
      #"{"operations": [{"operationType": "delete", "subscription": {"subscriptionID": "\#(id)"}}]}"#,
      as: Self.user(person, of: service))
    try #require(answer.status == 200, "seed \(seed): \(answer.json)")
    wishes[person]?[id]?.append((now, nil))
  }

  private mutating func change(at service: Service) async throws {
    let name = random.pick(["p", "q", "r"])
    let old = records[name]
    var made = PastChange(
      step: now, name: name, event: old == nil ? .recordCreated : .recordUpdated,
      recordType: old?.recordType ?? random.pick(["Note", "Task"]),
      price: Int64.random(in: 0..<10, using: &random),
      // Others may not write it.
      person: old?.creator ?? random.pick(Person.allCases),
      deviceID: random.pick(["a", "b", "c", "d"]))
    var kind = "forceUpdate"
    if let old, random.chance(1, in: 4) {
      (kind, made.event, made.price) = ("forceDelete", .recordDeleted, old.price)
    }
    let answer = try await service.modify(
      Service.operation(
        kind, name, #""price": {"value": \#(made.price), "type": "INT64"}"#, type: made.recordType),
      as: Self.user(made.person, of: service), device: made.deviceID)
    let isDeletion = made.event == .recordDeleted
    try #require(
      answer.outcomes == [isDeletion ? "deleted" : "ok"], "seed \(seed): \(answer.json)")
    records[name] = isDeletion ? nil : (made.recordType, made.price, made.person)
    changes.append(made)
    try await eventually("the change is dispatched") {
      try await explanations(of: name, at: service).first?.dispatched != nil
    }
  }

  /// The explanations of a record's changes, newest first.
  private func explanations(
    of name: String, about question: Explainer.Question = .init(), at service: Service
  ) async throws -> [ChangeExplanation] {
    var limits = Explainer.Limits()
    limits.changes = 100
    return try await Explainer(store: service.store, limits: limits).explain(
      RecordID(recordName: name), in: service.publicDatabase(), about: question
    ).changes
  }

  // MARK: Looking at it

  /// Each subscription fired on a change or has the reasons that the model has.
  func checkSubscriptions(at service: Service) async throws {
    for (person, ids) in wishes {
      for (id, states) in ids {
        let subscriber = Self.user(person, of: service).recordName
        for name in Set(changes.map(\.name)) {
          let explained = try await explanations(
            of: name, about: .init(subscriber: subscriber, subscriptionID: id), at: service)
          let made = changes.filter { $0.name == name }
          try #require(explained.count == made.count, "seed \(seed)")
          for (explanation, change) in zip(explained.reversed(), made) {
            let expected = Self.reasons(against: states, for: change)
            let place: Comment = "seed \(seed): \(person) \(id) \(states), \(change)"
            #expect(explanation.notifications.count == (expected == nil ? 1 : 0), place)
            #expect(explanation.silent.first?.reasons.map(\.code) == expected, place)
          }
        }
      }
    }
  }

  /// Nil where the subscription fires.
  private static func reasons(
    against states: [(step: Int, wish: Wish?)], for change: PastChange
  ) -> [SilenceReason.Code]? {
    let then = states.last { $0.step < change.step }?.wish
    if let then, Self.reasons(against: then, for: change).isEmpty { return nil }
    // The explainer knows the present state of a subscription alone.
    guard let now = states.last?.wish else { return [.deletedSubscription] }
    let lastDeletion = states.lastIndex { $0.wish == nil } ?? -1
    guard states[lastDeletion + 1].step < change.step else { return [.notYetSaved] }
    let isChanged = states.last.map { $0.step > change.step } == true
    return Self.reasons(against: now, for: change) + (isChanged ? [.changedSince] : [])
  }

  private static func reasons(against wish: Wish, for change: PastChange) -> [SilenceReason.Code] {
    var codes: [SilenceReason.Code] = []
    if wish.recordType != change.recordType { codes.append(.recordType) }
    if !wish.events.contains(change.event) { codes.append(.event) }
    if codes.first != .recordType, let price = wish.price, change.price < price {
      codes.append(.filter)
    }
    return codes
  }

  /// Each device was owed a push of a notification or has the reason that the model has, and each reader gets what waits for
  /// it by the explanations.
  func checkDevices(at service: Service) async throws {
    // What waits for each reader by the explanations.
    var expected: [Device: Set<Int64>] = [:]
    for name in Set(changes.map(\.name)) {
      let made = changes.filter { $0.name == name }
      for (explanation, change) in zip(
        try await explanations(of: name, at: service).reversed(), made)
      {
        for notification in explanation.notifications {
          let subscriber = notification.entry.notification.subscriber
          let person: Person = subscriber == service.alice.recordName ? .alice : .bob
          let known = try await known(of: person, at: service)
          for (token, device) in known {
            let reasons = notification.silentDevices.filter { $0.device == token }.map(\.code)
            let isOwed = notification.deliveries.contains { $0.delivery.token == token }
            let modelled = reason(against: device, for: change)
            let place: Comment = "seed \(seed): \(device), \(change)"
            #expect(reasons == (modelled.map { [$0] } ?? []), place)
            #expect(isOwed == (modelled == nil), place)
            if modelled == .courier {
              expected[device, default: []].insert(notification.entry.sequence)
            }
          }
          let isPushed = !notification.deliveries.isEmpty
          #expect(
            notification.silentDevices.contains { $0.code == .noDevice }
              == (!isPushed && known.isEmpty), "seed \(seed): \(change)")
        }
      }
    }
    for person in Person.allCases {
      for (token, device) in try await known(of: person, at: service) where device.kind == .courier
      {
        var given: Set<Int64> = []
        while let next = try await service.store.courier.courierEntries(
          forToken: token, after: CourierPosition(), limit: 1
        ).first {
          given.insert(next.entry.sequence)
          try await service.store.courier.acknowledgeCourierEntries([next.entry], forToken: token)
        }
        #expect(given == expected[device] ?? [], "seed \(seed): \(device)")
      }
    }
  }

  private func known(of person: Person, at service: Service) async throws -> [String: Device] {
    let tokens = try await service.store.devices.deviceTokens(
      of: Self.user(person, of: service).recordName)
    let known = tokens.map {
      ($0.token, Device(person: person, kind: $0.kind, deviceID: $0.deviceID ?? ""))
    }
    try #require(known.allSatisfy { devices[$0.1] != nil }, "seed \(seed): \(known)")
    return Dictionary(uniqueKeysWithValues: known)
  }

  /// Nil where the device is owed a push.
  private func reason(against device: Device, for change: PastChange) -> SilenceReason.Code? {
    if let step = devices[device], step > change.step { return .registeredLater }
    if device.deviceID == change.deviceID, device.person == change.person { return .originDevice }
    return device.kind == .courier ? .courier : nil
  }
}
